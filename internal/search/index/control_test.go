package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/search/degrade"
	"github.com/courant-platform/courant/internal/search/shard"
)

// busy is an index over kettles with room for one query at a time.
func busy(t *testing.T, log *bytes.Buffer) *Index {
	t.Helper()
	x := &Index{Config: Config{Model: "none", Floor: 0.05}, Metrics: obs.New(), Log: slog.New(slog.NewTextHandler(log, nil))}
	if err := x.Open(); err != nil {
		t.Fatal(err)
	}
	x.load.gate.Slots, x.load.gate.Most = 1, 2
	var docs []shard.Doc
	for i := range 1000 {
		docs = append(docs, shard.Doc{ID: int64(i + 1), URL: fmt.Sprint("http://a.example/", i), Title: "Kettle", Words: "kettle", Pictures: i})
	}
	x.Put(docs, nil, 1)
	x.Sort()
	return x
}

func kettles(share float64) shard.Query {
	return shard.Query{Words: []shard.Word{{Text: "kettle"}}, Exact: true, Top: 48, Share: share, Person: shard.Nobody()}
}

// metric is the value of a metric, "" if there is none.
func (x *Index) metric(name string) string {
	answer := httptest.NewRecorder()
	x.Metrics.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(answer.Body.String()) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func TestAQueryIsRefusedWhereItCannotBeAnsweredInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		x := busy(t, &log)
		running := x.load.gate.Enter(t.Context(), degrade.Ask{}) // takes the only place
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := x.Ask(ctx, &Ask{Query: kettles(1)})
		if !errors.Is(err, courant.Busy) || !strings.Contains(err.Error(), "deadline") {
			t.Errorf("got %v", err)
		}
		if n := x.metric(`courant_index_refused_total{reason="deadline"}`); n != "1" {
			t.Errorf("%q are counted", n)
		}
		running.Done(degrade.Work{})
		if p, err := x.Ask(t.Context(), &Ask{Query: kettles(1)}); err != nil || p.Total != 1000 {
			t.Errorf("with room: %d found, %v", p.Total, err)
		}
	})
}

func TestWhereTooManyWaitProgramsAreSentBackFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		x := busy(t, &log)
		running := x.load.gate.Enter(t.Context(), degrade.Ask{})
		answers := map[string]chan error{}
		for _, who := range []string{"program", "person", "another person"} {
			ended := make(chan error, 1)
			answers[who] = ended
			go func() {
				_, err := x.Ask(t.Context(), &Ask{Query: kettles(1), Program: who == "program"})
				ended <- err
			}()
			synctest.Wait()
		}
		if err := <-answers["program"]; !errors.Is(err, courant.Busy) || !strings.Contains(err.Error(), "queue") {
			t.Errorf("the program: %v", err)
		}
		running.Done(degrade.Work{})
		for _, who := range []string{"person", "another person"} {
			if err := <-answers[who]; err != nil {
				t.Errorf("%s: %v", who, err)
			}
		}
		if r := x.Status().Report; r.InFlight != 0 || r.Waiting != 0 {
			t.Errorf("places are left taken: %+v", r)
		}
	})
}

func TestAQueryThatWasCutIsAskedAgainWhenThereIsNothingElseToDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		x := busy(t, &log)
		q := kettles(0.2)
		cut := x.ask(&q, nil, false)
		if cut.Share != 0.2 || len(cut.Hits) != 48 {
			t.Fatalf("share %v, %d hits", cut.Share, len(cut.Hits))
		}
		cut.Hits = cut.Hits[1:] // so that one of the answer is another
		cut.CPU = auditOne      // each thousandth nanosecond is chosen
		ticket := degrade.Ticket{Reason: degrade.Load}
		x.done(&ticket, &q, nil, &cut)
		x.done(&ticket, &q, nil, &cut) // one waits already
		for what, c := range map[string]struct {
			share  float64
			reason degrade.Reason
			cpu    time.Duration
		}{"not cut": {1, degrade.None, auditOne}, "its own wish": {0.2, Asked, auditOne}, "not chosen": {0.2, degrade.Load, auditOne + 1}} {
			before := len(x.load.audit)
			x.done(&degrade.Ticket{Reason: c.reason}, &q, nil, &Part{Share: c.share, CPU: c.cpu})
			if len(x.load.audit) != before {
				t.Errorf("%s: it is asked again", what)
			}
		}
		running := x.load.gate.Enter(t.Context(), degrade.Ask{})
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { x.control(ctx); close(ended) }()
		time.Sleep(10 * degrade.Period)
		if n := x.metric("courant_index_audited_total"); n != "" {
			t.Errorf("it does not wait for others: %s", n)
		}
		running.Done(degrade.Work{})
		time.Sleep(10 * degrade.Period)
		end()
		<-ended
		if all, changed := x.metric("courant_index_audited_total"), x.metric("courant_index_audited_changed_total"); all != "1" || changed != "1" {
			t.Errorf("%s are audited, %s hits are others", all, changed)
		}
	})
}

func TestAnAuditEndsWithTheIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		x := busy(t, &log)
		running := x.load.gate.Enter(t.Context(), degrade.Ask{})
		defer running.Done(degrade.Work{})
		ctx, end := context.WithCancel(t.Context())
		x.load.audit <- audited{q: kettles(0.2)}
		ended := make(chan struct{})
		go func() { x.control(ctx); close(ended) }()
		time.Sleep(time.Second)
		end()
		<-ended
		if n := x.metric("courant_index_audited_total"); n != "" {
			t.Errorf("it was asked beside others: %s", n)
		}
	})
}

func TestTheShareIsToldWhenItChangesMuch(t *testing.T) {
	var log bytes.Buffer
	x := busy(t, &log)
	now := time.Now()
	x.load.gate.Tick(now, degrade.Machine{})
	for i, c := range []struct {
		share       float64
		less, again int // lines so far
	}{{1, 0, 0}, {0.95, 0, 0}, {0.7, 1, 0}, {0.65, 1, 0}, {0.7, 1, 0}, {0.4, 2, 0}, {0.8, 2, 0}, {0.8, 2, 0}, {1, 2, 1}, {1, 2, 1}, {0.5, 3, 1}, {1, 3, 2}} {
		now = now.Add(degrade.Period)
		x.load.gate.Policy = degrade.Fixed(c.share)
		x.load.gate.Tick(now, degrade.Machine{})
		x.tell()
		less, again := strings.Count(log.String(), "ranking a reduced share"), strings.Count(log.String(), "ranking everything")
		if less != c.less || again != c.again {
			t.Errorf("step %d, share %v: %d and %d lines, want %d and %d", i, c.share, less, again, c.less, c.again)
		}
		if got := x.metric("courant_index_share"); got != fmt.Sprint(c.share) {
			t.Errorf("step %d: the metric is %s", i, got)
		}
	}
}

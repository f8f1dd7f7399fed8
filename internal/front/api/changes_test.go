package api_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/front/api"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/bus/membus"
)

func numbers(c api.Changes) (out []int64) {
	for _, c := range c.Changes {
		out = append(out, c.Number)
	}
	return out
}

func (w *world) get(path string, status int, out any) {
	w.t.Helper()
	if r := w.as("", http.MethodGet, path, "", out); r.StatusCode != status {
		w.t.Errorf("%s: %s, want %d", path, r.Status, status)
	}
}

func TestChangesComeInTheOrderOfTheirNumbersAndCanBeResumed(t *testing.T) {
	w := open(t)
	for i := range 5 {
		w.page(int64(i+1), fmt.Sprint("http://a.example/", i), courant.Item{Title: fmt.Sprint(i), Withdrawn: i == 2})
	}
	var c api.Changes
	w.get("/api/v1/changes?limit=3", http.StatusOK, &c)
	if got := numbers(c); !slices.Equal(got, []int64{1, 2, 3}) || c.Next != 3 || !c.Changes[2].Withdrawn || c.Changes[0].URL != "http://a.example/0" || c.Changes[0].ID != 1 {
		t.Errorf("got %+v", c)
	}
	w.exec(`UPDATE pages SET change = 6 WHERE id = 1`)
	w.get("/api/v1/changes?after=3", http.StatusOK, &c)
	if got := numbers(c); !slices.Equal(got, []int64{4, 5, 6}) || c.Next != 6 {
		t.Errorf("got %+v", c)
	}
	w.get("/api/v1/changes?after=6", http.StatusOK, &c)
	if len(c.Changes) != 0 || c.Next != 6 {
		t.Errorf("at the end: %+v", c)
	}
}

func TestAClientTooFarBehindOrAheadMustStartAgain(t *testing.T) {
	w := open(t)
	w.page(7, address, courant.Item{Title: "x"})
	w.exec(`INSERT INTO counts (name, number) VALUES ('forgotten', 5)`)
	for after, status := range map[string]int{"0": 200, "4": 410, "5": 200, "7": 200, "8": 410, "-1": 400, "x": 400} {
		w.get("/api/v1/changes?after="+after, status, nil)
	}
	for _, query := range []string{"wait=-1", "wait=2m", "wait=soon", "limit=0"} {
		w.get("/api/v1/changes?"+query, http.StatusBadRequest, nil)
	}
}

// ring runs the handlers of the API on a bus and returns a function that notifies them.
func (w *world) ring(t *testing.T) func() {
	b := &bus.Bus{Driver: &membus.Driver{}}
	done := make(chan error, 1)
	go func() { done <- b.Run(t.Context(), w.api.Handlers()...) }()
	t.Cleanup(func() { <-done })
	return func() {
		topic, facts := flow.PageChanged.Encode(flow.Changes{})
		if err := b.Publish(t.Context(), topic, facts); err != nil {
			t.Error(err)
		}
	}
}

func TestALongPollEndsWithTheChangeOrTheProcess(t *testing.T) {
	w := open(t)
	ring := w.ring(t)
	got := make(chan api.Changes)
	ask := func(after string) {
		var c api.Changes
		w.get("/api/v1/changes?wait=50&after="+after, http.StatusOK, &c)
		got <- c
	}
	go ask("0")
	w.page(1, address, courant.Item{Title: "x"})
	ring()
	if c := <-got; len(c.Changes) != 1 || c.Next != 1 {
		t.Errorf("got %+v", c)
	}
	go ask("1")
	w.stop(t)
	if c := <-got; len(c.Changes) != 0 || c.Next != 1 {
		t.Errorf("at the end: %+v", c)
	}
}

// stop makes Run return.
func (w *world) stop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.api.Run(ctx); err != nil {
		t.Error(err)
	}
}

func TestServerSentEventsGoOnFromTheLastOneSeen(t *testing.T) {
	w := open(t)
	ring := w.ring(t)
	w.page(1, address, courant.Item{Title: "x"})
	w.page(2, "http://a.example/2", courant.Item{Title: "y\nz"})
	r, err := http.NewRequestWithContext(t.Context(), "GET", w.server.URL+"/api/v1/changes?after=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Last-Event-ID", "1")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	event := func() string {
		var text []string
		for lines.Scan() && lines.Text() != "" {
			text = append(text, lines.Text())
		}
		return strings.Join(text, "|")
	}
	if got := event(); !strings.HasPrefix(got, `id: 2|event: change|data: {"number":2,"id":"2","url":"http://a.example/2",`) || !strings.Contains(got, `"title":"y\nz"`) {
		t.Errorf("got %s", got)
	}
	w.page(3, "http://a.example/3", courant.Item{Title: "z"})
	ring()
	if got := event(); !strings.HasPrefix(got, "id: 3|") {
		t.Errorf("got %s", got)
	}
	w.stop(t)
	if lines.Scan() {
		t.Errorf("after the end: %q", lines.Text())
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
}

package websub_test

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

// poll is the state of the source in the store.
type poll struct {
	due, asOf, asked, answered, pending, parsed int64 // pending is 0 if there is no pending download
	blob, kind, url, etag, modified             string
}

func (w *world) poll() (p poll) {
	w.t.Helper()
	w.row([]any{&p.due, &p.asOf, &p.asked, &p.answered, &p.pending, &p.parsed, &p.blob, &p.kind, &p.url, &p.etag, &p.modified},
		`SELECT p.due, a.as_of, a.asked, a.answered, COALESCE(w.as_of, 0), r.as_of, COALESCE(w.blob, ''), COALESCE(w.type, ''), COALESCE(w.url, ''),
			COALESCE(w.etag, ''), COALESCE(w.modified, '') FROM polls p JOIN answers a ON a.source = p.source JOIN readings r ON r.source = p.source
			LEFT JOIN pending w ON w.source = p.source`)
	return p
}

// read takes over the pending download, as parse does.
func (w *world) read() {
	w.exec(`UPDATE readings SET as_of = p.as_of, body = p.body FROM pending p WHERE p.source = readings.source`)
	w.exec(`DELETE FROM pending`)
}

func TestASignedPingIsADownload(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		w.source(1, topic, hub, topic)
		w.exec(`INSERT INTO websub (id, source, hub, topic, secret, state, asked, verified, until, due) VALUES ('id', 1, $1, $2, 'key', 'active', 1, 1, $3, $3)`,
			hub, topic, int64(1)<<50)
		w.exec(`UPDATE answers SET as_of = as_of - 5000, asked = asked - 5000, answered = answered - 5000`)
		w.exec(`UPDATE readings SET as_of = as_of - 5000`)
		before := w.poll()
		r := request{form: map[string][]string{"hub.secret": {"key"}}}
		if code := w.ping("/websub/id", "<feed/>", r.signed("<feed/>")); code != 202 {
			t.Fatalf("answered %d", code)
		}
		p := w.poll()
		if p.asOf <= before.asOf || p.asked != before.asked || p.answered != p.asked || p.pending != p.asOf || p.parsed != before.parsed || p.due != before.due ||
			p.kind != "application/atom+xml" || p.url != topic || p.etag != `"e"` || p.modified != "m" || !strings.HasPrefix(p.blob, "body/") {
			t.Errorf("%+v, before %+v", p, before)
		}
		if body, err := w.blobs.GetCached(t.Context(), p.blob); err != nil || string(body) != "<feed/>" {
			t.Errorf("kept %q, %v", body, err)
		}
		if n := w.count(`SELECT COUNT(*) FROM outbox`); n != 1 {
			t.Errorf("%d messages", n)
		}
		w.ping("/websub/id", "<feed/>", r.signed("<feed/>")) // the hub sends it again
		w.read()
		w.ping("/websub/id", "<feed/>", r.signed("<feed/>")) // and again
		if after := w.poll(); after.asOf != p.asOf || after.pending != 0 || after.due != p.due || !w.subscription(1).pinged || w.subscription(1).owed {
			t.Errorf("the same bytes again: %+v, before %+v", after, p)
		}
	})
}

func TestEverySignatureMethodIsKnown(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, topic, hub, topic)
		w.wait(2 * time.Second)
		r := w.subscribe()
		for method, h := range map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "sha384": sha512.New384, "SHA512": sha512.New} {
			body := "signed by " + method
			mac := hmac.New(h, []byte(r.form.Get("hub.secret")))
			mac.Write([]byte(body))
			before := w.poll().asOf
			w.ping(r.callback(), body, method+"="+hex.EncodeToString(mac.Sum(nil)))
			if w.poll().asOf <= before {
				t.Errorf("%s is not known", method)
			}
			w.read()
			w.wait(time.Second)
		}
	})
}

func TestPingsAreReadASecondApart(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, topic, hub, topic)
		w.wait(2 * time.Second)
		r := w.subscribe()
		pinged := func(body string) bool {
			before := w.poll().asOf
			w.ping(r.callback(), body, r.signed(body))
			defer w.read()
			return w.poll().asOf > before
		}
		first := pinged("one")
		w.wait(900 * time.Millisecond)
		if second := pinged("two"); !first || second || !w.subscription(1).owed {
			t.Errorf("the first was read: %v, the second: %v", first, second)
		}
		w.wait(200 * time.Millisecond)
		if !pinged("three") {
			t.Error("the third was not read")
		}
		w.wait(6 * time.Second)
		if w.subscription(1).owed {
			t.Error("the third told what the second did")
		}
	})
}

func TestAForgedPingChangesNothing(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, topic, hub, topic)
		w.wait(2 * time.Second)
		r := w.subscribe()
		before := w.poll()
		good := r.signed("x")
		for _, signature := range []string{r.signed("y"), "sha256=", "sha256", "md5=" + good[7:], "sha1=" + good[7:], good[:len(good)-2], good + "00", "=", "sha256=zz" + good[9:]} {
			if code := w.ping(r.callback(), "x", signature); code != 202 {
				t.Errorf("%s was answered %d", signature, code)
			}
		}
		w.wait(time.Minute)
		if after := w.poll(); after != before || w.subscription(1).pinged {
			t.Errorf("%+v, before %+v", after, before)
		}
	})
}

func TestAPingWithoutASignatureHasTheSourceAsked(t *testing.T) {
	for what, body := range map[string]string{"nothing": "", "a body": "<feed/>", "too large a body": strings.Repeat("x", 2000)} {
		in(t, func(t *testing.T, w *world) {
			w.source(1, topic, hub, topic)
			w.wait(10 * time.Second)
			r := w.subscribe()
			before := w.poll()
			if code := w.ping(r.callback(), body, ""); code != 202 {
				t.Errorf("%s was answered %d", what, code)
			}
			p := w.poll()
			if p.due != before.asked+time.Minute.Milliseconds() || p.pending != before.pending {
				t.Errorf("%s: due %d s after the last ask, pending %v", what, (p.due-before.asked)/1000, p.pending != before.pending)
			}
			w.exec(`UPDATE polls SET due = due + 1000000`)
			w.exec(`UPDATE answers SET as_of = $1, asked = $1`, w.store.Now().UnixMilli()+1) // schedule requests a poll
			due := w.poll().due
			w.wait(time.Minute)
			if w.poll().due != due || w.subscription(1).owed {
				t.Errorf("%s: it is asked once", what)
			}
		})
	}
}

func TestAPingWhileAnAnswerIsOutstandingIsNotLost(t *testing.T) {
	for what, outstanding := range map[string]string{
		"an ask":     `UPDATE answers SET as_of = as_of + 1, asked = asked + 1`,
		"a download": `INSERT INTO pending (source, as_of, fetched, blob, url, type, etag, modified, pushed, hubs, self) VALUES (1, 1, 1, '', '', '', '', '', FALSE, '', '')`,
	} {
		in(t, func(t *testing.T, w *world) {
			w.source(1, topic, hub, topic)
			w.wait(2 * time.Minute)
			r := w.subscribe()
			w.exec(outstanding)
			before := w.poll()
			w.ping(r.callback(), "<feed/>", r.signed("<feed/>"))
			w.wait(time.Minute)
			if after := w.poll(); after != before || !w.subscription(1).owed {
				t.Errorf("%s: %+v, before %+v", what, after, before)
			}
			w.exec(`UPDATE answers SET answered = asked`)
			w.exec(`DELETE FROM pending`)
			w.wait(6 * time.Second)
			if due := store.Time(w.poll().due); due.After(time.Now()) {
				t.Errorf("%s: the source is due in %v", what, time.Until(due))
			}
		})
	}
}

func TestAReplayedDeliveryChangesNothing(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, topic, hub, topic)
		w.wait(2 * time.Second)
		r := w.subscribe()
		for _, body := range []string{"one", "two"} {
			w.ping(r.callback(), body, r.signed(body))
			w.read()
			w.wait(2 * time.Second)
		}
		before := w.poll()
		w.ping(r.callback(), "one", r.signed("one")) // somebody has kept it
		if after := w.poll(); after.asOf != before.asOf || after.pending != 0 || !w.subscription(1).owed {
			t.Errorf("%+v, before %+v; the source is polled for the truth: %v", after, before, w.subscription(1).owed)
		}
		w.ping(r.callback(), "three", r.signed("three"))
		if after := w.poll(); after.asOf <= before.asOf {
			t.Error("a new one is not read any more")
		}
	})
}

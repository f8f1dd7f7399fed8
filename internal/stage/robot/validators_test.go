package robot_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestValidatorsThatAServerRefusesAreNotSentAgain(t *testing.T) {
	long := `"` + strings.Repeat("x", 4000) + `"`
	for _, code := range []int{400, 413, 431} {
		in(t, func(t *testing.T, w *world) {
			w.source(1, feed)
			w.exec(`UPDATE readings SET etag = '"1"', modified = 'Fri', body = $1`, digest("<rss/>"))
			w.pages[feed] = func(out http.ResponseWriter, r *http.Request) {
				if r.Header.Get("If-None-Match") != "" {
					out.WriteHeader(code)
					return
				}
				page("<rss/>", "Etag", long, "Content-Type", "text/xml; x="+long)(out, r)
			}
			w.ask(1, time.Minute)
			if p := w.poll(1); p.status != code || p.etag != "" || p.modified != "" || p.failures != 1 {
				t.Errorf("after %d: %+v", code, p)
			}
			w.ask(1, time.Minute)
			if p := w.poll(1); p.status != 200 || p.open || p.failures != 0 {
				t.Errorf("asked without them: %+v", p)
			}
			w.put(feed, page("<rss></rss>", "Etag", long, "Content-Type", "text/xml; x="+long))
			w.ask(1, time.Minute)
			if p := w.poll(1); !p.open || p.pendingTag != "" || p.kind != "" {
				t.Errorf("a long validator: %d bytes, a type of %d", len(p.pendingTag), len(p.kind))
			}
		})
	}
}

func TestAnAnswerThatSaysNothingOfValidatorsKeepsThem(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, feed)
		w.exec(`UPDATE readings SET etag = '"1"', modified = 'Fri'`)
		w.pages[feed] = status(404)
		w.ask(1, time.Minute)
		if p := w.poll(1); p.status != 404 || p.etag != `"1"` || p.modified != "Fri" {
			t.Errorf("got %+v", p)
		}
	})
}

func TestAKeptValidatorThatIsTooLongIsNotSent(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, feed)
		w.exec(`UPDATE readings SET etag = $1, modified = $1`, strings.Repeat("x", 1025))
		w.pages[feed] = page("<rss/>")
		w.ask(1, time.Minute)
		if got := w.seen(feed); len(got) != 1 || got[0].header.Get("If-None-Match") != "" || got[0].header.Get("If-Modified-Since") != "" {
			t.Errorf("%d requests", len(got))
		}
	})
}

// A hub may deliver late what the source has changed since. A 304 of the source is
// then about other bytes than the last parsed body.
func TestAfterABodyFromAHubA304IsNotBelieved(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, feed)
		w.exec(`UPDATE readings SET etag = '"2"', body = $1, pushed = TRUE`, digest("<rss>late</rss>"))
		w.pages[feed] = func(out http.ResponseWriter, r *http.Request) {
			if r.Header.Get("If-None-Match") == `"2"` {
				out.WriteHeader(http.StatusNotModified)
				return
			}
			page("<rss>new</rss>", "Etag", `"2"`)(out, r)
		}
		w.ask(1, time.Minute)
		if p := w.poll(1); len(w.seen(feed)) != 2 || !p.open || p.pendingTag != `"2"` || w.body(p.blob) != "<rss>new</rss>" {
			t.Errorf("%d requests, %+v", len(w.seen(feed)), p)
		}
	})
}

func TestAServerThatAlwaysAnswers304GetsTwoRequestsAtMost(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, feed)
		w.exec(`UPDATE readings SET etag = '"2"', pushed = TRUE`)
		w.pages[feed] = status(304)
		w.ask(1, time.Minute)
		if p := w.poll(1); len(w.seen(feed)) != 2 || p.status != 304 || p.failures != 1 {
			t.Errorf("%d requests, %+v", len(w.seen(feed)), p)
		}
	})
}

func TestA304ToAnUnconditionalRequestIsAProblem(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.source(1, feed)
		w.pages[feed] = status(304, "Etag", `"x"`)
		w.ask(1, time.Minute)
		if p := w.poll(1); !strings.Contains(p.problem, "304") || p.failures != 1 {
			t.Errorf("got %+v", p)
		}
		w.put(feed, page("<rss/>", "Etag", `"x"`))
		w.ask(1, time.Minute)
		if p := w.poll(1); !p.open || p.problem != "" {
			t.Errorf("after it was mended: got %+v", p)
		}
		for _, asked := range w.seen(feed) {
			if tag := asked.header.Get("If-None-Match"); tag != "" {
				t.Errorf("%s was sent", tag)
			}
		}
	})
}

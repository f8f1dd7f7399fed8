package api_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/api"
	"github.com/courant-platform/courant/internal/kit/pack"
)

// crawlDelay reads the one robots.txt of these tests.
func crawlDelay(text []byte) time.Duration {
	if bytes.Contains(text, []byte("Crawl-delay: 600")) {
		return 10 * time.Minute
	}
	return 0
}

// rest puts what robot knows of a host into the store.
func (w *world) rest(origin, reason string, allowed time.Duration, robots string, status int, until time.Duration, failures int) {
	w.t.Helper()
	now := w.store.Now()
	var text []byte
	if robots != "" {
		text = pack.Bytes([]byte(robots))
	}
	w.exec(`INSERT INTO hosts (origin, partition, robots, robots_status, robots_until, allowed, failures, reason) VALUES ($1, 1, $2, $3, $4, $5, $6, $7)`,
		origin, text, status, now.Add(until).UnixMilli(), now.Add(allowed).UnixMilli(), failures, reason)
}

// robots adds the leases of a robot that runs for all hosts.
func (w *world) robots() {
	for part := range courant.Partitions {
		w.exec(`INSERT INTO leases (name, owner, until, epoch) VALUES ($1, 'me', $2, 1)`, fmt.Sprint("robot/", part), w.store.Now().Add(time.Hour).UnixMilli())
	}
}

// waitCase is a source that waits, or not.
type waitCase struct {
	set    func(*world)
	after  time.Duration // until it is polled; 0 for as soon as possible
	reason string        // "" for no wait
}

func waitCases() map[string]waitCase {
	const (
		asked = `UPDATE answers SET asked = 9, answered = 9, checked = 9`
		later = `UPDATE polls SET due = 4102444800000` // in 2100
	)
	return map[string]waitCase{
		"nothing is in the way": {func(*world) {}, 0, ""},
		"the host rests for a week": {func(w *world) {
			w.exec(`UPDATE polls SET due = 1`)
			w.rest("http://www.a.example", "the server answered 503", 7*24*time.Hour, "", 404, time.Hour, 1)
		}, 7 * 24 * time.Hour, "http://www.a.example is in back-off until then: the server answered 503"},
		"it is due long after the host's rest": {func(w *world) {
			w.exec(asked)
			w.exec(later)
			w.rest("http://www.a.example", "the server answered 503", time.Hour, "", 404, time.Hour, 1)
		}, 0, ""},
		"a Crawl-delay": {func(w *world) {
			w.rest("http://www.a.example", "", 9*time.Minute, "User-agent: *\nCrawl-delay: 600\n", 200, time.Hour, 0)
		}, 9 * time.Minute, "its robots.txt asks for 10m between two requests (Crawl-delay)"},
		"robots.txt cannot be had": {func(w *world) {
			w.rest("http://www.a.example", "", 0, "", 503, 8*time.Minute, 0)
		}, 8 * time.Minute, "robots.txt of http://www.a.example is not available"},
		"robots.txt cannot be had and does not count": {func(w *world) {
			w.exec(`UPDATE sources SET robots = FALSE`)
			w.rest("http://www.a.example", "", 0, "", 503, 8*time.Minute, 0)
		}, 0, ""},
		"the domain rests": {func(w *world) {
			w.rest("*.a.example", "the server answered 429 (http://b.a.example)", time.Hour, "", 0, 0, 0)
		}, time.Hour, "all hosts of a.example are in back-off until then: the server answered 429"},
		"where its redirect led last rests": {func(w *world) {
			w.exec(`UPDATE readings SET url = 'http://cdn.example/feed'`)
			w.rest("http://cdn.example", "the server answered 500", time.Hour, "", 0, 0, 2)
		}, time.Hour, "it redirects to http://cdn.example, and http://cdn.example is in back-off until then: the server answered 500"},
		"where it has moved to rests": {func(w *world) {
			w.exec(`UPDATE answers SET url = 'http://new.example:8080/feed'`)
			w.rest("http://new.example:8080", "the server answered 500", time.Hour, "", 0, 0, 2)
		}, time.Hour, "http://new.example:8080 is in back-off"},
		"it is to be asked, and others go first": {func(w *world) { w.exec(`UPDATE answers SET asked = 9`) }, 0, "it is queued for http://www.a.example"},
		"no robot runs":                          {func(w *world) { w.exec(`DELETE FROM leases`) }, 0, "no robot is running"},
		"a download of it is being read": {func(w *world) {
			w.exec(`INSERT INTO pending (source, as_of, fetched, blob, url, type, etag, modified, pushed, hubs, self) SELECT id, 5, 5, '', '', '', '', '', FALSE, '', '' FROM sources`)
		}, 0, "being read"},
		"it is gone": {func(w *world) {
			w.exec(`UPDATE answers SET gone_since = 5`)
			w.rest("http://www.a.example", "the server answered 503", time.Hour, "", 404, time.Hour, 1)
		}, 0, ""},
		"it was never asked": {func(w *world) { w.exec(`UPDATE answers SET checked = 0`) }, 0, "it has not been polled yet"},
	}
}

func TestASourceSaysWhyItIsNotPolledWhenItIsDue(t *testing.T) {
	for name, c := range waitCases() {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			w.robots()
			w.do("POST", "/api/v1/sources", `{"url":"http://www.a.example/feed","name":"a"}`, nil)
			w.exec(`UPDATE answers SET checked = 9`)
			c.set(w)
			var one api.SourceState
			var all []api.SourceState
			w.do("GET", "/api/v1/sources/a", "", &one)
			if w.do("GET", "/api/v1/sources", "", &all); len(all) != 1 {
				t.Fatalf("listed %+v", all)
			}
			for _, wait := range []*api.SourceWait{one.Wait, all[0].Wait} {
				switch {
				case wait == nil && c.reason == "":
				case wait == nil || c.reason == "" || !strings.Contains(wait.Reason, c.reason):
					t.Errorf("got %+v, want %q", wait, c.reason)
				case c.after == 0 != wait.Next.IsZero() || c.after > 0 && wait.Next.Sub(w.store.Now()).Round(time.Minute) != c.after:
					t.Errorf("it is asked next at %v", wait.Next)
				}
			}
		})
	}
}

func TestAHostIsFoundOnEveryPortAndByAnAddress(t *testing.T) {
	w := open(t)
	w.rest("http://127.0.10.38:18100", "", 9*time.Minute, "User-agent: *\nCrawl-delay: 600\n", 200, time.Hour, 0)
	w.rest("*.127.0.10.38", "the server answered 429", time.Hour, "", 0, 0, 0)
	w.rest("https://a_b.example", "", 0, "", 404, time.Hour, 0)
	w.rest("https://axb.example:81", "", 0, "", 404, time.Hour, 0)
	w.rest("http://[fd00::1]:8080", "", 0, "", 404, time.Hour, 0)
	w.do("POST", "/api/v1/sources", `{"url":"http://a_b.example:8080/feed","name":"a"}`, nil)
	for name, want := range map[string]string{
		"127.0.10.38": "http://127.0.10.38:18100", "127.0.10.38:18100": "http://127.0.10.38:18100", "http://127.0.10.38:18100": "http://127.0.10.38:18100",
		"http://127.0.10.38": "http://127.0.10.38", // no request was sent to it, but it shares the wait
		"a_b.example":        "https://a_b.example http://a_b.example:8080", "fd00::1": "http://[fd00::1]:8080", "[fd00::1]": "http://[fd00::1]:8080",
	} {
		var hosts []api.Host
		var got []string
		w.do("GET", "/api/v1/host?host="+name, "", &hosts)
		for _, h := range hosts {
			got = append(got, h.Origin)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"127.0.10.38:80", "http://127.0.10.3", "127.0.10.3"} {
		if r := w.do("GET", "/api/v1/host?host="+name, "", nil); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", name, r.Status)
		}
	}
	var hosts []api.Host
	w.do("GET", "/api/v1/host?host=127.0.10.38", "", &hosts)
	if h := hosts[0]; h.CrawlDelay != "10m0s" || !strings.Contains(h.Reason, "Crawl-delay") || h.Domain == nil || h.Domain.Name != "127.0.10.38" {
		t.Errorf("got %+v", h)
	}
	if w.do("GET", "/api/v1/hosts", "", &hosts); len(hosts) != 1 || hosts[0].Origin != "127.0.10.38" {
		t.Errorf("an address is no domain: %+v", hosts)
	}
}

func TestTheValidatorsThatAreSentNextAreShown(t *testing.T) {
	for name, c := range map[string]struct{ answers, etag string }{
		"those of what was read last":         {`UPDATE answers SET asked = 7`, `"2"`},
		"newer ones of a 304":                 {`UPDATE answers SET confirmed = 7, etag = '"2b"', modified = 'Sat'`, `"2b"`},
		"older ones of a 304":                 {`UPDATE answers SET confirmed = 3, etag = '"1"'`, `"2"`},
		"none that the server refuses":        {`UPDATE answers SET refused = 5, confirmed = 7, etag = '"2b"'`, ""},
		"those after what the server refused": {`UPDATE answers SET refused = 4`, `"2"`},
	} {
		w := open(t)
		w.do("POST", "/api/v1/sources", `{"url":"http://a.example/feed","name":"a"}`, nil)
		w.exec(`UPDATE readings SET as_of = 5, etag = '"2"', modified = 'Fri'`)
		w.exec(c.answers)
		var s api.SourceState
		if w.do("GET", "/api/v1/sources/a", "", &s); s.ETag != c.etag {
			t.Errorf("%s: %s, want %s", name, s.ETag, c.etag)
		}
	}
}

package robot_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// exchange is a request that a case expects, and what its server answers.
type exchange struct {
	Request   string            `json:"request"`
	Expect    map[string]string `json:"expect_headers"`
	NotBefore int               `json:"not_before_seconds"`
	Never     bool              `json:"must_not_happen"`
	Respond   struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
		Ref     string            `json:"body_ref"`
		Gen     string            `json:"body_gen"`
		Early   bool              `json:"close_early"`
	} `json:"respond"`
}

type bugcase struct {
	Exchanges []exchange `json:"exchanges"`
	Max       int        `json:"max_requests"`
}

func bugcases(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("COURANT_SHARED")
	if shared == "" {
		shared = "../../../../shared"
	}
	dir := filepath.Join(shared, "suites/bugcases")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the bug cases are not beside the checkout: ", err)
	}
	return dir
}

// address is where a request of a case goes.
func (e exchange) address() string {
	switch {
	case strings.HasPrefix(e.Request, "//"):
		return "http:" + e.Request
	case strings.HasPrefix(e.Request, "https://www.site.example"): // the test's web has no TLS and other names
		return strings.Replace(e.Request, "https://www.site.example", "http://b.example", 1)
	}
	return "http://a.example" + e.Request
}

// answer answers as the case says.
func (e exchange) answer(t *testing.T, dir string) http.HandlerFunc {
	return func(out http.ResponseWriter, _ *http.Request) {
		body := []byte(e.Respond.Body)
		if e.Respond.Ref != "" {
			var err error
			if body, err = os.ReadFile(filepath.Join(dir, e.Respond.Ref)); err != nil {
				t.Error(err)
			}
		}
		for name, value := range e.Respond.Headers {
			out.Header().Set(name, strings.Replace(value, "https://www.site.example", "http://b.example", 1))
		}
		if out.Header().Get("Content-Encoding") == "gzip" {
			body = zipped(body)
		}
		if e.Respond.Status == http.StatusTooManyRequests {
			e.Respond.Status = http.StatusNotFound // for the next request
			out.WriteHeader(http.StatusTooManyRequests)
			return
		}
		out.WriteHeader(e.Respond.Status)
		out.Write(body)
		if e.Respond.Early {
			panic(http.ErrAbortHandler)
		}
	}
}

// TestBugCasesOfOtherReaders drives the robot through exchanges in which other
// readers had bugs. N14 to N18 and N22 are the client's, N23 that of WebSub.
func TestBugCasesOfOtherReaders(t *testing.T) {
	dir := bugcases(t)
	for name, check := range map[string]func(t *testing.T, w *world){
		"N01": nil, "N02": nil, "R08": nil, "R09": nil, "R10": nil, "R11": nil,
		"N04": func(t *testing.T, w *world) {
			if n := w.number(`SELECT fresh_for FROM answers`); n != (12 * time.Hour).Milliseconds() {
				t.Errorf("fresh for %d ms", n)
			}
		},
		"N07": func(t *testing.T, w *world) {
			if w.number(`SELECT COUNT(*) FROM answers WHERE gone_since > 0 AND status = 410`) != 1 {
				t.Error("it is not gone")
			}
		},
		"N08": problem("302"), "N10": problem("redirect loop"), "N15": problem("without a response"), "N20": problem("bot wall"),
		"N17": downloaded, "N18": downloaded,
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, "http", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			var c bugcase
			if err := json.Unmarshal(text, &c); err != nil {
				t.Fatal(err)
			}
			in(t, func(t *testing.T, w *world) {
				if name == "N04" { // schedule applies it
					c.Exchanges = c.Exchanges[:1]
				}
				w.play(dir, c)
				if check != nil {
					check(t, w)
				}
			})
		})
	}
}

func problem(text string) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		if p := w.poll(1); !p.answered || p.open || !strings.Contains(p.problem, text) {
			t.Errorf("got %+v", p)
		}
	}
}

func downloaded(t *testing.T, w *world) {
	if p := w.poll(1); p.problem != "" || p.status != 200 {
		t.Errorf("got %+v", p)
	}
}

// play has the exchanges happen one after the other.
func (w *world) play(dir string, c bugcase) {
	w.t.Helper()
	var last time.Time
	for i, e := range c.Exchanges {
		if e.Respond.Status == 0 {
			e.Respond.Status = 200
		}
		address := e.address()
		w.put(address, e.answer(w.t, dir))
		before := len(w.seen(address))
		if !strings.HasSuffix(address, "/robots.txt") {
			w.poke(int64(i+1), address, c.Exchanges)
		}
		seen := w.seen(address)[before:]
		switch {
		case strings.HasSuffix(address, "/robots.txt"):
			last = time.Now()
			continue
		case e.Never || len(seen) == 0:
			if !e.Never {
				w.t.Fatalf("%s was not asked for", address)
			}
			continue
		case e.Never:
			w.t.Fatalf("%s was asked for", address)
		}
		for name, want := range e.Expect {
			if got := seen[0].header.Get(name); got != want {
				w.t.Errorf("request %d: %s is %q, want %q", i, name, got, want)
			}
		}
		if wait := time.Duration(e.NotBefore) * time.Second; seen[0].at.Sub(last) < wait {
			w.t.Errorf("request %d came after %v, want %v", i, seen[0].at.Sub(last), wait)
		}
		last = seen[len(seen)-1].at
		if c.Max > 0 && len(seen) > c.Max {
			w.t.Errorf("%d requests", len(seen))
		}
	}
}

// poke requests an address: a feed as a source, anything else as a picture.
func (w *world) poke(n int64, address string, all []exchange) {
	if !strings.Contains(address, "/feed") && !strings.Contains(address, "/rss") {
		w.want(address)
		w.wait(3 * time.Minute)
		return
	}
	if n == 1 {
		w.source(1, address)
	}
	w.ask(1, time.Minute)
	if len(all) > 1 {
		w.parsed()
	}
}

// parsed takes over the validators of the download, as parse does.
func (w *world) parsed() {
	w.exec(`UPDATE readings SET as_of = p.as_of, etag = p.etag, modified = p.modified, body = p.body, raw = p.raw, pushed = p.pushed FROM pending p WHERE p.source = readings.source`)
	w.exec(`DELETE FROM pending`)
}

func (w *world) number(query string, args ...any) (n int64) {
	w.t.Helper()
	w.scan(&n, query, args...)
	return n
}

func zipped(body []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(body)
	z.Close()
	return b.Bytes()
}

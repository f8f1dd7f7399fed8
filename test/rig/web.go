package rig

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Web is a running miniweb.
type Web struct {
	Proxy string // http://…, which robot.proxy is set to

	program string
	process *process
	log     string
}

// fullText are the dialects whose feeds hold the whole article.
var fullText = []string{"rss-full", "atom", "json", "turbo", "yml"}

var proxyAddress = regexp.MustCompile(`proxy and control at (http://[^/]+)/`)

// Web starts a simulated web; flags are added to its listen address.
func (p *Programs) Web(t testing.TB, flags ...string) *Web {
	t.Helper()
	w := &Web{program: p.miniweb(t), log: filepath.Join(t.TempDir(), "miniweb.log")}
	w.process = start(t, w.log, w.program, append([]string{"-listen", "127.0.0.1:0"}, flags...)...)
	t.Cleanup(func() { w.process.end(syscall.SIGTERM, 5*time.Second) })
	ready := Until(20*time.Second, func() bool {
		text, err := os.ReadFile(w.log)
		if m := proxyAddress.FindSubmatch(text); err == nil && m != nil {
			w.Proxy = string(m[1])
		}
		return w.Proxy != "" || !w.process.running()
	})
	if !ready || w.Proxy == "" {
		t.Fatalf("miniweb did not start: %s", tail(w.log))
	}
	return w
}

// Source is a source as miniweb describes it.
type Source struct {
	URL      string `json:"url"`
	Kind     string `json:"kind"`
	Host     string `json:"host"`
	Class    string `json:"class"`
	Dialect  string `json:"dialect"`
	FullText bool   `json:"full_text"`
	Title    string `json:"title"`
}

// Whole reports whether the source's dialect has feeds that hold the whole article.
func (s Source) Whole() bool { return slices.Contains(fullText, s.Dialect) }

// Sources returns the sources that keep accepts.
func (w *Web) Sources(t testing.TB, keep func(Source) bool) []Source {
	t.Helper()
	var all []Source
	w.control(t, http.MethodGet, "/sources.json", nil, &all)
	return slices.DeleteFunc(all, func(s Source) bool { return !keep(s) })
}

// Publish publishes n items on a host, or on random hosts if host is "".
func (w *Web) Publish(t testing.TB, n int, host string) {
	t.Helper()
	w.control(t, http.MethodPost, "/publish", url.Values{"n": {strconv.Itoa(n)}, "host": {host}}, nil)
}

// Edit edits n items of a host, or of random hosts if host is "".
func (w *Web) Edit(t testing.TB, n int, host string) {
	t.Helper()
	w.control(t, http.MethodPost, "/edit", url.Values{"n": {strconv.Itoa(n)}, "host": {host}}, nil)
}

func (w *Web) control(t testing.TB, method, path string, query url.Values, out any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, w.Proxy+"/_control"+path+"?"+query.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := direct().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, body)
	}
	if err == nil && out != nil {
		err = json.Unmarshal(body, out)
	}
	if err != nil {
		t.Fatalf("miniweb %s: %v", path, err)
	}
}

// direct returns a client that ignores the proxies of the environment.
func direct() *http.Client {
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
}

// Score compares what the platform has with what was published; flags are those of
// `miniweb score`.
func (w *Web) Score(t testing.TB, c *Courant, flags ...string) Card {
	t.Helper()
	var card Card
	if err := json.Unmarshal(w.score(t, c, append(flags, "-json")...), &card); err != nil {
		t.Fatal(err)
	}
	return card
}

// Table returns the score as text for people.
func (w *Web) Table(t testing.TB, c *Courant, flags ...string) string {
	t.Helper()
	return string(w.score(t, c, flags...))
}

func (w *Web) score(t testing.TB, c *Courant, flags ...string) []byte {
	t.Helper()
	args := append([]string{"score", "-control", w.Proxy + "/_control", "-pages", c.Address + "/api/v1/page?url={url}"}, flags...)
	out, err := command(w.program, args...).Output()
	var failed *exec.ExitError
	if err != nil {
		if errors.As(err, &failed) {
			t.Fatalf("miniweb score: %s", failed.Stderr)
		}
		t.Fatal(err)
	}
	return out
}

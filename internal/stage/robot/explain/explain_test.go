package explain_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/kit/guard"
	"github.com/courant-platform/courant/internal/stage/robot/client"
	"github.com/courant-platform/courant/internal/stage/robot/explain"
)

// site is a small web server that records the requested paths.
type site struct {
	*httptest.Server
	// mu guards asked.
	mu    sync.Mutex
	asked []string
}

func openSite(t *testing.T, answer http.HandlerFunc) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.Path)
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) heard() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.asked, " ")
}

func openFetcher(t *testing.T, change func(*explain.Fetcher)) *explain.Fetcher {
	t.Helper()
	exempt, err := guard.ParseExempt("127.0.0.0/8")
	if err != nil {
		t.Fatal(err)
	}
	f := &explain.Fetcher{Guard: &guard.Guard{Allow: []guard.Exempt{exempt}}, UserAgent: "courant/test", Gap: time.Millisecond, MaxFeed: 1 << 20, MaxPicture: 1 << 20}
	if f.Client, err = client.New(client.Config{Guard: f.Guard, UserAgent: f.UserAgent, Timeout: 30 * time.Second}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	if change != nil {
		change(f)
	}
	return f
}

// check fetches an address; it expects an error with the prefix failed, and steps that contain says.
func check(t *testing.T, f *explain.Fetcher, address, failed string, says ...string) *explain.Fetched {
	t.Helper()
	got := f.Fetch(t.Context(), address)
	if !strings.HasPrefix(got.Error, failed) || got.Error != "" && failed == "" {
		t.Errorf("%s: the error is %q, want %q", address, got.Error, failed)
	}
	all := got.URL + "\n" + strings.Join(got.Steps, "\n") + "\n" + got.Error
	for _, want := range says {
		if !strings.Contains(all, want) {
			t.Errorf("%s: it does not say %q:\n%s", address, want, all)
		}
	}
	if strings.Contains(all, "secret") || strings.Contains(all, "net/http") || strings.Contains(all, "Last-Modified \n") {
		t.Errorf("%s: it says\n%s", address, all)
	}
	return got
}

// varied answers each path in a different way.
func varied(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/robots.txt":
		fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
	case "/etag":
		w.Header().Set("ETag", `"abc"`)
	case "/modified":
		w.Header().Set("Last-Modified", "Mon, 05 Jan 2026 00:00:00 GMT")
	case "/large":
		fmt.Fprint(w, strings.Repeat("x", 3000))
	case "/within":
		http.Redirect(w, r, "/private/1", http.StatusFound)
	case "/file":
		w.Header().Set("Location", "file:///etc/passwd")
		w.WriteHeader(http.StatusFound)
	case "/nowhere":
		w.Header().Set("Location", "http://[::1")
		w.WriteHeader(http.StatusFound)
	case "/circle", "/ring":
		http.Redirect(w, r, map[string]string{"/circle": "/ring", "/ring": "/circle"}[r.URL.Path], http.StatusFound)
	case "/password":
		w.Header().Set("Location", "http://user:secret@"+r.Host+"/")
		w.WriteHeader(http.StatusFound)
	case "/broken":
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			fmt.Fprint(c, "SMTP ready\r\n\r\n")
			c.Close()
		}
	case "/cut":
		panic(http.ErrAbortHandler)
	default:
		http.NotFound(w, r)
	}
}

func TestFetchTellsWhatTheRobotWouldDo(t *testing.T) {
	s := openSite(t, varied)
	open := func() *explain.Fetcher { // each with no state of hosts
		return openFetcher(t, func(f *explain.Fetcher) { f.MaxFeed = 2 << 10 })
	}
	f := open()
	check(t, f, s.URL+"/etag", "", "robots.txt of "+s.URL+" allows it for courant", "answered 200 OK", `validator for the next request: ETag "abc"`)
	check(t, f, s.URL+"/modified", "", "for the next request: Last-Modified Mon, 05 Jan")
	check(t, f, s.URL+"/none", "", "answered 404 Not Found")
	check(t, f, s.URL+"/large", "", "a feed of this size would be refused: robot.max_feed is 2KiB", "no validators")
	check(t, f, s.URL+"/private/x", "robots.txt of "+s.URL+" disallows it for courant")
	check(t, f, s.URL+"/within", "robots.txt of "+s.URL+" disallows it for courant", "redirect to "+s.URL+"/private/1")
	check(t, f, s.URL+"/file", "not allowed: file:///etc/passwd: only http and https are fetched", "redirect to file:///etc/passwd")
	check(t, f, s.URL+"/nowhere", "", "answered 302 Found", "a redirect without a valid Location header")
	check(t, f, s.URL+"/circle", "redirect loop: "+s.URL+"/circle leads back to itself")
	check(t, f, s.URL+"/password", "not allowed: http://xxxxx@", "redirect to http://xxxxx@")
	check(t, f, "http://user:secret@a.example/", "the URL holds a user name or password", "http://xxxxx@a.example/")
	if heard := s.heard(); strings.Count(heard, "/robots.txt") != 1 || strings.Contains(heard, "private") {
		t.Errorf("the site was asked for %s", heard)
	}
	check(t, open(), s.URL+"/broken", "the server does not speak HTTP")
	check(t, open(), s.URL+"/cut", "the server closed the connection")
	check(t, open(), "https"+strings.TrimPrefix(s.URL, "http")+"/", "https"+strings.TrimPrefix(s.URL, "http")+"/robots.txt is not available, so nothing may be fetched: the server does not speak HTTPS")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	check(t, open(), "http://"+l.Addr().String()+"/", "http://"+l.Addr().String()+"/robots.txt is not available, so nothing may be fetched: connection refused")
}

func TestFetchFollowsRedirectsOfRobotsTxt(t *testing.T) {
	elsewhere := openSite(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "User-agent: *\nDisallow: /private\n") })
	for to, want := range map[string]struct{ failed, says string }{
		elsewhere.URL + "/rules.txt": {"robots.txt of ", "and redirects to " + elsewhere.URL + "/rules.txt"},
		"/robots.txt":                {"", "ends in a redirect loop at "},
		"/hop/0":                     {"", "has more than 5 redirects: everything is allowed"},
		"/hop/2":                     {"robots.txt of ", "redirects to "},
		"http://10.1.2.3/robots.txt": {"", "redirects to http://10.1.2.3/robots.txt, which may not be fetched: everything is allowed"},
		"ftp://a.example/":           {"", "redirects to ftp://a.example/, which may not be fetched: everything is allowed"},
	} {
		s := openSite(t, func(w http.ResponseWriter, r *http.Request) {
			n := 0
			switch _, err := fmt.Sscanf(r.URL.Path, "/hop/%d", &n); {
			case r.URL.Path == "/robots.txt":
				w.Header().Set("Location", to)
				w.WriteHeader(http.StatusFound)
			case err == nil && n < 5:
				http.Redirect(w, r, fmt.Sprint("/hop/", n+1), http.StatusMovedPermanently)
			case err == nil:
				fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
			default:
				http.NotFound(w, r)
			}
		})
		check(t, openFetcher(t, nil), s.URL+"/private/1", want.failed, want.says)
	}
}

func TestFetchKeepsThePaceThatIsAskedFor(t *testing.T) {
	for delay, failed := range map[string]string{"1": "", "600": "no request to %s before "} {
		s := openSite(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				fmt.Fprint(w, "User-agent: *\nCrawl-delay: "+delay+"\n")
			}
		})
		if failed != "" {
			failed = fmt.Sprintf(failed, s.URL)
		}
		check(t, openFetcher(t, nil), s.URL+"/feed", failed, "between two requests (Crawl-delay)")
		check(t, openFetcher(t, func(f *explain.Fetcher) { f.Now = true }), s.URL+"/feed", "", "answered 200")
	}
}

func TestFetchBacksOffFromAHostThatAsksForIt(t *testing.T) {
	s := openSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/feed" {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	f := openFetcher(t, nil)
	check(t, f, s.URL+"/feed", "", "answered 503 Service Unavailable", "a wait of 1h before the next request", "backs off from the host for that long")
	check(t, f, s.URL+"/other", "no request to "+s.URL+" before ", "it answered 503 Service Unavailable with Retry-After; use --now")
	if heard := s.heard(); heard != "/robots.txt /feed" {
		t.Errorf("the site was asked for %s", heard)
	}
}

func TestFetchAsksNoHostFromWhichARunningRobotBacksOff(t *testing.T) {
	soon := time.Now().Add(time.Hour)
	for says, state := range map[string]explain.State{
		"the server answered 503; use --now": {Host: explain.Rest{Until: soon, Why: "the server answered 503"}},
		"a limit; use --now":                 {Host: explain.Rest{Until: time.Now(), Why: "x"}, Domain: explain.Rest{Until: soon, Why: "a limit"}},
		"its robots.txt is not available, so nothing may be fetched; use --now": {NoRobots: soon},
	} {
		s := openSite(t, func(w http.ResponseWriter, _ *http.Request) {})
		known := func(f *explain.Fetcher) {
			f.Known = func(_ context.Context, origin string) (explain.State, error) {
				if origin != s.URL {
					t.Errorf("the robot was asked of %s", origin)
				}
				return state, nil
			}
		}
		check(t, openFetcher(t, known), s.URL+"/feed", "the robot is in back-off for "+s.URL+" until ", says)
		if heard := s.heard(); heard != "" {
			t.Errorf("the site was asked for %s", heard)
		}
		check(t, openFetcher(t, func(f *explain.Fetcher) { known(f); f.Now = true }), s.URL+"/feed", "", "answered 200")
	}
}

func TestFetchKeepsThePaceThatARunningRobotHasLearnt(t *testing.T) {
	s := openSite(t, func(w http.ResponseWriter, _ *http.Request) {})
	f := openFetcher(t, func(f *explain.Fetcher) {
		f.Known = func(context.Context, string) (explain.State, error) {
			return explain.State{Pace: 700 * time.Millisecond}, nil
		}
	})
	check(t, f, s.URL+"/feed", "", "the pace that the robot has learnt from 429 responses")
}

func TestFetchAsksNothingWhenTheRobotCannotBeAsked(t *testing.T) {
	s := openSite(t, func(w http.ResponseWriter, _ *http.Request) {})
	f := openFetcher(t, func(f *explain.Fetcher) {
		f.Known = func(context.Context, string) (explain.State, error) { return explain.State{}, errors.New("away") }
	})
	check(t, f, s.URL+"/feed", "away")
	if heard := s.heard(); heard != "" {
		t.Errorf("the site was asked for %s", heard)
	}
}

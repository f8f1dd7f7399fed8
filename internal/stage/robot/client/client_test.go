package client_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/guard"
	"github.com/courant-platform/courant/internal/stage/robot/client"
)

// scripted is a client whose every connection is answered by script, request
// after request, until script returns false.
func scripted(t *testing.T, script func(w io.Writer, r *http.Request) bool) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{Guard: &guard.Guard{}, UserAgent: "courant/test", Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			in := bufio.NewReader(theirs)
			for {
				r, err := http.ReadRequest(in)
				if err != nil || !script(theirs, r) {
					return
				}
			}
		}()
		return ours, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// saying answers each connection with the same bytes and closes it.
func saying(t *testing.T, raw string) *client.Client {
	t.Helper()
	return scripted(t, func(w io.Writer, _ *http.Request) bool {
		io.WriteString(w, raw)
		return false
	})
}

func get(t *testing.T, c *client.Client, r client.Request) (*client.Answer, error) {
	t.Helper()
	if r.URL == "" {
		r.URL = "http://site.example/feed"
	}
	return c.Get(t.Context(), r)
}

// pack writes a text in the codings of a Content-Encoding, the first one first.
func pack(t *testing.T, text []byte, codings ...string) []byte {
	t.Helper()
	for _, coding := range codings {
		var b bytes.Buffer
		var w io.WriteCloser = gzip.NewWriter(&b)
		switch coding {
		case "br":
			w = brotli.NewWriterLevel(&b, 1)
		case "zstd":
			z, err := zstd.NewWriter(&b)
			if err != nil {
				t.Fatal(err)
			}
			w = z
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		text = b.Bytes()
	}
	return text
}

func answer(encoding string, body []byte) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", encoding, len(body), body)
}

func TestEveryEncodingThatIsAskedForIsUndone(t *testing.T) {
	text := []byte(strings.Repeat("What is new today? ", 1000))
	for _, c := range []struct {
		header  string
		codings []string
	}{
		{"", nil}, {"identity", nil}, {"gzip", []string{"gzip"}}, {"x-gzip", []string{"gzip"}}, {"GZip", []string{"gzip"}},
		{"br", []string{"br"}}, {"zstd", []string{"zstd"}}, {"gzip, br", []string{"gzip", "br"}}, {"zstd,gzip", []string{"zstd", "gzip"}},
	} {
		a, err := get(t, saying(t, answer(c.header, pack(t, text, c.codings...))), client.Request{})
		if err != nil || !bytes.Equal(a.Body, text) {
			t.Errorf("%q: %v", c.header, err)
		}
	}
}

func TestWhatCannotBeUnpackedIsRefused(t *testing.T) {
	hello := []byte("hello")
	window512MiB := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 19 << 3, 5<<3 | 1, 0, 0, 'h', 'e', 'l', 'l', 'o'}
	for what, raw := range map[string]string{
		"an unknown coding":            answer("compress", hello),
		"invalid gzip":                 answer("gzip", hello),
		"invalid brotli":               answer("br", []byte{0xff, 0xff, 0xff, 0xff}),
		"invalid zstd":                 answer("zstd", hello),
		"gzip that was cut off":        answer("gzip", pack(t, bytes.Repeat(hello, 100), "gzip")[:30]),
		"three layers":                 answer("gzip, gzip, gzip", pack(t, hello, "gzip", "gzip", "gzip")),
		"zstd with a window of 512 MB": answer("zstd", window512MiB),
	} {
		if a, err := get(t, saying(t, raw), client.Request{}); err == nil {
			t.Errorf("%s: %d bytes were taken", what, len(a.Body))
		}
	}
}

func TestBombsStopAtTheBound(t *testing.T) {
	zeros := make([]byte, 8<<20)
	for _, codings := range [][]string{nil, {"gzip"}, {"br"}, {"zstd"}, {"gzip", "gzip"}, {"br", "zstd"}} {
		raw := answer(strings.Join(codings, ", "), pack(t, zeros, codings...))
		_, err := get(t, saying(t, raw), client.Request{Max: 1 << 20})
		if !errors.Is(err, courant.Invalid) || !strings.HasPrefix(err.Error(), "too_large") {
			t.Errorf("%v: %v", codings, err)
		}
	}
}

func TestAnAnswerOfExactlyTheBoundIsTaken(t *testing.T) {
	a, err := get(t, saying(t, answer("gzip", pack(t, make([]byte, 1<<20), "gzip"))), client.Request{Max: 1 << 20})
	if err != nil || len(a.Body) != 1<<20 {
		t.Errorf("got %v", err)
	}
}

func TestAnEndlessBodyStopsAtTheBound(t *testing.T) {
	c := scripted(t, func(w io.Writer, _ *http.Request) bool {
		_, err := io.WriteString(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for err == nil {
			_, err = fmt.Fprintf(w, "%x\r\n%s\r\n", 1<<14, make([]byte, 1<<14))
		}
		return false
	})
	if _, err := get(t, c, client.Request{}); !errors.Is(err, courant.Invalid) {
		t.Errorf("got %v", err)
	}
}

func TestAnAnswerThatIsNotWholeIsAnError(t *testing.T) {
	for what, raw := range map[string]string{
		"a body that is cut off":       "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello",
		"a chunk that is cut off":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhello",
		"a chunk without a length":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
		"no last chunk":                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
		"two lengths":                  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
		"a negative length":            "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
		"no header":                    "<html>hello</html>",
		"nothing":                      "",
		"a header of 300 KB":           "HTTP/1.1 200 OK\r\nX-Long: " + strings.Repeat("a", 300<<10) + "\r\n\r\n",
		"a header of 100,000 lines":    "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-A: b\r\n", 100_000) + "\r\n",
		"100,000 early hints":          strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 100_000) + "HTTP/1.1 200 OK\r\n\r\n",
		"a status that is no number":   "HTTP/1.1 abc OK\r\n\r\n",
		"a line feed in a header name": "HTTP/1.1 200 OK\r\nX\n-A: b\r\n\r\n",
	} {
		if a, err := get(t, saying(t, raw), client.Request{}); err == nil {
			t.Errorf("%s: status %d with %d bytes was taken", what, a.Status, len(a.Body))
		}
	}
}

func TestWhatFollowsABodyIsNotTheNextAnswer(t *testing.T) {
	c := scripted(t, func(w io.Writer, _ *http.Request) bool {
		io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nrightHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong")
		return true
	})
	for range 3 {
		if a, err := get(t, c, client.Request{}); err != nil || string(a.Body) != "right" {
			t.Fatalf("got %v, %v", a, err)
		}
	}
}

func TestSlowServersAreGivenUpInTime(t *testing.T) {
	for _, c := range []struct {
		what   string
		script func(w io.Writer)
		after  time.Duration
	}{
		{"no header", func(w io.Writer) { time.Sleep(time.Hour) }, 20 * time.Second},
		{"a header line every ten seconds", func(w io.Writer) {
			io.WriteString(w, "HTTP/1.1 200 OK\r\n")
			for {
				time.Sleep(10 * time.Second)
				if _, err := io.WriteString(w, "X-A: b\r\n"); err != nil {
					return
				}
			}
		}, 20 * time.Second},
		{"a byte every 200 ms", func(w io.Writer) {
			_, err := io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
			for err == nil {
				time.Sleep(200 * time.Millisecond)
				_, err = io.WriteString(w, "a")
			}
		}, time.Minute},
		{"gzip, a byte every second", func(w io.Writer) {
			_, err := io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08")
			for err == nil {
				time.Sleep(time.Second)
				_, err = io.WriteString(w, "\x00")
			}
		}, time.Minute},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := scripted(t, func(w io.Writer, _ *http.Request) bool {
					c.script(w)
					return false
				})
				start := time.Now()
				_, err := get(t, cl, client.Request{})
				if took := time.Since(start); err == nil || took > c.after {
					t.Errorf("after %v: %v", took, err)
				}
				cl.Close()
				time.Sleep(time.Hour) // the script ends
			})
		})
	}
}

func TestRetryAfterIsReadInBothForms(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 500, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, " 7 ": 7 * time.Second, "-5": 0, "0": 0, "soon": 0, "1.5": 0,
		"99999999999": 7 * 24 * time.Hour, "99999999999999999999999": 7 * 24 * time.Hour, "-99999999999999999999999": 0,
		"Fri, 02 Jan 2026 03:05:05 GMT":  time.Minute + time.Second - 500,
		"Friday, 02-Jan-26 03:05:05 GMT": time.Minute + time.Second - 500,
		"Thu, 01 Jan 2026 00:00:00 GMT":  0,
		"Fri, 02 Jan 2099 03:05:05 GMT":  7 * 24 * time.Hour,
	} {
		if got := client.RetryAfter(value, now); got != want {
			t.Errorf("%q: got %v, want %v", value, got, want)
		}
	}
}

func TestOfTwoRetryAfterTheLongerCounts(t *testing.T) {
	raw := "HTTP/1.1 503 Busy\r\nRetry-After: 5\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n"
	if a, err := get(t, saying(t, raw), client.Request{}); err != nil || a.RetryAfter != time.Minute {
		t.Errorf("got %+v, %v", a, err)
	}
}

func TestALocationLeadsOnOnlyWhereTheStatusSaysSo(t *testing.T) {
	for status, leads := range map[int]bool{201: false, 300: true, 301: true, 302: true, 303: true, 304: false, 305: false, 307: true, 308: true} {
		raw := fmt.Sprintf("HTTP/1.1 %d Status\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n", status)
		if a, err := get(t, saying(t, raw), client.Request{}); err != nil || (a.Location != "") != leads {
			t.Errorf("%d: got %+v, %v", status, a, err)
		}
	}
}

func TestNoRedirectIsFollowedAndItsTargetIsAbsolute(t *testing.T) {
	for location, want := range map[string]string{
		"/b?c#d":               "http://site.example/b?c",
		"c":                    "http://site.example/a/c",
		"https://other.test/x": "https://other.test/x",
		"//other.test/x":       "http://other.test/x",
		"javascript:alert(1)":  "javascript:alert(1)",
		"":                     "",
		"http://[":             "",
	} {
		asked := 0
		c := scripted(t, func(w io.Writer, _ *http.Request) bool {
			asked++
			fmt.Fprintf(w, "HTTP/1.1 301 Moved\r\nContent-Length: 0\r\nLocation: %s\r\n\r\n", location)
			return true
		})
		a, err := get(t, c, client.Request{URL: "http://site.example/a/b"})
		if err != nil || a.Location != want || asked != 1 {
			t.Errorf("%q: got %+v, %v, asked %d times", location, a, err, asked)
		}
	}
}

func TestAnAnswerOfAnyStatusIsNoError(t *testing.T) {
	for _, status := range []int{204, 304, 400, 403, 404, 410, 429, 500, 503, 599} {
		raw := "HTTP/1.1 " + strconv.Itoa(status) + " Status\r\nRetry-After: 60\r\nEtag: \"a\"\r\nContent-Type: text/x\r\nLast-Modified: Fri\r\nContent-Length: 0\r\n\r\n"
		a, err := get(t, saying(t, raw), client.Request{})
		if err != nil || a.Status != status || a.RetryAfter != time.Minute || a.ETag != `"a"` || a.Modified != "Fri" || a.Type != "text/x" || a.Body != nil {
			t.Errorf("%d: got %+v, %v", status, a, err)
		}
	}
}

func TestTheRequestSaysWhoAsksAndWhatWeHave(t *testing.T) {
	var got http.Header
	c := scripted(t, func(w io.Writer, r *http.Request) bool {
		got = r.Header
		io.WriteString(w, "HTTP/1.1 304 Not Modified\r\n\r\n")
		return true
	})
	if _, err := get(t, c, client.Request{ETag: `W/"x"`, Modified: "Fri, 02 Jan 2026 03:04:05 GMT", Accept: "text/xml"}); err != nil {
		t.Fatal(err)
	}
	want := http.Header{"User-Agent": {"courant/test"}, "Accept": {"text/xml"}, "Accept-Encoding": {"gzip, br, zstd"},
		"If-None-Match": {`W/"x"`}, "If-Modified-Since": {"Fri, 02 Jan 2026 03:04:05 GMT"}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("sent %v, want %v", got, want)
	}
	if _, err := get(t, c, client.Request{}); err != nil {
		t.Fatal(err)
	}
	if got.Get("If-None-Match") != "" || got.Get("If-Modified-Since") != "" {
		t.Errorf("validators of nothing were sent: %v", got)
	}
}

func TestAConnectionIsUsedAgain(t *testing.T) {
	dialled := 0
	c := scripted(t, func(w io.Writer, r *http.Request) bool {
		if r.Header.Get("If-None-Match") == "" {
			dialled++
		}
		io.WriteString(w, "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nsorry")
		return true
	})
	for i := range 5 {
		tag := ""
		if i > 0 {
			tag = "again"
		}
		if _, err := get(t, c, client.Request{ETag: tag}); err != nil {
			t.Fatal(err)
		}
	}
	if dialled != 1 {
		t.Errorf("%d connections", dialled)
	}
}

func TestARequestIsSentOnceAlsoWhereAConnectionIsLost(t *testing.T) {
	const idle = 2
	var asked atomic.Int64
	together := make(chan struct{})
	c := scripted(t, func(w io.Writer, r *http.Request) bool {
		if asked.Add(1) == idle {
			close(together)
		}
		if r.URL.Path != "/first" {
			return false
		}
		<-together // so that each has a connection of its own
		io.WriteString(w, "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nsorry")
		return true
	})
	var all sync.WaitGroup
	for range idle {
		all.Go(func() {
			if _, err := get(t, c, client.Request{URL: "http://site.example/first"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for n := range idle {
		if _, err := get(t, c, client.Request{URL: "http://site.example/next"}); !errors.Is(err, client.Lost) || asked.Load() != int64(idle+n+1) {
			t.Fatalf("request %d: got %v after %d requests", n, err, asked.Load())
		}
	}
	if _, err := get(t, c, client.Request{URL: "http://site.example/next"}); err == nil || errors.Is(err, client.Lost) {
		t.Errorf("on a new connection: got %v", err)
	}
}

func TestTheKindOfAFailureIsReported(t *testing.T) {
	for _, c := range []struct {
		dial error
		kind error
	}{
		{&net.DNSError{Err: "no such host", Name: "site.example", IsNotFound: true}, courant.NotFound},
		{context.DeadlineExceeded, courant.Busy},
	} {
		cl, err := client.New(client.Config{Guard: &guard.Guard{}, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, c.dial }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := get(t, cl, client.Request{}); !errors.Is(err, c.kind) {
			t.Errorf("%v: got %v", c.dial, err)
		}
	}
}

func TestAnUntrustedCertificateIsRefused(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it logs our refusal
	s.StartTLS()
	defer s.Close()
	c, err := client.New(client.Config{Guard: &guard.Guard{}, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.Listener.Addr().String())
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := get(t, c, client.Request{URL: "https://site.example/"}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v", err)
	}
}

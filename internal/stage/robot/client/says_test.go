package client_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant/internal/kit/guard"
	"github.com/courant-platform/courant/internal/stage/robot/client"
)

func TestHowLongAnAnswerStaysFresh(t *testing.T) {
	const date = "Date: Fri, 02 Jan 2026 12:00:00 GMT\r\n"
	for header, want := range map[string]time.Duration{
		"":                              0,
		"Cache-Control: max-age=60\r\n": time.Minute,
		"Cache-Control: public, Max-Age=\"60\"\r\n":   time.Minute,
		"Cache-Control: max-age=60\r\nAge: 45\r\n":    15 * time.Second,
		"Cache-Control: max-age=60\r\nAge: 99\r\n":    0,
		"Cache-Control: max-age=60\r\nAge: -9\r\n":    time.Minute,
		"Cache-Control: no-cache, max-age=60\r\n":     0,
		"Cache-Control: no-store\r\n":                 0,
		"Cache-Control: max-age=x\r\n":                0,
		"Cache-Control: max-age=-5\r\n":               0,
		"Cache-Control: max-age=99999999999999\r\n":   client.MostFresh,
		"Cache-Control: s-maxage=60\r\n":              0,
		"Expires: Fri, 02 Jan 2026 13:00:00 GMT\r\n":  time.Hour,
		"Expires: Fri, 02 Jan 2026 11:00:00 GMT\r\n":  0,
		"Expires: Fri, 02 Jan 2099 11:00:00 GMT\r\n":  client.MostFresh,
		"Expires: 0\r\n":                              0,
		"Cache-Control: max-age=60\r\nExpires: 0\r\n": time.Minute,
	} {
		a, err := get(t, saying(t, "HTTP/1.1 304 Not Modified\r\n"+date+header+"\r\n"), client.Request{})
		if err != nil || a.Fresh != want {
			t.Errorf("%q: %v %v, want %v", header, a, err, want)
		}
	}
}

func TestRetryAfterIsByTheServersClock(t *testing.T) {
	a, err := get(t, saying(t, "HTTP/1.1 503 Busy\r\nDate: Fri, 02 Jan 1998 12:00:00 GMT\r\nRetry-After: Fri, 02 Jan 1998 12:05:00 GMT\r\nContent-Length: 0\r\n\r\n"), client.Request{})
	if err != nil || a.RetryAfter < 5*time.Minute || a.RetryAfter > 5*time.Minute+time.Second {
		t.Errorf("%+v %v", a, err)
	}
}

func TestBotWallsAreRecognised(t *testing.T) {
	for _, c := range []struct {
		status       int
		header, body string
		want         string
	}{
		{403, "Cf-Mitigated: challenge\r\n", "<html>checking</html>", "Cloudflare"},
		{503, "Server: cloudflare\r\n", "<html><head><title>Just a moment...</title>", "Cloudflare"},
		{403, "Server: AkamaiGHost\r\n", "<TITLE>Access Denied</TITLE>", "Akamai"},
		{403, "", "Request unsuccessful. Incapsula incident ID: 1", "Imperva"},
		{405, "X-Amzn-Waf-Action: captcha\r\n", "", "AWS WAF"},
		{403, "Server: cloudflare\r\n", "forbidden", ""},
		{404, "Cf-Mitigated: challenge\r\n", "", ""},
		{403, "", strings.Repeat("x", 1<<20), ""},
	} {
		raw := fmt.Sprintf("HTTP/1.1 %d X\r\n%sContent-Length: %d\r\n\r\n%s", c.status, c.header, len(c.body), c.body)
		a, err := get(t, saying(t, raw), client.Request{})
		if err != nil || a.Wall != c.want {
			t.Errorf("%d %q: %+v %v", c.status, c.header, a, err)
		}
	}
}

func TestTextWithAnInvalidContentEncodingIsAccepted(t *testing.T) {
	for _, text := range []string{"<rss/>", "\ufeff <?xml version='1.0'?><rss/>", `{"version":"https://jsonfeed.org/version/1.1"}`} {
		a, err := get(t, saying(t, answer("utf-8", []byte(text))), client.Request{})
		if err != nil || string(a.Body) != text {
			t.Errorf("%q: %+v %v", text, a, err)
		}
	}
}

func TestCookiesAreSentWhereTheyBelong(t *testing.T) {
	var got []string
	c := scripted(t, func(w io.Writer, r *http.Request) bool {
		got = append(got, r.Header.Get("Cookie"))
		w.Write([]byte("HTTP/1.1 302 Found\r\nLocation: /next\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n"))
		return true
	})
	jar, _ := cookiejar.New(nil)
	jar.SetCookies(&url.URL{Scheme: "http", Host: "site.example", Path: "/"}, []*http.Cookie{{Name: "a", Value: "1"}})
	a, err := get(t, c, client.Request{Jar: jar})
	if err != nil || len(a.Cookies) != 1 || a.Cookies[0].Name != "b" {
		t.Errorf("%+v %v", a, err)
	}
	get(t, c, client.Request{URL: "http://other.example/", Jar: jar})
	get(t, c, client.Request{})
	if fmt.Sprint(got) != "[a=1  ]" {
		t.Errorf("sent %q", got)
	}
}

func TestANameIsLookedUpOnceAMinuteAndMayMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		c, err := client.New(client.Config{Guard: &guard.Guard{}, Lookup: func(context.Context, string, string) ([]netip.Addr, error) {
			time.Sleep(10 * time.Millisecond)
			if asked.Add(1) > 2 {
				return nil, &net.DNSError{Err: "no such host", Name: "moving.example", IsNotFound: true}
			}
			return []netip.Addr{netip.MustParseAddr(fmt.Sprintf("10.0.0.%d", asked.Load()))}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		ask := func(want string) {
			t.Helper()
			_, err := c.Get(t.Context(), client.Request{URL: "http://moving.example/"})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { ask("10.0.0.1 is not a public one") })
		}
		all.Wait()
		time.Sleep(59 * time.Second)
		ask("10.0.0.1")
		time.Sleep(2 * time.Second)
		ask("10.0.0.2") // the guard sees each address that is dialled
		time.Sleep(61 * time.Second)
		ask("host moving.example not found")
		ask("host moving.example not found")
		if n := asked.Load(); n != 3 {
			t.Errorf("looked up %d times", n)
		}
	})
}

func TestABodyThatStopsComingIsGivenUpAndASlowOneIsNot(t *testing.T) {
	for gap, want := range map[time.Duration]string{10 * time.Second: "", 16 * time.Second: "no data for 15s"} {
		synctest.Test(t, func(t *testing.T) {
			c := scripted(t, func(w io.Writer, _ *http.Request) bool {
				io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
				for range 5 {
					time.Sleep(gap)
					if _, err := io.WriteString(w, "x"); err != nil {
						return false
					}
				}
				return true
			})
			_, err := get(t, c, client.Request{Timeout: time.Hour})
			if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
				t.Errorf("a byte every %v: %v", gap, err)
			}
			c.Close()
			time.Sleep(time.Minute) // its server ends
		})
	}
}

func TestACatalogueThatUnpacksToAThousandTimesItsSizeIsRefused(t *testing.T) {
	keep := func(r io.Reader) error {
		_, err := io.Copy(io.Discard, r)
		return err
	}
	for _, coding := range []string{"gzip", "br", "zstd"} {
		raw := answer(coding, pack(t, make([]byte, 18<<20), coding))
		_, err := get(t, saying(t, raw), client.Request{Max: 1 << 30, Keep: keep})
		if err == nil || !strings.HasPrefix(err.Error(), "too_large: it unpacks") {
			t.Errorf("%s: %v", coding, err)
		}
	}
	text := bytes.Repeat([]byte("<offer id=\"1\"><name>A phone, black, 64 GB</name></offer>\n"), 320_000)
	for i := range 180_000 {
		text[i*100] = byte(i) // less repetitive, like real text
	}
	if _, err := get(t, saying(t, answer("gzip", pack(t, text, "gzip"))), client.Request{Max: 1 << 30, Keep: keep}); err != nil {
		t.Error(err)
	}
}

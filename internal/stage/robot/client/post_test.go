package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/guard"
	"github.com/courant-platform/courant/internal/stage/robot/client"
)

func TestAFormIsPostedAndTheAnswerKeptInPart(t *testing.T) {
	c := scripted(t, func(w io.Writer, r *http.Request) bool {
		body, err := io.ReadAll(r.Body)
		text := fmt.Sprint(r.Method, " ", r.Header.Get("Content-Type"), " ", r.Header.Get("User-Agent"), " ", string(body), err) + strings.Repeat(".", 5000)
		fmt.Fprintf(w, "HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\nRetry-After: 7\r\n\r\n%s", len(text), text)
		return true
	})
	a, err := c.Post(t.Context(), "http://hub.example/", url.Values{"hub.mode": {"subscribe"}, "hub.topic": {"http://a.example/?a&b"}})
	if err != nil {
		t.Fatal(err)
	}
	want := "POST application/x-www-form-urlencoded courant/test hub.mode=subscribe&hub.topic=http%3A%2F%2Fa.example%2F%3Fa%26b<nil>..."
	if a.Status != 400 || a.RetryAfter.Seconds() != 7 || len(a.Body) != 1024 || !strings.HasPrefix(string(a.Body), want) {
		t.Errorf("%d after %v: %.200s", a.Status, a.RetryAfter, a.Body)
	}
}

func TestAFormGoesOnlyWhereTheGuardLets(t *testing.T) {
	c := scripted(t, func(io.Writer, *http.Request) bool {
		t.Error("it was sent")
		return false
	})
	for _, address := range []string{"http://127.0.0.1/", "http://169.254.169.254/", "ftp://hub.example/", "http://hub.example:22/", "http://u:p@hub.example/"} {
		if _, err := c.Post(t.Context(), address, url.Values{}); !errors.Is(err, courant.Forbidden) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestNearIsWhatCanReachThisMachine(t *testing.T) {
	c, err := client.New(client.Config{Guard: &guard.Guard{Allow: []guard.Exempt{{Prefix: netip.MustParsePrefix("10.1.0.0/16")}}}})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{"http://127.0.0.1:99/hub": true, "http://[::1]/": true, "http://localhost/": true, "http://10.1.2.3/": true,
		"http://10.2.2.3/": false, "http://hub.example/": false, "http://localhost.example/": false, ":": false} {
		if got := c.Near(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

package app

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/stage/robot/explain"
)

func TestAFetcherUsesTheHostStateOfARunningRobot(t *testing.T) {
	const host = `[{"origin":"http://a.example","next":"2026-01-02T03:04:05Z","reason":"the server answered 503","pace":"2s",
		"domain":{"next":"2026-01-02T03:04:06Z","reason":"a limit"},"robots":{"status":%d,"until":"2026-01-02T03:04:07Z"}}]`
	status := http.StatusServiceUnavailable
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token" || r.URL.Query().Get("host") != "http://a.example" {
			web.FailWith(w, http.StatusNotFound, "nothing is known of it")
			return
		}
		fmt.Fprintf(w, host, status)
	}))
	defer server.Close()
	running, err := Running(server.URL, "token", "")
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFetcher(t.Context(), Defaults(), running)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := explain.State{Pace: 2 * time.Second, Host: explain.Rest{Until: at, Why: "the server answered 503"},
		Domain: explain.Rest{Until: at.Add(time.Second), Why: "a limit"}, NoRobots: at.Add(2 * time.Second)}
	if got, err := f.Known(t.Context(), "http://a.example"); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	status, want.NoRobots = http.StatusOK, time.Time{}
	if got, err := f.Known(t.Context(), "http://a.example"); err != nil || got != want {
		t.Errorf("with a robots.txt: %+v, %v; want %+v", got, err, want)
	}
	if got, err := f.Known(t.Context(), "http://b.example"); err != nil || got != (explain.State{}) {
		t.Errorf("a host that it does not know: %+v, %v", got, err)
	}
}

func TestAFetcherUsesTheSettingsOfARunningRobot(t *testing.T) {
	theirs := Defaults()
	theirs.Robot.UserAgent, theirs.Robot.Gap, theirs.Robot.AllowAddresses = "theirs/1", setting.Duration(7*time.Second), []string{"10.0.0.1:80"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/config" {
			t.Errorf("asked for %s", r.URL)
		}
		text, err := theirs.Text()
		if err != nil {
			t.Error(err)
		}
		fmt.Fprint(w, text, "\n[new]\nkey = 1\n")
	}))
	defer server.Close()
	running, err := Running(server.URL, "token", "")
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFetcher(t.Context(), Defaults(), running)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.UserAgent != "theirs/1" || f.Gap != 7*time.Second || len(f.Guard.Allow) != 1 {
		t.Errorf("%s, %v, %v", f.UserAgent, f.Gap, f.Guard.Allow)
	}
	theirs.Robot.Proxy = "http://user:secret@proxy.example:3128"
	if _, err := NewFetcher(t.Context(), Defaults(), running); !errors.Is(err, courant.Forbidden) || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	same := Defaults()
	same.Robot.Proxy = theirs.Robot.Proxy
	if f, err := NewFetcher(t.Context(), same, running); err != nil || f.Gap != 7*time.Second {
		t.Errorf("with the password of one's own: %v", err)
	}
}

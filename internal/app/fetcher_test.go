package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

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
	f, err := NewFetcher(Defaults(), running)
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

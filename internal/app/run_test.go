package app_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/app"
	"github.com/courant-platform/courant/internal/desk"
	"github.com/courant-platform/courant/internal/front/api"
)

// config is a configuration with a free port that logs only errors.
func config() app.Config {
	c := app.Defaults()
	c.HTTP.Listen, c.Log.Level = "127.0.0.1:0", "error"
	return c
}

// written is a buffer for concurrent writers.
type written struct {
	// mu guards out.
	mu  sync.Mutex
	out bytes.Buffer
}

func (w *written) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(b)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.String()
}

// start runs the platform over a folder until stop, and returns how to reach it.
func start(t *testing.T, dir string) (r *app.Remote, said string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	out := &written{}
	go func() { done <- app.Run(ctx, config(), app.Options{Data: dir, Out: out}) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the platform ended with %v", err)
		}
	})
	t.Cleanup(stop)
	deadline := time.After(30 * time.Second)
	for {
		if _, err := os.Stat(filepath.Join(dir, "run.json")); err == nil && ready(t, out.String()) {
			break
		}
		select {
		case err := <-done:
			done <- nil
			t.Fatalf("it did not start: %v", err)
		case <-deadline:
			t.Fatal("it does not start")
		case <-time.After(5 * time.Millisecond):
		}
	}
	r, err := app.Connect(t.Context(), "", "", dir, config())
	if err != nil {
		t.Fatal(err)
	}
	return r, out.String(), stop
}

// ready says whether the platform serves, once it has printed its greeting.
func ready(t *testing.T, said string) bool {
	base := baseOf(said)
	if base == "" {
		return false
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/readyz", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// baseOf is the address in a greeting, "" if there is none yet.
func baseOf(said string) string {
	_, rest, ok := strings.Cut(said, "http://")
	base, _, whole := strings.Cut(rest, "/")
	if !ok || !whole {
		return ""
	}
	return "http://" + base
}

func TestThePlatformStartsAnswersAndStops(t *testing.T) {
	dir := t.TempDir()
	r, said, stop := start(t, dir)
	if !r.Running || !strings.Contains(said, "http://127.0.0.1:") {
		t.Errorf("it said %q", said)
	}
	var added desk.Added
	if err := r.Do(t.Context(), http.MethodPost, "/api/v1/sources", desk.NewSource{URL: "http://a.invalid/feed"}, &added); err != nil {
		t.Fatal(err)
	}
	if err := r.Do(t.Context(), http.MethodGet, "/api/v1/sources/none", nil, nil); !errors.Is(err, courant.NotFound) {
		t.Errorf("the kind of a problem is lost: %v", err)
	}
	stop()
	if _, err := os.Stat(filepath.Join(dir, "run.json")); err == nil {
		t.Error("the session outlives the process")
	}
	// without a running one the command opens the folder itself
	local, err := app.Connect(t.Context(), "", "", dir, config())
	if err != nil || local.Running {
		t.Fatalf("got %+v, %v", local, err)
	}
	defer local.Close()
	var all []api.SourceState
	if err := local.Do(t.Context(), http.MethodGet, "/api/v1/sources", nil, &all); err != nil || len(all) != 1 || all[0].URL != "http://a.invalid/feed" {
		t.Errorf("got %+v, %v", all, err)
	}
}

func TestTheFirstTokenIsShownOnce(t *testing.T) {
	dir := t.TempDir()
	_, said, stop := start(t, dir)
	stop()
	_, again, _ := start(t, dir)
	if !strings.Contains(said, "courant_") || strings.Contains(again, "courant_") {
		t.Errorf("first %q, then %q", said, again)
	}
}

func TestASecondStartSaysWhoHoldsTheFolder(t *testing.T) {
	dir := t.TempDir()
	_, said, _ := start(t, dir)
	err := app.Run(t.Context(), config(), app.Options{Data: dir, Out: io.Discard})
	if !errors.Is(err, courant.Conflict) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{dir, fmt.Sprint("process ", os.Getpid()), baseOf(said), "--data"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %s", err, want)
		}
	}
}

func TestAnAddressInUseIsNamed(t *testing.T) {
	_, said, _ := start(t, t.TempDir())
	c := config()
	c.HTTP.Listen = strings.TrimPrefix(baseOf(said), "http://")
	err := app.Run(t.Context(), c, app.Options{Data: t.TempDir(), Out: io.Discard})
	if !errors.Is(err, courant.Conflict) || !strings.Contains(err.Error(), c.HTTP.Listen) || !strings.Contains(err.Error(), "--listen") {
		t.Errorf("got %v", err)
	}
}

func TestOnlyTheOwnerCanReadTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	start(t, dir)
	for _, name := range []string{"", "run.json", "lock"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			t.Errorf("%s/%s has the mode %o", dir, name, mode)
		}
	}
}

func TestTheSessionOfADeadProcessIsNotTrusted(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"run.json": `{"pid":1,"address":"http://127.0.0.1:1","token":"x"}`, "lock": "process 1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := app.Connect(t.Context(), "", "", dir, config())
	if err != nil || r.Running {
		t.Fatalf("got %+v, %v", r, err)
	}
	r.Close()
}

func TestWithoutAFolderTheCommandSaysHowToStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	_, err := app.Connect(t.Context(), "", "", dir, config())
	if !errors.Is(err, courant.NotFound) || !strings.Contains(err.Error(), "courant run") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a question made a folder")
	}
	if _, err := app.Connect(t.Context(), "nonsense", "", dir, config()); !errors.Is(err, courant.Invalid) {
		t.Errorf("a server that is no address: %v", err)
	}
}

func TestWhatIsPublicAndWhatNeedsAToken(t *testing.T) {
	_, said, _ := start(t, t.TempDir())
	for path, status := range map[string]int{
		"/": 200, "/healthz": 200, "/readyz": 200, "/api/v1/pages": 200, "/page?url=http://a.invalid/": 404,
		"/metrics": 401, "/debug/pprof/": 401, "/debug/pprof/profile": 401, "/api/v1/sources": 401, "/api/v1/story?url=x": 401, "/nothing": 404,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, baseOf(said)+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != status {
			t.Errorf("%s: %s, want %d", path, resp.Status, status)
		}
		r.Host = "evil.example"
		if resp, err = http.DefaultClient.Do(r); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if probe := path == "/healthz" || path == "/readyz"; (resp.StatusCode == http.StatusMisdirectedRequest) == probe {
			t.Errorf("%s under another name: %s", path, resp.Status)
		}
	}
}

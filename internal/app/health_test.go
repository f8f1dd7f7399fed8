package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/sqlite"
)

// patient is a driver whose calls fail as told, or hang until released.
type patient struct {
	store.Driver
	fail error
	hang chan struct{} // nil if calls do not hang
}

func (p *patient) Read(ctx context.Context, one bool, f func(store.Conn) error) error {
	if p.hang != nil {
		<-p.hang // whatever ctx says
	}
	return p.Driver.Read(ctx, one, f)
}

func (p *patient) Write(ctx context.Context, soon bool, f func(store.Conn) error) error {
	if p.fail != nil {
		return p.fail
	}
	return p.Driver.Write(ctx, soon, f)
}

func sick(t *testing.T) (*patient, *health) {
	t.Helper()
	d, err := sqlite.Open(t.Context(), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	p := &patient{Driver: d}
	s, err := store.Open(t.Context(), p, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return p, &health{store: s, serves: true}
}

// ready asks for /readyz and returns the status, and the state or the text.
func ready(t *testing.T, h *health, query string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz"+query, nil))
	if w.Code == http.StatusOK {
		return w.Code, w.Body.String()
	}
	var p struct{ State, Detail string }
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Detail == "" || w.Header().Get("Retry-After") == "" {
		t.Errorf("%s: %v, %v", w.Body, w.Header(), err)
	}
	return w.Code, p.State
}

func TestTheStateOfAProcessIsToldInAWord(t *testing.T) {
	p, h := sick(t)
	if code, text := ready(t, h, ""); code != 200 || text != "ready\n" {
		t.Errorf("well: %d %q", code, text)
	}
	for state, err := range map[string]error{
		"store": errors.Join(courant.Busy, errors.New("connection refused")), "readonly": errors.Join(store.ErrReadOnly, courant.Busy), "full": errors.Join(store.ErrFull, courant.Busy),
	} {
		p.fail = err
		if code, got := ready(t, h, ""); code != 503 || got != state {
			t.Errorf("%v: %d %q, want %q", err, code, got, state)
		}
	}
	p.fail = nil
	if code, text := ready(t, h, ""); code != 200 {
		t.Errorf("well again: %d %q", code, text)
	}
	building := true
	h.building = func() bool { return building }
	if code, text := ready(t, h, ""); code != 200 || !strings.Contains(text, "building") {
		t.Errorf("a process that serves pages: %d %q", code, text)
	}
	if code, state := ready(t, h, "?role=search"); code != 503 || state != "building" {
		t.Errorf("for the search: %d %q", code, state)
	}
	h.serves = false
	if code, state := ready(t, h, ""); code != 503 || state != "building" {
		t.Errorf("a process that serves no pages: %d %q", code, state)
	}
	building = false
	h.more = append(h.more, func(context.Context) error { return errors.New("shard 3 has no replica") })
	if code, state := ready(t, h, ""); code != 503 || state != "search" {
		t.Errorf("a shard without a replica: %d %q", code, state)
	}
}

func TestDamageIsRememberedForAWhile(t *testing.T) {
	p, h := sick(t)
	p.fail = errors.Join(store.ErrDamaged, errors.New("malformed"))
	h.store.Write(t.Context(), func(*store.Tx) error { return nil })
	p.fail = nil
	if code, state := ready(t, h, ""); code != 503 || state != "damaged" {
		t.Errorf("%d %q", code, state)
	}
}

func TestAStoreThatHangsDoesNotHoldUpTheAnswer(t *testing.T) {
	p, h := sick(t)
	p.hang = make(chan struct{})
	began := time.Now()
	for range 3 { // the second and the third wait for the probe of the first
		if code, state := ready(t, h, ""); code != 503 || state != "store" {
			t.Errorf("%d %q", code, state)
		}
	}
	if took := time.Since(began); took < 3*patience {
		t.Errorf("it waited %v in all: it asked for nothing", took)
	}
	close(p.hang)
	for range 100 {
		if code, _ := ready(t, h, ""); code == 200 {
			return
		}
		time.Sleep(10 * time.Millisecond) // the probe ends in a goroutine of its own
	}
	t.Error("it is not ready again")
}

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/store"
)

// States of a process that is not ready, one word each for load balancers and scripts.
const (
	stateStore    = "store"    // the store does not answer, or only with errors
	stateFull     = "full"     // its disk is full
	stateDamaged  = "damaged"  // its file is
	stateReadOnly = "readonly" // it takes no changes
	stateBuilding = "building" // the search index is being built
	stateSearch   = "search"   // replicas of shards are missing
)

// health answers /readyz.
type health struct {
	store    *store.Store
	building func() bool // nil without an index in this process
	serves   bool        // pages, which need no index
	more     []func(context.Context) error

	// mu guards the fields below.
	mu      sync.Mutex
	running *probe // the one that runs; nil if none does
}

// probe is a question to the store.
type probe struct {
	done chan struct{} // closed at its end
	err  error         // valid then
}

func (p *Platform) newHealth() *health {
	h := &health{store: p.Store, serves: p.has("serve"), more: p.ready}
	if p.index != nil {
		h.building = p.index.Building
	}
	return h
}

// patience is how long /readyz waits for the store.
const patience = time.Second

// ServeHTTP answers 200 if the process is ready, otherwise 503 with the state in a word and
// the reason in a sentence. It answers within a second or so, whatever hangs. While only the
// search index is being built, a process that serves pages is ready, except for a request
// with role=search.
func (h *health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	state, err := h.state(r)
	switch {
	case err == nil:
		fmt.Fprintln(w, "ready")
	case state == stateBuilding && h.serves && r.URL.Query().Get("role") != "search":
		fmt.Fprintf(w, "ready\nsearch: %s\n", state)
	default:
		head := w.Header()
		head.Set("Content-Type", "application/problem+json")
		head.Set("Cache-Control", "no-store")
		head.Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		json.NewEncoder(w).Encode(struct {
			web.Problem
			State string `json:"state"`
		}{web.Problem{Title: http.StatusText(http.StatusServiceUnavailable), Status: http.StatusServiceUnavailable, Detail: err.Error()}, state}) // the client may have gone
	}
}

func (h *health) state(r *http.Request) (state string, err error) {
	if err := h.wait(r.Context()); err != nil {
		return stateOf(err), err
	}
	for _, ready := range h.more {
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		err := ready(ctx)
		cancel()
		if err != nil {
			return stateSearch, err
		}
	}
	if h.building != nil && h.building() {
		return stateBuilding, errors.New("the search index is being built")
	}
	return "", nil
}

func stateOf(err error) string {
	switch {
	case errors.Is(err, store.ErrFull):
		return stateFull
	case errors.Is(err, store.ErrDamaged):
		return stateDamaged
	case errors.Is(err, store.ErrReadOnly):
		return stateReadOnly
	}
	return stateStore
}

// wait waits for the end of a probe of the store, and begins one if none runs.
func (h *health) wait(ctx context.Context) error {
	h.mu.Lock()
	running := h.running
	if running == nil {
		running = &probe{done: make(chan struct{})}
		h.running = running
		go h.probe(context.WithoutCancel(ctx), running)
	}
	h.mu.Unlock()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-running.done:
		return running.err
	case <-late.C:
		return fmt.Errorf("the store has not answered for %v", patience)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// probe asks the store, for as long as the driver lets it.
func (h *health) probe(ctx context.Context, p *probe) {
	p.err = h.store.Healthy(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running = nil
	close(p.done)
}

package pages

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/courant-platform/courant/internal/flow"
)

// gather makes sets of the versions whose processing is asked for at the same time. It
// starts no goroutine: the caller of the first version of a set processes the set, and
// then leaves the next one to its first caller.
type gather struct {
	most    int                                                   // versions in a set
	leaders int                                                   // sets at once: while one commits, the next one is rendered
	process func(ctx context.Context, set []flow.Version) []error // one for each version

	// mu guards the fields below.
	mu    sync.Mutex
	busy  int // sets being processed
	queue []*request
	known map[string]bool // versions that are queued or being processed
}

// request is a caller that waits.
type request struct {
	version flow.Version
	err     error
	wake    chan []*request // the set that the caller processes; nil if its version has been processed
}

// do processes a version in a set. If that has been asked for already, it returns at
// once: should it fail, the sweep finds the row again.
func (g *gather) do(ctx context.Context, v flow.Version) error {
	r, key := &request{version: v}, name(v)
	g.mu.Lock()
	if g.known[key] {
		g.mu.Unlock()
		return nil
	}
	if g.known == nil {
		g.known = map[string]bool{}
	}
	g.known[key] = true
	defer g.forget(key)
	if g.busy < g.leaders {
		g.busy++
		g.mu.Unlock()
		g.lead(ctx, []*request{r})
		return r.err
	}
	r.wake = make(chan []*request, 1)
	g.queue = append(g.queue, r)
	g.mu.Unlock()
	if set := <-r.wake; set != nil {
		g.lead(ctx, set)
	}
	return r.err
}

func (g *gather) forget(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.known, key)
}

// name is the key of a version.
func name(v flow.Version) string { return fmt.Sprintf("%s %d %d", v.URL, v.Source, v.AsOf) }

// all processes versions at the same time.
func (g *gather) all(ctx context.Context, versions []flow.Version) error {
	errs := make([]error, len(versions))
	var all sync.WaitGroup
	for i, v := range versions {
		all.Go(func() { errs[i] = g.do(ctx, v) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// lead processes a set, whose first request is the caller's.
func (g *gather) lead(ctx context.Context, set []*request) {
	versions := make([]flow.Version, len(set))
	for i, r := range set {
		versions[i] = r.version
	}
	for i, err := range g.process(ctx, versions) {
		set[i].err = err
	}
	g.mu.Lock()
	if n := min(len(g.queue), g.most); n > 0 {
		next := append([]*request(nil), g.queue[:n]...)
		g.queue = append(g.queue[:0], g.queue[n:]...)
		next[0].wake <- next
	} else {
		g.busy--
	}
	g.mu.Unlock()
	for _, r := range set[1:] {
		r.wake <- nil
	}
}

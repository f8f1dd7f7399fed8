package pages

import (
	"context"
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
}

// request is a caller that waits.
type request struct {
	version flow.Version
	err     error
	wake    chan []*request // the set that the caller processes; nil if its version has been processed
}

// do processes a version in a set.
func (g *gather) do(ctx context.Context, v flow.Version) error {
	r := &request{version: v}
	g.mu.Lock()
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

// Package websub subscribes to the hubs that feeds name (W3C WebSub; hubs of
// PubSubHubbub 0.3 and 0.4 too), so that news arrive when they are published. It
// promises that a source is never worse off than without a hub: what a hub does
// not tell is found by polling.
package websub

import (
	"context"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/store"
)

// Config is the stage's section.
type Config struct {
	Subscribe bool             `toml:"subscribe" comment:"subscribe to the hubs that feeds name; needs http.public_url"`
	Lease     setting.Duration `toml:"lease" comment:"lease to request; the hub decides, within 1h to 30d"`
	Gap       setting.Duration `toml:"gap" comment:"minimum time between two requests to a hub's host"`
}

// Defaults are the working values.
func Defaults() Config {
	return Config{Subscribe: true, Lease: setting.Duration(10 * 24 * time.Hour), Gap: setting.Duration(100 * time.Millisecond)}
}

// Reply is what a hub answered.
type Reply struct {
	Status     int
	Location   string        // of a redirect, absolute
	RetryAfter time.Duration // 0 if it does not say
	Text       string        // the beginning of the body
}

// WebSub is the stage.
type WebSub struct {
	Store   *store.Store
	Blobs   blob.Bucket
	Config  Config
	Public  string // the address under which hubs reach us; "" if none is known
	Local   string // the one under which this machine does
	MaxFeed int64  // bytes of a body that a hub delivers
	// MinInterval is the least time between two polls of a source.
	MinInterval time.Duration
	// Post sends a form to a hub, by the rules of robot.
	Post func(ctx context.Context, address string, form url.Values) (Reply, error)
	// Near says whether a hub at the address can reach Local.
	Near    func(address string) bool
	Metrics *obs.Set
	Log     *slog.Logger

	start sync.Once
	wake  chan struct{}
	// mu guards busy and rest.
	mu   sync.Mutex
	busy map[string]bool      // hosts whose hub is being asked
	rest map[string]time.Time // hosts that are left alone, and until when

	slots  chan struct{} // of bodies that are in memory at once
	taking sync.Map      // subscriptions of which a body is being taken in
}

// How often is looked for what is due, at least and at most; how often for what
// feeds name and no bell announced; how many deliveries are taken in at once.
const (
	short      = 50 * time.Millisecond
	long       = 5 * time.Second
	sweepEvery = 30 * time.Second
	mostBodies = 16
)

// States of a subscription.
const (
	wanted  = "wanted"  // the hub has not been asked
	pending = "pending" // it has not verified
	active  = "active"
	denied  = "denied"  // it will be asked again, tomorrow
	leaving = "leaving" // it is to be ended
)

var states = []string{wanted, pending, active, denied, leaving}

// prepare sets up what a struct literal leaves empty.
func (w *WebSub) prepare() {
	w.start.Do(func() {
		w.wake, w.slots = make(chan struct{}, 1), make(chan struct{}, mostBodies)
		w.busy, w.rest = map[string]bool{}, map[string]time.Time{}
	})
}

// Handlers are what the stage wants to hear.
func (w *WebSub) Handlers() []bus.Handler {
	w.prepare()
	return []bus.Handler{flow.SourceChanged.Handle("websub", 1, w.changed)}
}

// changed looks at the hubs of a source that has been read.
func (w *WebSub) changed(ctx context.Context, p flow.Poll) error {
	fresh, err := w.reconcile(ctx, namedBy, subscribedBy, p.Source)
	if fresh {
		w.ring()
	}
	return err
}

func (w *WebSub) ring() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run keeps subscriptions until ctx ends; then it waits for the requests under way.
func (w *WebSub) Run(ctx context.Context) error {
	w.prepare()
	var running sync.WaitGroup
	defer running.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	swept := time.Time{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-w.wake:
		}
		if swept.IsZero() || time.Since(swept) >= sweepEvery {
			swept = time.Now()
			w.note(ctx, "hub sweep failed; retrying", w.sweep(ctx))
		}
		wait, err := w.look(ctx, &running)
		w.note(ctx, "hub requests not sent; retrying", err)
		timer.Reset(wait)
	}
}

func (w *WebSub) note(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		w.Log.Warn(what, "error", err)
	}
}

// look does what is due and returns the time until something else is, within
// bounds.
func (w *WebSub) look(ctx context.Context, running *sync.WaitGroup) (wait time.Duration, err error) {
	var due, owed int64
	err = w.Store.Read(ctx, func(r store.Reader) error { return r.Row(whatIsDue).Scan(&due, &owed) })
	if err == nil && owed > 0 {
		err = w.settle(ctx)
	}
	left := store.Time(due).Sub(w.Store.Now())
	if due == 0 || err != nil {
		return long, err
	}
	if left <= 0 {
		return long, w.turn(ctx, running)
	}
	return min(max(left, short), long), nil
}

// sweep compares what all feeds name with what is subscribed to, and counts.
func (w *WebSub) sweep(ctx context.Context) error {
	if _, err := w.reconcile(ctx, named, subscribed); err != nil {
		return err
	}
	count := map[string]int{}
	err := w.Store.Read(ctx, func(r store.Reader) error {
		return r.Rows(func(rows store.Rows) error {
			var state string
			var n int
			err := rows.Scan(&state, &n)
			count[state] = n
			return err
		}, countState)
	})
	if err != nil {
		return err
	}
	for _, s := range states {
		w.Metrics.Gauge("courant_websub_subscriptions", float64(count[s]), "state", s)
	}
	return nil
}

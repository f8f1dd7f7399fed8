// Package websub subscribes to the hubs that feeds name (W3C WebSub, and hubs of
// PubSubHubbub 0.3 and 0.4), so that news arrives when it is published. It
// promises that a source is never worse off than without a hub: polling finds what
// a hub does not announce.
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

// Defaults returns the default configuration.
func Defaults() Config {
	return Config{Subscribe: true, Lease: setting.Duration(10 * 24 * time.Hour), Gap: setting.Duration(100 * time.Millisecond)}
}

// Reply is a hub's response.
type Reply struct {
	Status     int
	Location   string        // of a redirect, absolute
	RetryAfter time.Duration // 0 without the header
	Text       string        // the beginning of the body
}

// WebSub is the stage.
type WebSub struct {
	Store   *store.Store
	Blobs   blob.Bucket
	Config  Config
	Public  string // base URL for hubs on the internet; "" if there is none
	Local   string // base URL for hubs on this machine
	MaxFeed int64  // largest body that a hub may deliver, in bytes
	// MinInterval is the minimum time between two polls of a source.
	MinInterval time.Duration
	// Post sends a form to a hub by the robot's rules.
	Post func(ctx context.Context, address string, form url.Values) (Reply, error)
	// Near reports whether a hub at the address can reach Local.
	Near    func(address string) bool
	Metrics *obs.Set
	Log     *slog.Logger

	start sync.Once
	wake  chan struct{}
	// mu guards busy, rest and bodies.
	mu     sync.Mutex
	busy   map[string]bool      // hosts of hubs with a request under way
	rest   map[string]time.Time // end of the back-off, by host
	bodies map[string]int       // bodies that are being received, by the host of the hub

	slots  chan struct{} // one per body in memory
	taking sync.Map      // subscriptions with a delivery under way
}

// The shortest and the longest time between two checks for due requests, the time
// between two sweeps for lost notifications, and how many deliveries are read at once.
const (
	short      = 50 * time.Millisecond
	long       = 5 * time.Second
	sweepEvery = 30 * time.Second
	mostBodies = 16
)

// States of a subscription.
const (
	wanted  = "wanted"  // no request sent yet
	pending = "pending" // requested, not yet verified
	active  = "active"
	denied  = "denied"  // requested again after a day
	leaving = "leaving" // to be ended
)

var states = []string{wanted, pending, active, denied, leaving}

// prepare sets up what a struct literal leaves empty.
func (w *WebSub) prepare() {
	w.start.Do(func() {
		w.wake, w.slots = make(chan struct{}, 1), make(chan struct{}, mostBodies)
		w.busy, w.rest = map[string]bool{}, map[string]time.Time{}
		w.bodies = map[string]int{}
	})
}

// Handlers returns the stage's handlers.
func (w *WebSub) Handlers() []bus.Handler {
	w.prepare()
	return []bus.Handler{flow.SourceChanged.Handle("websub", 1, w.changed)}
}

// changed reconciles the subscription of a source that has been parsed.
func (w *WebSub) changed(ctx context.Context, p flow.Poll) error {
	fresh, err := w.reconcile(ctx, namedBy, subscribedBy, p.Source)
	if fresh {
		w.notify()
	}
	return err
}

func (w *WebSub) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run maintains subscriptions until ctx ends; then it waits for the requests under way.
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

// look starts what is due and returns the time until more is due, within bounds.
func (w *WebSub) look(ctx context.Context, running *sync.WaitGroup) (wait time.Duration, err error) {
	var due, owed int64
	err = w.Store.Row(ctx, whatIsDue).Scan(&due, &owed)
	if err == nil && owed > 0 {
		err = w.settle(ctx)
	}
	left := store.Time(due).Sub(w.Store.Now())
	if due == 0 || err != nil {
		return long, err
	}
	if left <= 0 {
		return long, w.startDue(ctx, running)
	}
	return min(max(left, short), long), nil
}

// sweep reconciles all subscriptions with the hubs that feeds name, and counts them.
func (w *WebSub) sweep(ctx context.Context) error {
	if _, err := w.reconcile(ctx, named, subscribed); err != nil {
		return err
	}
	count := map[string]int{}
	err := w.Store.Rows(ctx, func(rows store.Rows) error {
		var state string
		var n int
		err := rows.Scan(&state, &n)
		count[state] = n
		return err
	}, countState)
	if err != nil {
		return err
	}
	for _, s := range states {
		w.Metrics.Gauge("courant_websub_subscriptions", float64(count[s]), "state", s)
	}
	return nil
}

// Package retain deletes rows that have been kept for long enough, so that every table
// has a bound. One process works at a time, under a lease. It deletes in transactions
// of a few hundred rows with pauses between them, so that no other writer waits for
// long, and finds the rows through an index, so that the cost does not grow with the
// table.
package retain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/store"
)

// Config is the stage's section. Ages are "forever" for what is never deleted.
type Config struct {
	Interval       setting.Duration `toml:"interval" comment:"time between two runs, which delete what has been kept for long enough; times below can be \"forever\""`
	Events         setting.Age      `toml:"events" comment:"how long the story of a document is kept"`
	Audit          setting.Age      `toml:"audit" comment:"how long the audit of changes is kept"`
	Clicks         setting.Age      `toml:"clicks" comment:"how long clicks on search results, and the numbers of queries that experiments compare them with, are kept"`
	WithdrawnItems setting.Age      `toml:"withdrawn_items" comment:"how long a withdrawn item or offer is remembered"`
	Media          setting.Age      `toml:"media" comment:"how long a picture is kept that no page shows"`
	Hosts          setting.Age      `toml:"hosts" comment:"how long robots.txt and pace of a host without sources are kept after its last use"`
}

const day = setting.Age(24 * time.Hour)

// Defaults returns the default configuration.
func Defaults() Config {
	return Config{Interval: setting.Duration(defaultInterval), Events: 90 * day, Audit: 400 * day, Clicks: 400 * day,
		WithdrawnItems: 180 * day, Media: 30 * day, Hosts: 30 * day}
}

// Retain is the stage.
type Retain struct {
	Store   *store.Store
	Blobs   blob.Bucket
	Config  Config
	Owner   string // this process, for the lease
	Metrics *obs.Set
	Log     *slog.Logger
}

const (
	defaultInterval = time.Hour
	startAfter      = 5 * time.Minute // a process that has just started has other work
	leaseName       = "retain"
	leaseTime       = time.Minute
	leaseRenew      = 20 * time.Second
)

// errLost ends a run whose lease another process has.
var errLost = errors.New("lease lost to another process")

// Run deletes old rows every Interval until ctx ends. The first run is some minutes
// after the start.
func (r *Retain) Run(ctx context.Context) error {
	every := r.Config.Interval.Or(defaultInterval)
	timer := time.NewTimer(min(every, startAfter))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		if err := r.Once(ctx); err != nil && ctx.Err() == nil {
			r.Log.Warn("old rows not deleted; retrying at the next run", "error", err)
		}
		timer.Reset(every)
	}
}

// Once is one run. It does nothing while another process has the lease.
func (r *Retain) Once(ctx context.Context) error {
	t := &turn{Retain: r, size: firstSize, deleted: map[string]int{}}
	if err := t.renew(ctx); errors.Is(err, errLost) {
		return nil
	} else if err != nil {
		return err
	}
	err := t.tick(ctx)
	if err == nil {
		err = t.run(ctx)
	}
	t.report()
	return err
}

// turn is one run.
type turn struct {
	*Retain
	now     time.Time // by which ages are measured: see tick
	epoch   int64     // of the lease; 0 before it is taken
	renewed time.Time // when the lease was taken or renewed last
	size    int       // rows deleted in the next transaction
	deleted map[string]int
}

// run applies all rules. The error of one does not stop the others, except for a lost
// lease.
func (t *turn) run(ctx context.Context) error {
	var steps []func(context.Context) error
	for _, rule := range agedRules {
		steps = append(steps, func(ctx context.Context) error { return t.aged(ctx, rule) })
	}
	for _, rule := range walkRules {
		steps = append(steps, func(ctx context.Context) error { return t.walk(ctx, rule) })
	}
	steps = append(steps, t.files, t.pictures)
	var errs []error
	for _, step := range steps {
		err := step(ctx)
		errs = append(errs, err)
		if ctx.Err() != nil || errors.Is(err, errLost) {
			break
		}
	}
	return errors.Join(errs...)
}

// hold takes or renews the lease in the transaction of a change.
func (t *turn) hold(tx *store.Tx) (epoch int64, err error) {
	l, err := tx.Take(leaseName, t.Owner, leaseTime)
	if err == nil && (l.Epoch == 0 || t.epoch != 0 && t.epoch != l.Epoch) {
		err = errLost
	}
	return l.Epoch, err
}

// write runs f in a transaction under the lease, and returns how long the transaction
// took from its beginning.
func (t *turn) write(ctx context.Context, f func(*store.Tx) error) (took time.Duration, err error) {
	var began time.Time
	var epoch int64
	err = t.Store.Write(ctx, func(tx *store.Tx) (err error) {
		began = time.Now()
		if epoch, err = t.hold(tx); err != nil {
			return err
		}
		return f(tx)
	})
	if err != nil {
		return 0, err
	}
	t.epoch, t.renewed = epoch, began
	return time.Since(began), nil
}

// renew renews the lease if it was not renewed lately.
func (t *turn) renew(ctx context.Context) error {
	if t.epoch != 0 && time.Since(t.renewed) < leaseRenew {
		return nil
	}
	_, err := t.write(ctx, func(*store.Tx) error { return nil })
	return err
}

func (t *turn) count(table string, n int) {
	t.deleted[table] += n
	if n > 0 {
		t.Metrics.Add("courant_retain_deleted_total", float64(n), "table", table)
	}
}

// report logs what a run deleted.
func (t *turn) report() {
	var parts []string
	for _, table := range slices.Sorted(maps.Keys(t.deleted)) {
		if n := t.deleted[table]; n > 0 {
			parts = append(parts, fmt.Sprint(table, " ", n))
		}
	}
	if len(parts) > 0 {
		t.Log.Info("old rows deleted", "rows", strings.Join(parts, ", "))
	}
}

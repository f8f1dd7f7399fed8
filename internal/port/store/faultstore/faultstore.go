// Package faultstore is the fault injector of the store: from a seed it makes
// transactions fail, some before and some after they have committed, which the caller
// cannot tell apart; and it can crash the process at any transaction.
package faultstore

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
)

// Driver injects faults into another driver. Rates are from 0 to 1.
type Driver struct {
	store.Driver
	Seed   uint64
	Before float64 // of transactions that fail and are rolled back
	After  float64 // of transactions that commit but report an error
	Crash  float64 // of transactions that crash the process, before or after the commit
	// OnCrash is called once when the process must end; from then on every call fails.
	OnCrash func()

	// mu guards rand, dead and blind.
	mu    sync.Mutex
	rand  *rand.Rand
	dead  bool
	blind bool
}

// Error returns the error of an injected fault, of kind courant.Busy.
func Error() error { return courant.Errorf(courant.Busy, "sabotaged transaction") }

type plan int

const (
	noFault plan = iota
	failBefore
	failAfter
	crashBefore
	crashAfter
)

func (d *Driver) draw() plan {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rand == nil {
		d.rand = rand.New(rand.NewPCG(d.Seed, 0))
	}
	if d.dead {
		return failBefore
	}
	switch x := d.rand.Float64(); {
	case x < d.Before:
		return failBefore
	case x < d.Before+d.After:
		return failAfter
	case x < d.Before+d.After+d.Crash:
		d.dead = true
		if d.rand.IntN(2) == 0 {
			return crashBefore
		}
		return crashAfter
	}
	return noFault
}

// Kill acts as if the process had crashed: every later call fails.
func (d *Driver) Kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead = true
}

// Dead reports whether the process has crashed.
func (d *Driver) Dead() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

// Write commits or fails, as drawn from the seed.
func (d *Driver) Write(ctx context.Context, soon bool, f func(store.Conn) error) error {
	p := d.draw()
	if p == noFault {
		return d.Driver.Write(ctx, soon, f)
	}
	if p == failAfter || p == crashAfter {
		if err := d.Driver.Write(ctx, soon, f); err != nil {
			return err
		}
	}
	if (p == crashBefore || p == crashAfter) && d.OnCrash != nil {
		d.OnCrash()
	}
	return Error()
}

// Blind makes all reads fail, or stops that.
func (d *Driver) Blind(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.blind = on
}

// Read fails while the driver is blind, and once the process has crashed.
func (d *Driver) Read(ctx context.Context, one bool, f func(store.Conn) error) error {
	d.mu.Lock()
	fails := d.dead || d.blind
	d.mu.Unlock()
	if fails {
		return Error()
	}
	return d.Driver.Read(ctx, one, f)
}

// Now fails once the process has crashed.
func (d *Driver) Now(ctx context.Context) (time.Time, error) {
	if d.Dead() {
		return time.Time{}, Error()
	}
	return d.Driver.Now(ctx)
}

// Close leaves the wrapped driver open for the next process.
func (d *Driver) Close() error { return nil }

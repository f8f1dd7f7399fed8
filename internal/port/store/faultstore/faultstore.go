// Package faultstore is the store's saboteur: from a seed it fails transactions
// before they commit, and after, when the caller cannot know; and it can end
// the process that uses it between any two of its steps.
package faultstore

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
)

// Driver sabotages another one. Rates are from 0 to 1.
type Driver struct {
	store.Driver
	Seed   uint64
	Before float64 // transactions that fail and leave nothing
	After  float64 // transactions that commit and yet report an error
	Crash  float64 // transactions at which the process ends: OnCrash is called once
	// OnCrash is told that the process must end; from then on every call fails.
	OnCrash func()

	// mu guards rand, dead and blind.
	mu    sync.Mutex
	rand  *rand.Rand
	dead  bool
	blind bool
}

// Error is what sabotage looks like to its victim.
func Error() error { return courant.Errorf(courant.Busy, "sabotaged transaction") }

type plan int

const (
	spare plan = iota
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
	return spare
}

// Kill ends the process that uses the driver: every later call fails.
func (d *Driver) Kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead = true
}

// Dead says whether the process has ended.
func (d *Driver) Dead() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

// Write commits, or not, as the seed wants.
func (d *Driver) Write(ctx context.Context, soon bool, f func(store.Conn) error) error {
	p := d.draw()
	if p == spare {
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

// Blind has all reads fail, or no longer.
func (d *Driver) Blind(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.blind = on
}

// Read fails while the driver is blind, and once the process has ended.
func (d *Driver) Read(ctx context.Context, f func(store.Conn) error) error {
	d.mu.Lock()
	fails := d.dead || d.blind
	d.mu.Unlock()
	if fails {
		return Error()
	}
	return d.Driver.Read(ctx, f)
}

// Now fails once the process has ended.
func (d *Driver) Now(ctx context.Context) (time.Time, error) {
	if d.Dead() {
		return time.Time{}, Error()
	}
	return d.Driver.Now(ctx)
}

// Close leaves the sabotaged driver open for the next process.
func (d *Driver) Close() error { return nil }

package store

import (
	"context"
	"sync/atomic"
	"time"
)

// clock is the driver's clock read without asking it each time: the offset to
// our monotonic clock is measured at the start and again by the relay. A step of
// this machine's clock is not seen where the store is the process's own; a step
// of a server's clock is followed.
type clock struct {
	start  time.Time
	offset atomic.Int64 // nanoseconds from our clock to the driver's
	last   atomic.Int64 // milliseconds
}

// smallStep is how far the clock is kept from running backwards: beyond, it was
// set, and time must go on from there.
const smallStep = time.Second

func (c *clock) set(ctx context.Context, d Driver) error {
	if c.start.IsZero() {
		c.start = time.Now()
	} else if d.Exclusive() {
		return nil
	}
	before := time.Since(c.start)
	theirs, err := d.Now(ctx)
	if err != nil {
		return err
	}
	middle := c.start.Round(0).Add((before + time.Since(c.start)) / 2)
	c.offset.Store(int64(theirs.Round(0).Sub(middle)))
	return nil
}

func (c *clock) now() time.Time {
	elapsed := time.Since(c.start) + time.Duration(c.offset.Load())
	now := c.start.Round(0).Add(elapsed).UnixMilli()
	for {
		last := c.last.Load()
		if now < last && last-now < smallStep.Milliseconds() {
			return time.UnixMilli(last)
		}
		if c.last.CompareAndSwap(last, now) {
			return time.UnixMilli(now)
		}
	}
}

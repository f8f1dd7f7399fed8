package store

import (
	"context"
	"sync/atomic"
	"time"
)

// clock is the driver's clock, read without a query each time: the offset to our
// monotonic clock is measured at the start and again by the relay. With an exclusive
// store, steps of this machine's clock have no effect until a restart; steps of a
// database server's clock are followed.
type clock struct {
	start  time.Time
	offset atomic.Int64 // nanoseconds from our clock to the driver's
	last   atomic.Int64 // milliseconds
}

// smallStep is up to how far back the clock stands still instead of running backwards.
// Beyond that the clock was set, and time goes on from there.
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

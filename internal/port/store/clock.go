package store

import (
	"context"
	"sync/atomic"
	"time"
)

// clock is the driver's clock read without asking it each time: the offset to
// our own is measured at the start and by the relay every minute. It never runs
// backwards within the process.
type clock struct {
	offset atomic.Int64 // nanoseconds
	last   atomic.Int64 // milliseconds
}

func (c *clock) set(ctx context.Context, d Driver) error {
	before := time.Now()
	theirs, err := d.Now(ctx)
	if err != nil {
		return err
	}
	middle := before.Add(time.Since(before) / 2)
	c.offset.Store(int64(theirs.Sub(middle)))
	return nil
}

func (c *clock) now() time.Time {
	now := time.Now().Add(time.Duration(c.offset.Load())).UnixMilli()
	for {
		last := c.last.Load()
		if now <= last {
			return time.UnixMilli(last)
		}
		if c.last.CompareAndSwap(last, now) {
			return time.UnixMilli(now)
		}
	}
}

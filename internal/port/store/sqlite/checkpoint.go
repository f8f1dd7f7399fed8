package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

// checkpointAfter is how long after a commit the WAL is copied into the database. The
// longer, the fewer copies of a page that changes often, and the longer each copying.
const checkpointAfter = time.Second

// checkpointer copies the WAL into the database while others read and write. Otherwise
// the commit after which the WAL has 64,000 pages would copy them all, and hold up every
// write for a quarter of a second. It still does if the copying falls that far behind.
type checkpointer struct {
	pool    *sql.DB
	changed chan struct{}
	stop    context.CancelFunc
	running sync.WaitGroup
}

// start starts the copying with a connection of its own, until close.
func (c *checkpointer) start(ctx context.Context, pool *sql.DB) {
	c.pool, c.changed = pool, make(chan struct{}, 1)
	ctx, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	c.running.Go(func() { c.run(ctx) })
}

// note says that something was committed.
func (c *checkpointer) note() {
	select {
	case c.changed <- struct{}{}:
	default: // it is known
	}
}

func (c *checkpointer) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.changed:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(checkpointAfter):
		}
		_, _ = c.pool.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)") // the next one copies what this one could not
	}
}

// close ends the copying, and waits for the one that is running.
func (c *checkpointer) close() error {
	if c.pool == nil {
		return nil
	}
	c.stop()
	c.running.Wait()
	return c.pool.Close()
}

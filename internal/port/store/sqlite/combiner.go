package sqlite

import (
	"context"
	"slices"
	"sync"

	"github.com/courant-platform/courant/internal/port/store"
)

// combiner lets many goroutines share few connections: jobs that wait for a connection
// form a batch, which runs together. It starts no goroutine: the caller of the batch's
// first job runs the batch, and then hands the connection to the first job of the next
// batch.
type combiner struct {
	run  func(s *statements, batch []*job) (done int) // jobs from done on run in the next batch
	most int                                          // jobs in one batch

	// mu guards idle and queue.
	mu    sync.Mutex
	idle  []*statements
	queue []*job
}

// job is one call.
type job struct {
	ctx   context.Context // without cancellation, which would interrupt the whole batch
	f     func(store.Conn) error
	write bool
	soon  bool // goes ahead of waiting jobs
	err   error
	panic any
	wake  chan turn
}

// turn wakes a job: without a connection the job is done, with one its goroutine runs
// the batch.
type turn struct {
	conn  *statements
	batch []*job
}

// do runs a job in a batch that begins after the call, and returns when the batch has
// ended. It panics if the job's function panics.
func (c *combiner) do(ctx context.Context, j *job) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.ctx = context.WithoutCancel(ctx)
	c.mu.Lock()
	if n := len(c.idle); n > 0 {
		s := c.idle[n-1]
		c.idle = c.idle[:n-1]
		c.mu.Unlock()
		c.lead(s, []*job{j})
		return j.result()
	}
	j.wake = make(chan turn, 1)
	if j.soon {
		c.queue = slices.Insert(c.queue, 0, j)
	} else {
		c.queue = append(c.queue, j)
	}
	c.mu.Unlock()
	if t := <-j.wake; t.conn != nil {
		c.lead(t.conn, t.batch)
	}
	return j.result()
}

// lead runs a batch whose first job is the caller's.
func (c *combiner) lead(s *statements, batch []*job) {
	done := c.run(s, batch)
	c.mu.Lock()
	c.queue = slices.Insert(c.queue, 0, batch[done:]...)
	if n := min(len(c.queue), c.most); n > 0 {
		next := append([]*job(nil), c.queue[:n]...)
		c.queue = append(c.queue[:0], c.queue[n:]...)
		next[0].wake <- turn{s, next}
	} else {
		c.idle = append(c.idle, s)
	}
	c.mu.Unlock()
	for _, j := range batch[1:done] {
		j.wake <- turn{}
	}
}

// call runs the function and keeps its panic for the goroutine that called do.
func (j *job) call(s *statements) {
	defer func() { j.panic = recover() }()
	j.err = kind(j.f(&conn{j.ctx, s}))
}

func (j *job) result() error {
	if j.panic != nil {
		panic(j.panic)
	}
	return j.err
}

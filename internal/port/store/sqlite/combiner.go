package sqlite

import (
	"context"
	"slices"
	"sync"

	"github.com/courant-platform/courant/internal/port/store"
)

// combiner lets many goroutines share few connections: those that wait for one
// form a batch, which runs together. It has no goroutine of its own: one of the
// batch leads it, and hands the connection to the first of those that have
// gathered meanwhile.
type combiner struct {
	run  func(s *statements, batch []*job) (done int) // the others come again, first
	most int                                          // in one batch

	// mu guards idle and queue.
	mu    sync.Mutex
	idle  []*statements
	queue []*job
}

// job is one call.
type job struct {
	ctx   context.Context // carries values alone: its end must not interrupt what others share
	f     func(store.Conn) error
	write bool
	soon  bool // ahead of those that wait
	err   error
	panic any
	wake  chan turn
}

// turn wakes a job: it is done, or, with a connection, it leads its batch.
type turn struct {
	conn  *statements
	batch []*job
}

// do runs a job as a part of a batch that begins after do was called, and returns
// when the batch has ended.
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

// lead runs a batch, of which the caller's own job is the first.
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

// call runs the function and keeps its panic for the goroutine that asked.
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

package sqlite

import (
	"context"
	"slices"
	"sync"

	"github.com/courant-platform/courant/internal/port/store"
)

// combiner lets many goroutines share the writing connection: jobs that wait for it form
// a batch, which commits together. It starts no goroutine: the caller of the batch's
// first job runs the batch, and then hands the connection to the first job of the next
// batch.
type combiner struct {
	run  func(s *statements, batch []*job) (done int) // jobs from done on run in the next batch
	most int                                          // jobs in one batch

	// mu guards idle, soon and queue.
	mu    sync.Mutex
	idle  []*statements
	soon  []*job // go ahead of queue
	queue []*job
}

// job is one call.
type job struct {
	ctx   context.Context // without cancellation for a write, which would roll back the whole batch
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
	if j.ctx = ctx; j.write {
		j.ctx = context.WithoutCancel(ctx)
	}
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
		c.soon = append(c.soon, j)
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
	c.putBack(batch[done:])
	if next := c.next(); len(next) > 0 {
		next[0].wake <- turn{s, next}
	} else {
		c.idle = append(c.idle, s)
	}
	c.mu.Unlock()
	for _, j := range batch[1:done] {
		j.wake <- turn{}
	}
}

// next takes the jobs of the next batch, in the order in which they run. The caller
// holds mu.
func (c *combiner) next() []*job {
	soon := min(len(c.soon), c.most)
	others := min(len(c.queue), c.most-soon)
	batch := slices.Concat(c.soon[:soon], c.queue[:others])
	c.soon, c.queue = slices.Delete(c.soon, 0, soon), slices.Delete(c.queue, 0, others)
	return batch
}

// putBack returns jobs that have not run to the front of the queues, in their order.
// The caller holds mu.
func (c *combiner) putBack(jobs []*job) {
	n := slices.IndexFunc(jobs, func(j *job) bool { return !j.soon })
	if n < 0 {
		n = len(jobs)
	}
	c.soon, c.queue = slices.Insert(c.soon, 0, jobs[:n]...), slices.Insert(c.queue, 0, jobs[n:]...)
}

// call runs the function and keeps its panic for the goroutine that called do.
func (j *job) call(s *statements) {
	if j.write {
		j.err, j.panic = called(j.f, &conn{ctx: j.ctx, s: s})
		return
	}
	s.read(j.ctx, func(c *conn) { j.err, j.panic = called(j.f, c) })
}

func (j *job) result() error {
	if j.panic != nil {
		panic(j.panic)
	}
	return j.err
}

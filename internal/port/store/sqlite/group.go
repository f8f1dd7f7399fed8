package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/courant-platform/courant/internal/port/store"
)

// groupSize bounds how many transactions share a commit.
const groupSize = 100

// group runs transactions one after the other on the one writing connection
// and commits what has queued up meanwhile together: while one group syncs, the
// next one gathers. There is no goroutine for it: the first caller leads a
// group, then wakes the first of those that wait, who leads the next. Each
// transaction has a savepoint of its own, so that one's failure is its own.
type group struct {
	db    *DB
	mu    sync.Mutex
	busy  bool
	queue []*job
}

type job struct {
	ctx   context.Context
	f     func(store.Conn) error
	write bool
	err   error
	panic any
	wake  chan bool // true: done; false: lead the next group
}

// do returns when f's group has committed or f has failed.
func (g *group) do(ctx context.Context, f func(store.Conn) error, write bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &job{ctx: context.WithoutCancel(ctx), f: f, write: write, wake: make(chan bool, 1)}
	g.mu.Lock()
	g.queue = append(g.queue, j)
	if g.busy {
		g.mu.Unlock()
		if <-j.wake {
			return j.result()
		}
	} else {
		g.busy = true
		g.mu.Unlock()
	}
	g.lead()
	return j.result()
}

func (j *job) result() error {
	if j.panic != nil {
		panic(j.panic)
	}
	return j.err
}

// lead runs one group, of which the caller's own job is the first.
func (g *group) lead() {
	g.mu.Lock()
	n := min(len(g.queue), groupSize)
	jobs := append([]*job(nil), g.queue[:n]...)
	g.queue = append(g.queue[:0], g.queue[n:]...)
	g.mu.Unlock()

	if err := g.run(jobs); err != nil {
		for _, j := range jobs {
			j.err = errors.Join(j.err, err)
		}
	}
	g.mu.Lock()
	if len(g.queue) > 0 {
		g.queue[0].wake <- false
	} else {
		g.busy = false
	}
	g.mu.Unlock()
	for _, j := range jobs[1:] {
		j.wake <- true
	}
}

// run commits the jobs together; its error is everybody's.
func (g *group) run(jobs []*job) error {
	w := &g.db.writer
	ctx := jobs[0].ctx
	writes := false
	for _, j := range jobs {
		writes = writes || j.write
	}
	if !writes {
		for _, j := range jobs {
			j.call(w.as(j.ctx))
		}
		return nil
	}
	if err := w.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return kind(err)
	}
	for _, j := range jobs {
		if err := g.part(j, len(jobs) > 1); err != nil {
			return errors.Join(err, w.exec(ctx, "ROLLBACK"))
		}
	}
	if err := w.exec(ctx, "COMMIT"); err != nil {
		w.exec(ctx, "ROLLBACK") // fails where SQLite has rolled back itself
		return kind(err)
	}
	return nil
}

// part runs one job inside the group's transaction. Its own failure is undone
// and is its own; an error here ends the whole group.
func (g *group) part(j *job, shared bool) error {
	w := &g.db.writer
	if err := w.exec(j.ctx, "SAVEPOINT part"); err != nil {
		return kind(err)
	}
	j.call(w.as(j.ctx))
	if j.err == nil && j.panic == nil {
		return kind(w.exec(j.ctx, "RELEASE part"))
	}
	if err := w.exec(j.ctx, "ROLLBACK TO part"); err != nil {
		// a full disk ends the transaction as a whole
		return fmt.Errorf("group: %w", kind(errors.Join(j.err, err)))
	}
	return kind(w.exec(j.ctx, "RELEASE part"))
}

// call runs the function and keeps its panic for the goroutine that asked.
func (j *job) call(c store.Conn) {
	defer func() { j.panic = recover() }()
	j.err = kind(j.f(c))
}

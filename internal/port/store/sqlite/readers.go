package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"time"

	"github.com/courant-platform/courant/internal/port/store"
)

const (
	// mostReaders is how many connections read at most, unless there are more anyway.
	mostReaders = 8
	// longRead is how long a read waits for a connection before another one is opened:
	// then long reads have all of them.
	longRead = 5 * time.Millisecond
)

// readers lets many goroutines read over few connections. A call that finds one free runs
// in its own goroutine. Calls that wait run in the order in which they came, in a goroutine
// that has the connection until no call waits. After a commit a connection's next snapshot
// discards its page cache, so calls share a snapshot that was taken after all of them. A
// call belongs to no connection before it runs, so those behind a long read get another.
type readers struct {
	pool      *sql.DB
	few, most int // connections: usually, and while long reads have the usual ones
	serving   sync.WaitGroup

	// mu guards all below.
	mu     sync.Mutex
	idle   []*statements
	opened int
	queue  []*reading
	calls  int64 // so far
}

// reading is a call.
type reading struct {
	ctx   context.Context
	one   bool // f runs a single statement
	f     func(store.Conn) error
	call  int64 // its number
	done  chan struct{}
	err   error
	panic any
}

// held is a connection, maybe with a snapshot.
type held struct {
	s    *statements
	upTo int64 // the newest call that began before the snapshot; 0 without a snapshot
}

// do runs f over a snapshot that is taken after the call.
func (r *readers) do(ctx context.Context, one bool, f func(store.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &reading{ctx: ctx, one: one, f: f}
	if h, ok := r.take(w); ok {
		r.release(w.run(r, h))
	} else if err := r.wait(w); err != nil {
		return err
	}
	if w.panic != nil {
		panic(w.panic)
	}
	return w.err
}

// take returns a free connection, or else puts the call into the queue.
func (r *readers) take(w *reading) (h held, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	w.call = r.calls
	if n := len(r.idle); n > 0 {
		s := r.idle[n-1]
		r.idle = r.idle[:n-1]
		return held{s: s}, true
	}
	w.done = make(chan struct{})
	r.queue = append(r.queue, w)
	return h, false
}

// wait waits until a queued call has run. The error says why it has not.
func (r *readers) wait(w *reading) error {
	if err := r.grow(w.ctx, r.few); err != nil && r.leave(w) {
		return kind(err)
	}
	pause := longRead
	long := time.NewTimer(pause)
	defer long.Stop()
	ended := w.ctx.Done()
	for {
		select {
		case <-w.done:
			return nil
		case <-ended:
			if r.leave(w) {
				return w.ctx.Err()
			}
			ended = nil // it runs, and is interrupted
		case <-long.C:
			if err := r.grow(w.ctx, r.most); err != nil && r.leave(w) {
				return kind(err)
			}
			pause = min(2*pause, time.Second) // many calls may wait
			long.Reset(pause)
		}
	}
}

// leave removes a call from the queue; false if it is not there any more.
func (r *readers) leave(w *reading) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.queue, w)
	if i >= 0 {
		r.queue = slices.Delete(r.queue, i, i+1)
	}
	return i >= 0
}

// grow opens another connection if a call waits and there are less than most.
func (r *readers) grow(ctx context.Context, most int) error {
	r.mu.Lock()
	enough := len(r.queue) == 0 || r.opened >= most
	if !enough {
		r.opened++
	}
	r.mu.Unlock()
	if enough {
		return nil
	}
	s, err := connect(ctx, r.pool)
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.opened--
		return err
	}
	r.release(held{s: s})
	return nil
}

// release starts a goroutine that serves the queue with the connection, unless the queue
// is empty.
func (r *readers) release(h held) {
	if w, h := r.next(h); w != nil {
		r.serving.Go(func() {
			for w != nil {
				h = w.run(r, h)
				close(w.done)
				w, h = r.next(h)
			}
		})
	}
}

// next takes the next call from the queue, and ends the snapshot if it is too old for that
// call. If there is none, the connection becomes idle.
func (r *readers) next(h held) (*reading, held) {
	for {
		r.mu.Lock()
		switch {
		case len(r.queue) > 0 && (h.upTo == 0 || r.queue[0].call <= h.upTo):
			w := r.queue[0]
			r.queue = slices.Delete(r.queue, 0, 1)
			r.mu.Unlock()
			return w, h
		case h.upTo == 0:
			r.idle = append(r.idle, h.s)
			r.mu.Unlock()
			return nil, h
		}
		r.mu.Unlock()
		h.end()
	}
}

// run runs the call and keeps its error, or its panic, for the goroutine that waits.
func (w *reading) run(r *readers, h held) held {
	if w.err = kind(h.begin(r, w)); w.err == nil {
		h.s.read(w.ctx, func(c *conn) { w.err, w.panic = called(w.f, c) })
	}
	return h
}

// begin takes a snapshot unless there is one. A single statement has its own, if no other
// call could use it.
func (h *held) begin(r *readers, w *reading) error {
	if h.upTo > 0 {
		return nil
	}
	r.mu.Lock()
	alone, calls := len(r.queue) == 0, r.calls
	r.mu.Unlock()
	if w.one && alone {
		return nil
	}
	err := h.s.exec(h.s.ctx, "BEGIN")
	if err == nil {
		h.upTo = calls
	}
	return err
}

// end ends the snapshot.
func (h *held) end() {
	h.s.exec(h.s.ctx, "ROLLBACK") // fails if SQLite has ended it already, after an error
	h.upTo = 0
}

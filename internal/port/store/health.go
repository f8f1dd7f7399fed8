package store

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Errors that drivers wrap, besides ErrFull, in those of operations that fail because of
// the state of the database.
var (
	// ErrDamaged means that the database's own structures are damaged.
	ErrDamaged = errors.New("the database is damaged")
	// ErrReadOnly means that it takes no changes, as a standby of PostgreSQL does.
	ErrReadOnly = errors.New("the database is read-only")
	// ErrAway means that it was not reached, or did not answer in time.
	ErrAway = errors.New("the database does not answer")
)

// Mark returns err such that errors.Is finds the marks too. Its text is that of err.
func Mark(err error, marks ...error) error { return &marked{err, marks} }

type marked struct {
	err   error
	marks []error
}

func (m *marked) Error() string   { return m.err.Error() }
func (m *marked) Unwrap() []error { return append([]error{m.err}, m.marks...) }

// outage is the time during which the database does not answer.
type outage struct{ since atomic.Int64 } // in nanoseconds since 1970; 0 if it answers

// note logs the beginning and the end of an outage; began is when the call began.
func (o *outage) note(err error, began time.Time, log *slog.Logger) {
	switch since := o.since.Load(); {
	case errors.Is(err, ErrAway):
		if o.since.CompareAndSwap(0, time.Now().UnixNano()) {
			log.Error("the database does not answer; trying again until it does", "error", err.Error())
		}
	case since != 0 && err == nil && began.UnixNano() > since && o.since.CompareAndSwap(since, 0):
		log.Info("the database answers again", "after", time.Since(time.Unix(0, since)).Round(time.Second))
	}
}

// damage remembers the last error of a damaged database: the damage of one table does not
// show in the others.
type damage struct {
	// mu guards the fields below.
	mu  sync.Mutex
	err error
	at  time.Time
}

// remembered is how long a damage is reported after it was last met.
const remembered = time.Minute

func (d *damage) note(err error) {
	if !errors.Is(err, ErrDamaged) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err, d.at = err, time.Now()
}

func (d *damage) recent() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil && time.Since(d.at) < remembered {
		return d.err
	}
	return nil
}

// note records what the error of a call says about the database.
func (s *Store) note(err error, began time.Time) {
	s.full.note(err, s.log)
	s.damage.note(err)
	s.outage.note(err, began, s.log)
}

// Healthy returns nil if the store can be read and written. An error that wraps ErrFull,
// ErrDamaged or ErrReadOnly says what is wrong with it; with any other it does not answer.
func (s *Store) Healthy(ctx context.Context) error {
	if err := s.damage.recent(); err != nil {
		return err
	}
	if err := s.Room(ctx); err != nil {
		return err
	}
	if err := s.Read(ctx, func(r Reader) error { return r.Rows(func(Rows) error { return nil }, probeRead) }); err != nil {
		return err
	}
	return s.WriteSoon(ctx, func(tx *Tx) error {
		_, err := tx.Exec(probeDone) // changes nothing, but needs a writable database
		return err
	})
}

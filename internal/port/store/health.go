package store

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Errors that drivers wrap, besides ErrFull, in those of operations that fail because of
// the state of the database.
var (
	// ErrDamaged means that the database's own structures are damaged.
	ErrDamaged = errors.New("the database is damaged")
	// ErrReadOnly means that it takes no changes, as a standby of PostgreSQL does.
	ErrReadOnly = errors.New("the database is read-only")
)

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

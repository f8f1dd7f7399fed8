// Package store is the source of truth: every unit of work is a row with a state and a
// due time. It gives stages transactions over SQL, with one text for SQLite and
// PostgreSQL, and the outbox, by which state and message commit together. What Write
// returned nil for survives a crash, and every message emitted in it is published at
// least once.
package store

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/courant-platform/courant"
)

// Conn runs statements inside one transaction of a driver. Parameters are written $1,
// $2, … Exec returns the number of changed rows. ExecAll and QueryAll run a statement
// once for each list of parameters, in their order and in one round trip; QueryAll calls
// each with the rows of the ith list. Insert runs an INSERT of one row, whose parameters
// are all among its VALUES, for each list; it may insert many rows with one statement. It
// calls each, unless it is nil, with the rows of RETURNING, of one or more lists at a time.
type Conn interface {
	Exec(query string, args ...any) (int64, error)
	Query(query string, args ...any) (Rows, error)
	ExecAll(query string, args [][]any) ([]int64, error)
	QueryAll(query string, args [][]any, each func(i int, rows Rows) error) error
	Insert(query string, args [][]any, each func(rows Rows) error) error
}

// Rows is the part of sql.Rows that readers need.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// Driver opens transactions. Write rolls back what f did if f fails, may run f again
// after a conflict with another process, and may commit many small transactions as one
// group; calls with soon go ahead of waiting ones, and both kinds keep their order. The end
// of ctx may roll f back, and nothing of other calls. Read runs f over committed state; with
// one, f runs a single statement, and no transaction is needed around it. The end of ctx
// ends the statement that f is running. Both return errors of kind courant.Busy if the same
// call may succeed later.
type Driver interface {
	Read(ctx context.Context, one bool, f func(Conn) error) error
	Write(ctx context.Context, soon bool, f func(Conn) error) error
	// Now returns the time of the clock that all processes of the store share.
	Now(ctx context.Context) (time.Time, error)
	// Prepare checks a statement without running it.
	Prepare(ctx context.Context, query string) error
	// Exclusive reports whether no other process can have the store open and writing
	// transactions run one at a time.
	Exclusive() bool
	Close() error
}

// Store is a driver with the outbox, the shared clock and the full-disk state.
type Store struct {
	driver    Driver
	log       *slog.Logger
	committed chan entry // for the relay
	seq       atomic.Int64
	clock     clock
	full      fullness
	damage    damage
	outage    outage

	secrets sync.Map // those that were read, by name
}

// Open returns the store over a driver. If the driver is exclusive, it ends the leases
// that an earlier process left.
func Open(ctx context.Context, d Driver, log *slog.Logger) (*Store, error) {
	s := &Store{driver: d, log: log, committed: make(chan entry, 1<<12)}
	if err := s.clock.set(ctx, d); err != nil {
		return nil, err
	}
	if d.Exclusive() {
		return s, s.forget(ctx)
	}
	return s, nil
}

// Read runs f over committed state, the same for all of its statements. When ctx ends, so
// does the statement that f is running.
func (s *Store) Read(ctx context.Context, f func(Reader) error) error {
	began := time.Now()
	err := s.driver.Read(ctx, false, func(c Conn) error { return f(Reader{c}) })
	s.note(err, began)
	return err
}

// Rows is Read for a single query: it calls scan for every row. It costs one round trip,
// without a transaction.
func (s *Store) Rows(ctx context.Context, scan func(Rows) error, query string, args ...any) error {
	began := time.Now()
	err := s.driver.Read(ctx, true, func(c Conn) error { return Reader{c}.Rows(scan, query, args...) })
	s.note(err, began)
	return err
}

// Row is Read for a single query for one row; its Scan runs it.
func (s *Store) Row(ctx context.Context, query string, args ...any) Row {
	return Row{func(scan func(Rows) error) error { return s.Rows(ctx, scan, query, args...) }}
}

// Write runs f in one transaction: all of its changes and messages, or none.
// f may run again after a conflict with another process.
func (s *Store) Write(ctx context.Context, f func(*Tx) error) error { return s.write(ctx, false, f) }

// WriteSoon is Write ahead of waiting transactions: for recording what has already had
// an effect outside, which a crash before the commit would repeat.
func (s *Store) WriteSoon(ctx context.Context, f func(*Tx) error) error { return s.write(ctx, true, f) }

func (s *Store) write(ctx context.Context, soon bool, f func(*Tx) error) error {
	var tx *Tx
	began := time.Now()
	err := s.driver.Write(ctx, soon, func(c Conn) error {
		tx = &Tx{Reader: Reader{c}, now: s.Now()}
		if err := f(tx); err != nil {
			return err
		}
		return s.putOutbox(tx)
	})
	s.note(err, began)
	if err == nil && tx.outbox.seq != 0 {
		s.hand(tx.outbox)
	}
	return err
}

// Serial reports whether writing transactions commit in the order in which they run.
func (s *Store) Serial() bool { return s.driver.Exclusive() }

// Now returns the time of the store's clock, to the millisecond.
func (s *Store) Now() time.Time { return s.clock.now() }

// Prepare checks a statement without running it.
func (s *Store) Prepare(ctx context.Context, query string) error {
	return s.driver.Prepare(ctx, query)
}

// Close closes the driver.
func (s *Store) Close() error { return s.driver.Close() }

// Reader runs queries.
type Reader struct{ conn Conn }

// Rows calls scan for every row of a query.
func (r Reader) Rows(scan func(Rows) error, query string, args ...any) error {
	rows, err := r.conn.Query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// RowsAll runs a query for each list of parameters, in one round trip, and calls scan
// for every row of the ith.
func (r Reader) RowsAll(scan func(i int, rows Rows) error, query string, args [][]any) error {
	if len(args) == 0 {
		return nil
	}
	return r.conn.QueryAll(query, args, func(i int, rows Rows) error {
		for rows.Next() {
			if err := scan(i, rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// Row prepares a query for one row; its Scan runs it.
func (r Reader) Row(query string, args ...any) Row {
	return Row{func(scan func(Rows) error) error { return r.Rows(scan, query, args...) }}
}

// Row is a query that Scan runs.
type Row struct {
	rows func(scan func(Rows) error) error
}

// Scan runs the query and reads its first row; courant.NotFound if there is none.
func (r Row) Scan(dest ...any) error {
	found := false
	err := r.rows(func(rows Rows) error {
		if found {
			return nil
		}
		found = true
		return rows.Scan(dest...)
	})
	if err == nil && !found {
		return errNoRow
	}
	return err
}

var errNoRow = courant.Errorf(courant.NotFound, "no such row")

// Tx is one transaction; it is valid only inside the function passed to Write.
type Tx struct {
	Reader
	now    time.Time
	outbox entry
}

// Now returns the time of the store's clock at the start of the transaction.
func (tx *Tx) Now() time.Time { return tx.now }

// Exec runs a statement and returns the number of changed rows.
func (tx *Tx) Exec(query string, args ...any) (int64, error) {
	return tx.conn.Exec(query, args...)
}

// ExecAll runs a statement for each list of parameters, in their order and in one round
// trip, and returns the numbers of changed rows.
func (tx *Tx) ExecAll(query string, args [][]any) ([]int64, error) {
	if len(args) == 0 {
		return nil, nil
	}
	return tx.conn.ExecAll(query, args)
}

// Insert inserts a row for each list of parameters, in one round trip and as few statements
// as possible: query inserts one row, and has no parameters outside of its VALUES. It calls scan, which may be nil, for every row of
// RETURNING, in any order.
func (tx *Tx) Insert(scan func(Rows) error, query string, args [][]any) error {
	if len(args) == 0 {
		return nil
	}
	if scan == nil {
		return tx.conn.Insert(query, args, nil)
	}
	return tx.conn.Insert(query, args, func(rows Rows) error {
		for rows.Next() {
			if err := scan(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// Emit adds messages that are published at least once after the transaction has
// committed, and never if it fails.
func (tx *Tx) Emit(topic string, payloads [][]byte) {
	if len(payloads) > 0 {
		tx.outbox.messages = append(tx.outbox.messages, message{topic, payloads})
	}
}

// Millis returns a time as the store keeps it: milliseconds since 1970, 0 for the zero
// time.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Time is the inverse of Millis, in UTC.
func Time(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// NoRow reports whether err means that there is no such row.
func NoRow(err error) bool { return errors.Is(err, courant.NotFound) }

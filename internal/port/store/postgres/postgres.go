// Package postgres is the driver of the store for many processes on many machines:
// PostgreSQL 13 or later, or a compatible database.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
)

// Config says where the database is.
type Config struct {
	URL   string // postgres://… or key=value pairs
	Conns int    // most connections; 16 unless set
}

// DB is a pool of connections.
type DB struct{ pool *pgxpool.Pool }

func dialect() store.Dialect {
	return store.Dialect{Name: goose.DialectPostgres, Lock: "FOR UPDATE", Skip: "FOR UPDATE SKIP LOCKED", Bytes: `COLLATE "C"`}
}

// byIndex has the server prefer indexes. Each statement has one, but while a table grows
// faster than its statistics are made, the server takes it for a small one and reads it as
// a whole, again and again.
const byIndex = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off"

// Open connects and applies the missing migrations, one process at a time. A wrong URL
// is courant.Invalid.
func Open(ctx context.Context, c Config) (*DB, error) {
	pc, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "database URL: %w", err)
	}
	pc.MaxConns = 16
	if c.Conns > 0 {
		pc.MaxConns = int32(c.Conns)
	}
	pc.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, byIndex)
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, fmt.Errorf("connect to database: %w", err)
	}
	if err := migrate(ctx, pool); err != nil {
		pool.Close()
		return nil, fmt.Errorf("database %s on %s: %w", pc.ConnConfig.Database, pc.ConnConfig.Host, err)
	}
	return &DB{pool: pool}, nil
}

func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(pool)
	return errors.Join(dialect().Migrate(ctx, db, goose.WithSessionLocker(locker)), db.Close())
}

// Read runs f over one snapshot, up to five times if it conflicts with others. With one, f
// runs a single statement, which is one round trip. The end of ctx ends f's statement.
func (db *DB) Read(ctx context.Context, one bool, f func(store.Conn) error) error {
	if one {
		return kind(db.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return f(conn{ctx, c}) }))
	}
	return db.try(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, f)
}

// Write runs f in a transaction, up to five times if it conflicts with others.
func (db *DB) Write(ctx context.Context, _ bool, f func(store.Conn) error) error {
	return db.try(ctx, pgx.TxOptions{}, f)
}

func (db *DB) try(ctx context.Context, o pgx.TxOptions, f func(store.Conn) error) error {
	for tries := 1; ; tries++ {
		err := kind(pgx.BeginTxFunc(ctx, db.pool, o, func(tx pgx.Tx) error {
			return f(conn{ctx, tx})
		}))
		if tries == 5 || !conflict(err) {
			return err
		}
	}
}

// conflict reports whether the transaction may succeed if it is run again at once.
func conflict(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01")
}

// kind maps PostgreSQL's error codes to our kinds of error.
func kind(err error) error {
	var e *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e) && e.Code == "53100":
		return errors.Join(store.ErrFull, courant.Busy, err)
	case errors.As(err, &e) && (e.Code == "XX001" || e.Code == "XX002"):
		return errors.Join(store.ErrDamaged, err)
	case errors.As(err, &e) && e.Code == "25006":
		return errors.Join(store.ErrReadOnly, courant.Busy, err)
	case errors.As(err, &e) && (e.Code[:2] == "53" || e.Code[:2] == "57" || e.Code[:2] == "40"):
		return errors.Join(courant.Busy, err)
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET):
		return errors.Join(courant.Busy, err)
	}
	return err
}

// Now returns the time of the server's clock.
func (db *DB) Now(ctx context.Context) (now time.Time, err error) {
	err = db.pool.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&now)
	return now, kind(err)
}

// Exclusive returns false: any number of processes share the database.
func (db *DB) Exclusive() bool { return false }

// Prepare checks a statement without running it.
func (db *DB) Prepare(ctx context.Context, query string) error {
	return db.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		_, err := c.Conn().Prepare(ctx, "", dialect().Text(query))
		return err
	})
}

// Close waits for the connections in use.
func (db *DB) Close() error {
	db.pool.Close()
	return nil
}

type conn struct {
	ctx context.Context // of the transaction; conn does not outlive it
	tx  statements
}

// statements is the part of a transaction, or of a connection outside of one, that conn
// needs.
type statements interface {
	Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

func (c conn) Exec(query string, args ...any) (int64, error) {
	tag, err := c.tx.Exec(c.ctx, dialect().Text(query), args...)
	return tag.RowsAffected(), err
}

func (c conn) Query(query string, args ...any) (store.Rows, error) {
	r, err := c.tx.Query(c.ctx, dialect().Text(query), args...)
	return rows{r}, err
}

func batchOf(query string, args [][]any) *pgx.Batch {
	b, text := &pgx.Batch{}, dialect().Text(query)
	for _, a := range args {
		b.Queue(text, a...)
	}
	return b
}

func (c conn) ExecAll(query string, args [][]any) (changed []int64, err error) {
	results := c.tx.SendBatch(c.ctx, batchOf(query, args))
	defer func() { err = errors.Join(err, results.Close()) }()
	changed = make([]int64, len(args))
	for i := range args {
		tag, err := results.Exec()
		if err != nil {
			return nil, err
		}
		changed[i] = tag.RowsAffected()
	}
	return changed, nil
}

func (c conn) QueryAll(query string, args [][]any, each func(int, store.Rows) error) (err error) {
	results := c.tx.SendBatch(c.ctx, batchOf(query, args))
	defer func() { err = errors.Join(err, results.Close()) }()
	for i := range args {
		r, err := results.Query()
		if err != nil {
			return err
		}
		if err := errors.Join(each(i, rows{r}), rows{r}.Close()); err != nil {
			return err
		}
	}
	return nil
}

type rows struct{ pgx.Rows }

func (r rows) Close() error {
	r.Rows.Close()
	return r.Err()
}

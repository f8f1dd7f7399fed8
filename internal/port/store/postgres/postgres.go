// Package postgres is the driver of the store for many processes on many machines:
// PostgreSQL 13 or later, or a compatible database.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// Config says where the database is. Zero means the default.
type Config struct {
	URL        string // postgres://… or key=value pairs, with several hosts if there are standbys
	MigrateURL string // for migrations, which need a session of the server; URL unless set
	Conns      int    // most connections; 16

	// DeadAfter is how long what was sent may stay unacknowledged; 10 s. Then the connection
	// is dead.
	DeadAfter time.Duration
	// StatementTimeout is how long a statement may take; 10 s. A transaction, and any call,
	// ends after one and a half times that.
	StatementTimeout time.Duration
	// Pooler says that a pooler is in between that gives each transaction another session:
	// nothing may be kept in a session, neither settings nor prepared statements.
	Pooler bool
}

func (c *Config) fill() {
	c.Conns = cmp.Or(c.Conns, 16)
	c.DeadAfter = cmp.Or(c.DeadAfter, 10*time.Second)
	c.StatementTimeout = cmp.Or(c.StatementTimeout, 10*time.Second)
	c.MigrateURL = cmp.Or(c.MigrateURL, c.URL)
}

// DB is a pool of connections.
type DB struct {
	pool   *pgxpool.Pool
	config Config
	begin  [2]string // with a pooler: what begins a transaction that reads, or writes
}

func dialect() store.Dialect {
	return store.Dialect{Name: goose.DialectPostgres, Lock: "FOR UPDATE", Skip: "FOR UPDATE SKIP LOCKED", Bytes: `COLLATE "C"`}
}

// settings are those of each session. The first four have the server prefer indexes: each
// statement has one, but while a table grows faster than its statistics are made, the server
// takes it for a small one and reads it as a whole, again and again.
func (c *Config) settings() []string {
	return []string{"enable_seqscan = off", "enable_hashjoin = off", "enable_mergejoin = off", "jit = off",
		fmt.Sprintf("statement_timeout = %d", c.StatementTimeout.Milliseconds()), "lock_timeout = 10000", "idle_in_transaction_session_timeout = 60000"}
}

// set is a text that sets all settings.
func (c *Config) set(how string) (text string) {
	for _, s := range c.settings() {
		text += how + " " + s + "; "
	}
	return text
}

// Open connects and applies the missing migrations, one process at a time. A wrong URL
// is courant.Invalid.
func Open(ctx context.Context, c Config) (*DB, error) {
	c.fill()
	pc, err := c.pool(c.URL)
	if err != nil {
		return nil, err
	}
	db := &DB{config: c}
	if c.Pooler {
		pc.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
		pc.ConnConfig.StatementCacheCapacity, pc.ConnConfig.DescriptionCacheCapacity = 0, 0
		set := c.set("SET LOCAL")
		db.begin = [2]string{"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; " + set, "BEGIN; " + set}
	} else {
		pc.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, c.set("SET"))
			return err
		}
	}
	if err := migrate(ctx, &c); err != nil {
		return nil, fmt.Errorf("database %s on %s: %w", pc.ConnConfig.Database, pc.ConnConfig.Host, err)
	}
	db.pool, err = pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, fmt.Errorf("connect to database: %w", err)
	}
	if !c.Pooler && c.Conns > 1 {
		err = detect(ctx, db.pool)
	}
	if err != nil {
		db.pool.Close()
		return nil, fmt.Errorf("database %s on %s: %w", pc.ConnConfig.Database, pc.ConnConfig.Host, err)
	}
	return db, nil
}

// pool is the configuration of a pool of connections that notice when the server is gone.
func (c *Config) pool(url string) (*pgxpool.Config, error) {
	pc, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "database URL: %w", err)
	}
	pc.MaxConns = int32(c.Conns)
	pc.ConnConfig.ConnectTimeout = cmp.Or(pc.ConnConfig.ConnectTimeout, dialTimeout)
	pc.ConnConfig.DialFunc = dialer(c.DeadAfter).DialContext
	if _, named := pc.ConnConfig.RuntimeParams["application_name"]; !named {
		pc.ConnConfig.RuntimeParams["application_name"] = "courant"
	}
	return pc, nil
}

// migrate uses connections of its own, without time-outs for statements: a migration of a
// large table takes long.
func migrate(ctx context.Context, c *Config) error {
	pc, err := c.pool(c.MigrateURL)
	if err != nil {
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer pool.Close()
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	sql := stdlib.OpenDBFromPool(pool)
	return errors.Join(dialect().Migrate(ctx, sql, goose.WithSessionLocker(locker)), sql.Close())
}

// Read runs f over one snapshot, up to five times if it conflicts with others. With one, f
// runs a single statement, which is one round trip. The end of ctx ends f's statement.
func (db *DB) Read(ctx context.Context, one bool, f func(store.Conn) error) error {
	if !one || db.config.Pooler {
		return db.try(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly, BeginQuery: db.begin[0]}, f)
	}
	limited, cancel := db.limit(ctx)
	defer cancel()
	return db.kind(ctx, db.pool.AcquireFunc(limited, func(c *pgxpool.Conn) error { return f(conn{limited, c}) }))
}

// Write runs f in a transaction, up to five times if it conflicts with others.
func (db *DB) Write(ctx context.Context, _ bool, f func(store.Conn) error) error {
	return db.try(ctx, pgx.TxOptions{BeginQuery: db.begin[1]}, f)
}

func (db *DB) try(ctx context.Context, o pgx.TxOptions, f func(store.Conn) error) error {
	limited, cancel := db.limit(ctx)
	defer cancel()
	for tries := 1; ; tries++ {
		err := db.kind(ctx, pgx.BeginTxFunc(limited, db.pool, o, func(tx pgx.Tx) error {
			return f(conn{limited, tx})
		}))
		if tries == 5 || !conflict(err) {
			return err
		}
	}
}

// limit gives a call a deadline, whatever its caller's context says: behind a proxy or a
// firewall, a connection may stay open although nobody answers any more.
func (db *DB) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, db.config.StatementTimeout*3/2)
}

// Now returns the time of the server's clock.
func (db *DB) Now(ctx context.Context) (now time.Time, err error) {
	limited, cancel := db.limit(ctx)
	defer cancel()
	err = db.pool.QueryRow(limited, "SELECT clock_timestamp()").Scan(&now)
	return now, db.kind(ctx, err)
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

// Package sqlite is the default driver of the store: one file in the data folder, opened
// by one process, in pure Go. Small transactions of many goroutines are committed in
// groups, with one sync per group.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
)

// Config says where the database is and how it is opened.
type Config struct {
	Path    string // of the file; "" for a database in memory, lost at Close
	Readers int    // connections for reading; at least 2
	NoSync  bool   // for tests: a power cut may lose the last transactions
}

// DB is an open database.
type DB struct {
	pools []*sql.DB
	write combiner
	read  readers // unused in memory, where one connection does both
	wal   checkpointer
	file  bool
}

func dialect() store.Dialect {
	return store.Dialect{Name: "sqlite3", Clustered: "WITHOUT ROWID", Rowid: "INTEGER"}
}

// Open opens the file, creates it if it does not exist, and applies the missing
// migrations.
func Open(ctx context.Context, c Config) (*DB, error) {
	write, err := open(c, "immediate", 1)
	if err != nil {
		return nil, err
	}
	db := &DB{pools: []*sql.DB{write}, file: c.Path != "",
		write: combiner{run: commit, most: groupSize}}
	if err := dialect().Migrate(ctx, write); err != nil {
		return nil, named(c.Path, errors.Join(err, db.Close()))
	}
	first, err := connect(ctx, write)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	db.write.idle = []*statements{first}
	if !db.file {
		return db, nil
	}
	copying, err := open(c, "deferred", 1)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	db.wal.start(ctx, copying)
	db.write.run = func(s *statements, batch []*job) int {
		defer db.wal.note()
		return commit(s, batch)
	}
	db.read.few = max(c.Readers, 2)
	db.read.most = max(2*db.read.few, mostReaders)
	read, err := open(c, "deferred", db.read.most)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	db.pools = append(db.pools, read)
	db.read.pool = read
	return db, nil
}

func open(c Config, lock string, conns int) (*sql.DB, error) {
	q := url.Values{"_txlock": {lock}}
	sync, cache := "FULL", "16000"
	if lock == "deferred" {
		cache = "4000" // readers lose their cache at each commit
	}
	if c.NoSync {
		sync = "OFF"
	}
	for _, p := range []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(" + sync + ")", "cache_size(-" + cache + ")",
		"temp_store(MEMORY)", "wal_autocheckpoint(64000)", "journal_size_limit(67108864)"} {
		q.Add("_pragma", p)
	}
	name := "file::memory:?" + q.Encode()
	if c.Path != "" {
		name = (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: c.Path}).EscapedPath(), RawQuery: q.Encode()}).String()
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, named(c.Path, err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

func named(path string, err error) error {
	if path == "" {
		path = "in memory"
	}
	return fmt.Errorf("database %s: %w", path, kind(err))
}

// Read runs f over a snapshot that is taken after the call. With one, f runs a single
// statement, which needs no transaction. The end of ctx interrupts f's statement.
func (db *DB) Read(ctx context.Context, one bool, f func(store.Conn) error) error {
	if !db.file {
		return db.write.do(ctx, &job{f: f})
	}
	return db.read.do(ctx, one, f)
}

// Write runs f and commits it, possibly together with others.
func (db *DB) Write(ctx context.Context, soon bool, f func(store.Conn) error) error {
	return db.write.do(ctx, &job{f: f, write: true, soon: soon})
}

// Now returns the time of this machine's clock: no other machine uses the file.
func (db *DB) Now(context.Context) (time.Time, error) { return time.Now(), nil }

// Exclusive returns true: the lock of the data folder keeps other processes out.
func (db *DB) Exclusive() bool { return true }

// Prepare checks a statement without running it.
func (db *DB) Prepare(ctx context.Context, query string) error {
	return db.write.do(ctx, &job{f: func(c store.Conn) error {
		_, err := c.(*conn).s.prepare(ctx, query)
		return err
	}})
}

// Close ends the copying of the WAL, and closes the readers, then the writer, which checkpoints the WAL. No call may be
// running.
func (db *DB) Close() error {
	db.read.serving.Wait()
	errs := []error{db.wal.close()}
	for _, s := range slices.Concat(db.read.idle, db.write.idle) {
		errs = append(errs, s.close())
	}
	for i := len(db.pools) - 1; i >= 0; i-- {
		errs = append(errs, db.pools[i].Close())
	}
	return errors.Join(errs...)
}

// kind maps SQLite's error codes to our kinds of error.
func kind(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return store.Mark(err, courant.Busy)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return store.Mark(err, store.ErrDamaged)
	case sqlite3.SQLITE_READONLY:
		return store.Mark(err, store.ErrReadOnly, courant.Busy)
	case sqlite3.SQLITE_FULL:
		return store.Mark(err, store.ErrFull, courant.Busy)
	case sqlite3.SQLITE_IOERR:
		if fullDisk(e) {
			return store.Mark(err, store.ErrFull, courant.Busy)
		}
	}
	return err
}

// Package sqlite is the default driver of the store: one file in the data
// folder, opened by one process, in pure Go. Small transactions of many
// goroutines are committed as groups, with one sync a group.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
)

// Config says where the database lies and how it is kept.
type Config struct {
	Path    string // of the file; "" keeps it in memory, gone with Close
	Readers int    // connections that read; 4 unless set
	NoSync  bool   // for tests: a power cut may lose the last transactions
}

// DB is an open database.
type DB struct {
	write  *sql.DB
	writer statements
	group  group
	read   *readers // nil in memory: there the one connection does both
}

func dialect() store.Dialect {
	return store.Dialect{Name: "sqlite3", Clustered: "WITHOUT ROWID"}
}

// Open opens the file, makes it if there is none, and brings it up to date.
func Open(ctx context.Context, c Config) (*DB, error) {
	write, err := open(c, "immediate", 1)
	if err != nil {
		return nil, err
	}
	if err := dialect().Migrate(ctx, write); err != nil {
		write.Close()
		return nil, named(c.Path, err)
	}
	db := &DB{write: write}
	if db.writer.conn, err = write.Conn(ctx); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	db.group.db = db
	if c.Path == "" {
		return db, nil
	}
	if db.read, err = openReaders(ctx, c); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func open(c Config, lock string, conns int) (*sql.DB, error) {
	q := url.Values{"_txlock": {lock}}
	sync := "FULL"
	if c.NoSync {
		sync = "OFF"
	}
	for _, p := range []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(" + sync + ")", "cache_size(-32000)",
		"temp_store(MEMORY)", "wal_autocheckpoint(4000)", "journal_size_limit(67108864)"} {
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

// Read runs f over a snapshot.
func (db *DB) Read(ctx context.Context, f func(store.Conn) error) error {
	if db.read == nil {
		return db.group.do(ctx, f, false)
	}
	return db.read.do(ctx, f)
}

// Write runs f inside the next group; see group.
func (db *DB) Write(ctx context.Context, f func(store.Conn) error) error {
	return db.group.do(ctx, f, true)
}

// Now is this machine's clock: no other machine has the file.
func (db *DB) Now(context.Context) (time.Time, error) { return time.Now(), nil }

// Exclusive is true: the folder's lock keeps others out.
func (db *DB) Exclusive() bool { return true }

// Prepare checks a statement.
func (db *DB) Prepare(ctx context.Context, query string) error {
	return db.group.do(ctx, func(store.Conn) error {
		_, err := db.writer.prepare(ctx, query)
		return err
	}, false)
}

// Close ends the readers, then the writer, which folds the journal in.
func (db *DB) Close() error {
	var err error
	if db.read != nil {
		err = db.read.close()
	}
	return errors.Join(err, db.writer.close(), db.write.Close())
}

// kind gives SQLite's codes our kinds.
func kind(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return errors.Join(courant.Busy, err)
	case sqlite3.SQLITE_FULL:
		return errors.Join(store.ErrFull, courant.Busy, err)
	case sqlite3.SQLITE_IOERR:
		if fullDisk(e) {
			return errors.Join(store.ErrFull, courant.Busy, err)
		}
	}
	return err
}

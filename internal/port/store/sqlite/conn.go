package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"syscall"

	"modernc.org/sqlite"

	"github.com/courant-platform/courant/internal/port/store"
)

// statements is the writing connection with its prepared statements.
type statements struct {
	conn *sql.Conn
	kept map[string]*sql.Stmt
}

func (s *statements) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt := s.kept[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(ctx, dialect().Text(query))
	if err != nil {
		return nil, err
	}
	if s.kept == nil {
		s.kept = map[string]*sql.Stmt{}
	}
	s.kept[query] = stmt
	return stmt, nil
}

func (s *statements) exec(ctx context.Context, query string) error {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return err
	}
	_, err = stmt.ExecContext(ctx)
	return err
}

func (s *statements) close() error {
	var errs []error
	for _, stmt := range s.kept {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, s.conn.Close())...)
}

// as is the connection for one job. The job's context carries values alone:
// its end must not interrupt the transaction that others share.
func (s *statements) as(ctx context.Context) *conn { return &conn{ctx, s} }

type conn struct {
	ctx context.Context // of this transaction, which the value does not outlive
	s   *statements
}

func (w *conn) Exec(query string, args ...any) (int64, error) {
	stmt, err := w.s.prepare(w.ctx, query)
	if err != nil {
		return 0, err
	}
	r, err := stmt.ExecContext(w.ctx, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (w *conn) Query(query string, args ...any) (store.Rows, error) {
	stmt, err := w.s.prepare(w.ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(w.ctx, args...)
}

// readers are the connections that read, each used by one at a time.
type readers struct {
	db   *sql.DB
	free chan *statements
	made int
}

func openReaders(ctx context.Context, c Config) (*readers, error) {
	n := max(c.Readers, 4)
	db, err := open(c, "deferred", n)
	if err != nil {
		return nil, err
	}
	r := &readers{db: db, free: make(chan *statements, n)}
	for range n {
		conn, err := db.Conn(ctx)
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		r.free <- &statements{conn: conn}
		r.made++
	}
	return r, nil
}

// do runs f over one snapshot.
func (r *readers) do(ctx context.Context, f func(store.Conn) error) error {
	var s *statements
	select {
	case s = <-r.free:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { r.free <- s }()
	ctx = context.WithoutCancel(ctx)
	if err := s.exec(ctx, "BEGIN"); err != nil {
		return kind(err)
	}
	defer s.exec(ctx, "ROLLBACK") // nothing was written
	return kind(f(s.as(ctx)))
}

// close waits for those that still read.
func (r *readers) close() error {
	var errs []error
	for range r.made {
		errs = append(errs, (<-r.free).close())
	}
	return errors.Join(append(errs, r.db.Close())...)
}

// fullDisk tells an input/output error for lack of room from others.
func fullDisk(e *sqlite.Error) bool { return errors.Is(e, syscall.ENOSPC) }

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"syscall"

	"modernc.org/sqlite"

	"github.com/courant-platform/courant/internal/port/store"
)

// statements is a connection with its prepared statements.
type statements struct {
	ctx    context.Context // never ends
	conn   *sql.Conn
	kept   map[string]*sql.Stmt
	handle uintptr // SQLite's; 0 if it is unknown, and then nothing is interrupted
}

// connect takes a connection from a pool.
func connect(ctx context.Context, pool *sql.DB) (*statements, error) {
	s := &statements{ctx: context.WithoutCancel(ctx)}
	c, err := pool.Conn(s.ctx)
	if err != nil {
		return nil, err
	}
	s.conn = c
	return s, c.Raw(func(driverConn any) error {
		s.handle = handleOf(driverConn)
		return nil
	})
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

// conn implements store.Conn for one transaction.
type conn struct {
	ctx    context.Context // of the transaction, never ends; conn does not outlive it
	caller context.Context // of a read, else nil
	s      *statements
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
	if w.caller != nil && w.caller.Err() != nil {
		return nil, w.caller.Err()
	}
	stmt, err := w.s.prepare(w.ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(w.ctx, args...)
}

func (w *conn) ExecAll(query string, args [][]any) ([]int64, error) {
	changed := make([]int64, len(args))
	for i, a := range args {
		var err error
		if changed[i], err = w.Exec(query, a...); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

func (w *conn) QueryAll(query string, args [][]any, each func(int, store.Rows) error) error {
	for i, a := range args {
		rows, err := w.Query(query, a...)
		if err != nil {
			return err
		}
		if err := errors.Join(each(i, rows), rows.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (w *conn) Insert(query string, args [][]any, each func(store.Rows) error) error {
	if each == nil {
		_, err := w.ExecAll(query, args)
		return err
	}
	return w.QueryAll(query, args, func(_ int, rows store.Rows) error { return each(rows) })
}

// fullDisk reports whether an I/O error is due to a full disk.
func fullDisk(e *sqlite.Error) bool { return errors.Is(e, syscall.ENOSPC) }

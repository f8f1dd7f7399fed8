package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/courant-platform/courant"
)

// detect fails with courant.Invalid if a pooler gives the transactions of a connection
// different sessions. A pooler invents the process ID that a connection is told; one that
// gives each connection a session of its own does no harm.
func detect(ctx context.Context, pool *pgxpool.Pool) error {
	a, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer a.Release()
	first, err := session(ctx, a)
	if err != nil || first == a.Conn().PgConn().PID() {
		return err
	}
	b, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer b.Release()
	// Two transactions at a time need two sessions, and the next one gets either of them.
	for range 3 {
		one, err := a.Begin(ctx)
		if err != nil {
			return err
		}
		got, err := session(ctx, one)
		if err == nil {
			_, err = session(ctx, b)
		}
		if err == nil {
			err = one.Commit(ctx)
		}
		if err == nil {
			var other uint32
			if other, err = session(ctx, b); err == nil && other == got {
				return errTransactions
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var errTransactions = courant.Errorf(courant.Invalid, "store.url is the address of a pooler that gives each transaction another session: set store.pooler = true, and store.migrate_url to the address of the database itself")

// session is the process ID of the server's session.
func session(ctx context.Context, c interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}) (pid uint32, err error) {
	err = c.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeExec).Scan(&pid)
	return pid, err
}

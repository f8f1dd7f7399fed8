package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
)

// conflict reports whether the transaction may succeed if it is run again at once.
func conflict(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01")
}

// kind gives an error of a call its kind; ctx is that of the call's caller.
func (db *DB) kind(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	err = kind(err)
	if errors.Is(err, store.ErrReadOnly) {
		db.pool.Reset() // the next connection may find the primary
	}
	return err
}

// kind maps PostgreSQL's error codes, and errors of connections, to our kinds of error. It
// keeps the text.
func kind(err error) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		if broken(err) {
			return store.Mark(err, store.ErrAway, courant.Busy)
		}
		return err
	}
	switch class := e.Code[:min(2, len(e.Code))]; {
	case e.Code == "53100":
		return store.Mark(err, store.ErrFull, courant.Busy)
	case e.Code == "XX001", e.Code == "XX002":
		return store.Mark(err, store.ErrDamaged)
	case e.Code == "25006":
		return store.Mark(err, store.ErrReadOnly, courant.Busy)
	case e.Code == "26000", e.Code == "42P05":
		return store.Mark(errPooler(err), courant.Busy)
	case e.Code == "57014": // the time-out of statements
		return store.Mark(err, courant.Busy)
	case class == "08", class == "57":
		return store.Mark(err, store.ErrAway, courant.Busy)
	case class == "53", class == "40", class == "55":
		return store.Mark(err, courant.Busy)
	}
	return err
}

// errPooler explains the error of a prepared statement that is missing, or exists already.
func errPooler(err error) error {
	return courant.Errorf(courant.Busy, "%w; if store.url is the address of a pooler, set store.pooler = true", err)
}

// broken reports whether err means that the server was not reached, or did not answer. The
// time-out is that of the call: a caller's own end is handled before.
func broken(err error) bool {
	var dns *net.DNSError
	var network net.Error
	var connect *pgconn.ConnectError
	switch {
	case errors.As(err, &connect), errors.As(err, &dns), errors.As(err, &network):
		return true
	}
	for _, known := range []error{context.DeadlineExceeded, os.ErrDeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, io.ErrClosedPipe, pgx.ErrTxClosed,
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, syscall.ETIMEDOUT, syscall.EHOSTUNREACH, syscall.ENETUNREACH} {
		if errors.Is(err, known) {
			return true
		}
	}
	return strings.HasSuffix(err.Error(), "conn closed") // pgconn's own error has no name
}

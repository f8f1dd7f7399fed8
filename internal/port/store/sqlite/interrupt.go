package sqlite

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/courant-platform/courant/internal/port/store"
)

// read calls f with a conn whose queries end with ctx. The driver can do that too, but
// with two goroutines for each query, which would take longer than most queries.
func (s *statements) read(ctx context.Context, f func(*conn)) {
	c := &conn{ctx: context.WithoutCancel(ctx), caller: ctx, s: s}
	if ctx.Done() == nil {
		f(c)
		return
	}
	w := watch{handle: s.handle}
	stop := context.AfterFunc(ctx, w.interrupt)
	defer func() {
		if !stop() {
			w.end()
		}
	}()
	f(c)
}

// watch interrupts the statements of a connection until end is called.
type watch struct {
	handle uintptr

	// mu guards over.
	mu   sync.Mutex
	over bool
}

// interrupt ends the statement that runs. It repeats, because SQLite forgets an interrupt
// that comes just before a statement begins.
func (w *watch) interrupt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over && w.handle != 0 {
		sqlite3.Xsqlite3_interrupt(nil, w.handle) // one atomic store: it needs no thread
		time.AfterFunc(longRead, w.interrupt)
	}
}

func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
}

// handleOf returns SQLite's handle of a connection, which the driver does not export.
func handleOf(driverConn any) uintptr {
	v := reflect.ValueOf(driverConn)
	if v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct {
		if db := v.Elem().FieldByName("db"); db.IsValid() && db.Kind() == reflect.Uintptr {
			return uintptr(db.Uint())
		}
	}
	return 0
}

// called calls f and returns its error or its panic. The error of an interrupted query
// is that of the caller's context.
func called(f func(store.Conn) error, c *conn) (err error, panicked any) {
	defer func() { panicked = recover() }()
	err = kind(f(c))
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_INTERRUPT && c.caller != nil && c.caller.Err() != nil {
		err = c.caller.Err()
	}
	return err, nil
}

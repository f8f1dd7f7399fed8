package sqlite_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

func openStore(t *testing.T, path string) *store.Store {
	t.Helper()
	d := database(t, path)
	t.Cleanup(func() { d.Close() })
	s, err := store.Open(t.Context(), d, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const putHost = `INSERT INTO hosts (origin, partition) VALUES ($1, 0)`

func TestLongReadsStallNobody(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "courant.db"))
	ctx, cancel := context.WithCancel(t.Context())
	var long, short sync.WaitGroup
	for range 6 { // more than there usually are connections
		began := make(chan struct{})
		long.Go(func() { storetest.EndlessRead(ctx, t, s, func() { close(began) }) })
		<-began
	}
	for i := range 50 {
		short.Go(func() {
			if err := s.Write(t.Context(), func(tx *store.Tx) error {
				_, err := tx.Exec(putHost, fmt.Sprint(i))
				return err
			}); err != nil {
				t.Error(err)
			}
			var n int
			if err := s.Row(t.Context(), `SELECT COUNT(*) FROM hosts`).Scan(&n); err != nil || n < 1 {
				t.Errorf("read %d: %d, %v", i, n, err)
			}
		})
	}
	short.Wait() // while all long reads run
	if ctx.Err() != nil {
		t.Error("the long reads ended before the short ones")
	}
	cancel()
	long.Wait()
}

func TestACancelledReadLeavesTheQueue(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "courant.db"))
	ctx, cancel := context.WithCancel(t.Context())
	var long sync.WaitGroup
	for range 8 { // all connections
		began := make(chan struct{})
		long.Go(func() { storetest.EndlessRead(ctx, t, s, func() { close(began) }) })
		<-began
	}
	for range 20 {
		brief, end := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			left <- s.Read(brief, func(store.Reader) error { return nil })
		}()
		end()
		<-left // whether it ran or not: it has no connection, and another cannot come
	}
	cancel()
	long.Wait()
	if err := s.Read(t.Context(), func(store.Reader) error { return nil }); err != nil {
		t.Error(err)
	}
}

// In memory, one connection runs everything, so that calls wait while one is held up.
func TestWaitingWritesKeepTheirOrderAndThoseWithSoonGoFirst(t *testing.T) {
	for _, c := range []struct{ soon, others int }{{3, 0}, {0, 3}, {3, 4}, {150, 120}} {
		synctest.Test(t, func(t *testing.T) {
			s := openStore(t, "")
			var all sync.WaitGroup
			release := make(chan struct{})
			all.Go(func() {
				s.Read(t.Context(), func(store.Reader) error {
					<-release
					return nil
				})
			})
			var got, want []string
			queue := func(name string, write func(context.Context, func(*store.Tx) error) error) {
				synctest.Wait()
				all.Go(func() {
					if err := write(t.Context(), func(*store.Tx) error {
						got = append(got, name)
						return nil
					}); err != nil {
						t.Error(err)
					}
				})
			}
			for i := range c.others {
				queue(fmt.Sprint("other ", i), s.Write)
			}
			for i := range c.soon {
				queue(fmt.Sprint("soon ", i), s.WriteSoon)
				want = append(want, fmt.Sprint("soon ", i))
			}
			for i := range c.others {
				want = append(want, fmt.Sprint("other ", i))
			}
			synctest.Wait()
			close(release)
			all.Wait()
			if !slices.Equal(got, want) {
				t.Errorf("ran %q, want %q", got, want)
			}
		})
	}
}

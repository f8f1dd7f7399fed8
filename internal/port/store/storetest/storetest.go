// Package storetest defines what a store.Driver must do, and opens stores of every
// driver for tests of packages that use the store.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/postgres"
	"github.com/courant-platform/courant/internal/port/store/sqlite"
)

// Each runs f over a new store of every driver.
func Each(t *testing.T, f func(t *testing.T, s *store.Store)) {
	t.Run("sqlite in memory", func(t *testing.T) { f(t, Memory(t)) })
	t.Run("sqlite in a file", func(t *testing.T) {
		d, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "courant.db"), NoSync: true})
		f(t, open(t, d, err))
	})
	t.Run("postgres", func(t *testing.T) {
		d, err := postgres.Open(t.Context(), postgres.Config{URL: Postgres(t)})
		f(t, open(t, d, err))
	})
}

// Memory returns a new store in memory.
func Memory(t testing.TB) *store.Store {
	d, err := sqlite.Open(t.Context(), sqlite.Config{})
	return open(t, d, err)
}

func open(t testing.TB, d store.Driver, err error) *store.Store {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := store.Open(t.Context(), d, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Run runs the suite. driver returns a new, empty driver.
func Run(t *testing.T, driver func(t *testing.T) store.Driver) {
	for _, c := range []struct {
		name string
		test func(*testing.T, *store.Store)
	}{
		{"a transaction that fails leaves nothing", failedLeavesNothing},
		{"a panic inside a transaction reaches its caller and leaves nothing", panicLeavesNothing},
		{"a failed transaction does not affect concurrent ones", neighboursUnharmed},
		{"a read sees every committed transaction", writtenIsRead},
		{"a cancelled caller does not affect others", cancelledCaller},
		{"a cancelled read ends and leaves others alone", cancelledRead},
		{"a single statement reads without a transaction", singleStatement},
		{"a row that does not exist is NotFound", missingRow},
		{"a statement runs for each list of parameters, in order", sets},
		{"rows are inserted together", inserts},
		{"a failure within a set leaves nothing of it", failedSet},
		{"concurrent increments are all kept", increments},
		{"a message of a committed transaction is published and then deleted", published},
		{"a message of a failed transaction is never published", neverPublished},
		{"a message whose publishing failed is published later", publishedLater},
		{"messages left by a process that died are published", orphans},
		{"a lease has one owner, and its epoch grows with each new owner", leases},
		{"Prepare refuses a wrong statement", prepare},
		{"the clock does not run backwards", clock},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t, driver(t), nil)) })
	}
}

const (
	addHost   = `INSERT INTO hosts (origin, partition) VALUES ($1, 0)`
	countHost = `SELECT COUNT(*) FROM hosts`
	bumpHost  = `UPDATE hosts SET failures = failures + 1 WHERE origin = $1`
	failures  = `SELECT failures FROM hosts WHERE origin = $1`
)

const setHost = `INSERT INTO hosts (origin, partition, failures) VALUES ($1, 0, $2) ON CONFLICT (origin) DO UPDATE SET failures = 10 * hosts.failures + excluded.failures`

func sets(t *testing.T, s *store.Store) {
	must(t, s.Write(t.Context(), func(tx *store.Tx) error {
		none, err := tx.ExecAll(setHost, nil)
		if err != nil || len(none) != 0 {
			t.Errorf("an empty set: %v, %v", none, err)
		}
		if changed, err := tx.ExecAll(setHost, [][]any{{"a", 1}, {"b", 2}, {"a", 3}}); err != nil || fmt.Sprint(changed) != "[1 1 1]" {
			t.Errorf("changed %v, %v", changed, err)
		}
		changed, err := tx.ExecAll(bumpHost, [][]any{{"b"}, {"nobody"}})
		if fmt.Sprint(changed) != "[1 0]" {
			t.Errorf("changed %v", changed)
		}
		return err
	}))
	var got [4][]int
	must(t, s.Read(t.Context(), func(r store.Reader) error {
		return r.RowsAll(func(i int, rows store.Rows) error {
			var n int
			err := rows.Scan(&n)
			got[i] = append(got[i], n)
			return err
		}, failures, [][]any{{"b"}, {"nobody"}, {"a"}, {"b"}})
	}))
	if fmt.Sprint(got) != "[[3] [] [13] [3]]" {
		t.Errorf("read %v", got)
	}
}

const claimHost = `INSERT INTO hosts (origin, partition, failures) VALUES ($1, (0), $2) ON CONFLICT (origin) DO UPDATE SET failures = 10 * hosts.failures + excluded.failures
	RETURNING origin, failures`

func inserts(t *testing.T, s *store.Store) {
	var args [][]any
	want := map[string]int{}
	for i := range 150 {
		args = append(args, []any{fmt.Sprint("h", i), i})
		want[fmt.Sprint("h", i)] = i
	}
	insert := func(args [][]any) map[string]int {
		got := map[string]int{}
		must(t, s.Write(t.Context(), func(tx *store.Tx) error {
			return tx.Insert(func(rows store.Rows) error {
				var origin string
				var failures int
				err := rows.Scan(&origin, &failures)
				got[origin] = failures
				return err
			}, claimHost, args)
		}))
		return got
	}
	if got := insert(nil); len(got) != 0 {
		t.Errorf("an empty set returned %v", got)
	}
	if got := insert(args); !maps.Equal(got, want) {
		t.Errorf("returned %v", got)
	}
	if got := insert([][]any{{"h149", 2}, {"new", 3}, {"h5", 1}}); fmt.Sprint(got) != "map[h149:1492 h5:51 new:3]" {
		t.Errorf("returned %v", got)
	}
	if got := insert([][]any{{"twice", 2}, {"h6", 1}, {"twice", 3}, {"twice", 4}}); got["twice"] != 234 || got["h6"] != 61 {
		t.Errorf("returned %v", got)
	}
	must(t, s.Write(t.Context(), func(tx *store.Tx) error { return tx.Insert(nil, claimHost, args[:7]) }))
	if n := number(t, s, countHost); n != 152 {
		t.Errorf("%d rows", n)
	}
	if err := s.Write(t.Context(), func(tx *store.Tx) error { return tx.Insert(nil, addHost, [][]any{{"x"}, {"y"}, {"h1"}}) }); err == nil {
		t.Error("a row was inserted twice")
	}
	if n := number(t, s, countHost); n != 152 {
		t.Errorf("%d rows after a failure", n)
	}
}

func failedSet(t *testing.T, s *store.Store) {
	err := s.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.ExecAll(addHost, [][]any{{"a"}, {"b"}, {"a"}, {"c"}})
		return err
	})
	if n := number(t, s, countHost); err == nil || n != 0 {
		t.Errorf("%d rows, %v", n, err)
	}
	err = s.Read(t.Context(), func(r store.Reader) error {
		return r.RowsAll(func(int, store.Rows) error { return errMine }, countHost+" WHERE origin <> $1", [][]any{{"a"}, {"b"}})
	})
	if !errors.Is(err, errMine) {
		t.Error(err)
	}
	must(t, s.Write(t.Context(), insert("a")))
}

var errMine = errors.New("mine")

func insert(name string) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		_, err := tx.Exec(addHost, name)
		return err
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func number(t *testing.T, s *store.Store, query string, args ...any) (n int) {
	t.Helper()
	must(t, s.Read(t.Context(), func(r store.Reader) error { return r.Row(query, args...).Scan(&n) }))
	return n
}

func failedLeavesNothing(t *testing.T, s *store.Store) {
	err := s.Write(t.Context(), func(tx *store.Tx) error {
		return errors.Join(insert("a")(tx), errMine)
	})
	if !errors.Is(err, errMine) {
		t.Errorf("Write returned %v, want %v", err, errMine)
	}
	if n := number(t, s, countHost); n != 0 {
		t.Errorf("%d rows, want none", n)
	}
}

func panicLeavesNothing(t *testing.T, s *store.Store) {
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		s.Write(t.Context(), func(tx *store.Tx) error {
			insert("a")(tx)
			panic("mine")
		})
	}()
	must(t, s.Write(t.Context(), insert("b")))
	if n := number(t, s, countHost); n != 1 {
		t.Errorf("%d rows, want only the second", n)
	}
}

func neighboursUnharmed(t *testing.T, s *store.Store) {
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			err := s.Write(t.Context(), func(tx *store.Tx) error {
				err := insert(fmt.Sprint(i))(tx)
				if i%3 == 0 {
					return errMine
				}
				if i%3 == 1 { // violates a constraint, which aborts the transaction on PostgreSQL
					return insert(fmt.Sprint(i))(tx)
				}
				return err
			})
			if (err == nil) != (i%3 == 2) {
				t.Errorf("transaction %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if n := number(t, s, countHost); n != 66 {
		t.Errorf("%d rows, want 66", n)
	}
}

func writtenIsRead(t *testing.T, s *store.Store) {
	for i := range 50 {
		must(t, s.Write(t.Context(), insert(fmt.Sprint(i))))
		if n := number(t, s, countHost); n != i+1 {
			t.Fatalf("%d rows after %d writes", n, i+1)
		}
	}
}

func cancelledCaller(t *testing.T, s *store.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Write(ctx, insert("a")); err == nil {
		t.Error("Write succeeded with a cancelled context")
	}
	must(t, s.Write(t.Context(), insert("b")))
	if n := number(t, s, countHost); n != 1 {
		t.Errorf("%d rows, want 1", n)
	}
}

func missingRow(t *testing.T, s *store.Store) {
	err := s.Read(t.Context(), func(r store.Reader) error {
		var n int
		return r.Row(failures, "nobody").Scan(&n)
	})
	if !store.NoRow(err) || !errors.Is(err, courant.NotFound) {
		t.Errorf("got %v", err)
	}
}

func increments(t *testing.T, s *store.Store) {
	must(t, s.Write(t.Context(), insert("a")))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 25 {
				if err := s.Write(t.Context(), func(tx *store.Tx) error {
					_, err := tx.Exec(bumpHost, "a")
					return err
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := number(t, s, failures, "a"); n != 200 {
		t.Errorf("%d of 200 increments kept", n)
	}
}

func prepare(t *testing.T, s *store.Store) {
	if s.Prepare(t.Context(), "SELECT nothing FROM nowhere") == nil {
		t.Error("a wrong statement was accepted")
	}
	must(t, s.Prepare(t.Context(), countHost))
}

func clock(t *testing.T, s *store.Store) {
	last := s.Now()
	for range 1000 {
		now := s.Now()
		if now.Before(last) {
			t.Fatalf("%v after %v", now, last)
		}
		last = now
	}
	if d := time.Since(last).Abs(); d > time.Minute {
		t.Errorf("the clock is off by %v", d)
	}
}

package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/courant-platform/courant/internal/port/store"
)

// Endless is a query that does not end by itself: its first row comes after hours.
const Endless = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000000) SELECT COUNT(*) FROM n`

// EndlessRead runs Endless until ctx ends and reports each error but that of ctx. It calls
// runs when the read has begun.
func EndlessRead(ctx context.Context, t *testing.T, s *store.Store, runs func()) {
	err := s.Read(ctx, func(r store.Reader) error {
		runs()
		return r.Rows(func(store.Rows) error { return nil }, Endless)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the endless read returned %v", err)
	}
}

func cancelledRead(t *testing.T, s *store.Store) {
	must(t, s.Write(t.Context(), insert("a")))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	began := make(chan struct{})
	all.Go(func() { EndlessRead(ctx, t, s, func() { close(began) }) })
	<-began
	for i := range 20 {
		all.Go(func() {
			var first, second int
			err := s.Read(t.Context(), func(r store.Reader) error {
				if err := r.Row(countHost).Scan(&first); err != nil {
					return err
				}
				return r.Row(countHost).Scan(&second)
			})
			if err != nil || first < 1 || first != second {
				t.Errorf("read %d: %d and then %d rows, %v", i, first, second, err)
			}
		})
		all.Go(func() {
			if err := s.Write(t.Context(), insert(fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}
	cancel()
	all.Wait()
	if n := number(t, s, countHost); n != 21 {
		t.Errorf("%d rows", n)
	}
}

func singleStatement(t *testing.T, s *store.Store) {
	var n int
	if err := s.Row(t.Context(), failures, "nobody").Scan(&n); !store.NoRow(err) {
		t.Errorf("got %v", err)
	}
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			if err := s.Write(t.Context(), insert(fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
			found := 0
			err := s.Rows(t.Context(), func(rows store.Rows) error {
				found++
				return rows.Scan(new(int))
			}, failures, fmt.Sprint(i))
			if err != nil || found != 1 {
				t.Errorf("%d rows after the write, %v", found, err)
			}
		})
	}
	all.Wait()
	if err := s.Rows(t.Context(), func(store.Rows) error { return errMine }, failures, "1"); !errors.Is(err, errMine) {
		t.Error(err)
	}
	if n := number(t, s, countHost); n != 40 {
		t.Errorf("%d rows", n)
	}
}

package table_test

import (
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/table"
)

func write(t *testing.T, s *store.Store, f func(*store.Tx) error) {
	t.Helper()
	if err := s.Write(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

func exec(t *testing.T, s *store.Store, query string, args ...any) {
	t.Helper()
	write(t, s, func(tx *store.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
}

func text(t *testing.T, s *store.Store, query string) (out string) {
	t.Helper()
	if err := s.Read(t.Context(), func(r store.Reader) error { return r.Row(query).Scan(&out) }); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheNewestDownloadWaitsToBeRead(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, d := range []table.Download{
			{Source: 1, AsOf: 2, Blob: "two", ETag: "2", Raw: []byte("raw"), Hubs: "hub"},
			{Source: 1, AsOf: 1, Blob: "one", ETag: "1"}, // it comes too late
			{Source: 1, AsOf: 3, Blob: "three", ETag: "3", Pushed: true},
		} {
			write(t, s, func(tx *store.Tx) error { return table.HandOver(tx, d) })
		}
		if got := text(t, s, `SELECT blob || etag || hubs FROM pending WHERE source = 1 AND raw IS NULL AND pushed`); got != "three3" {
			t.Errorf("%q waits: all of an older one must be replaced", got)
		}
	})
}

func TestDownloadsAreLoggedForSubscribersAlone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		hand := func(asOf int64, blob string) {
			write(t, s, func(tx *store.Tx) error {
				return table.HandOver(tx, table.Download{Source: 1, Kind: "feed", AsOf: asOf, Blob: blob})
			})
		}
		hand(1, "before")
		exec(t, s, `INSERT INTO subscriptions (name, kinds, position, added, seen) VALUES ('me', 'feed', 0, 1, 1)`)
		hand(2, "body/1/a")
		hand(3, "body/1/pack-1/b")
		hand(4, "") // the same bytes under new validators
		var newest int64
		for range 2 {
			write(t, s, func(tx *store.Tx) (err error) {
				newest, err = table.NumberDownloads(tx)
				return err
			})
		}
		if newest != 2 || text(t, s, `SELECT file FROM downloads WHERE number = 2`) != "body/1/pack-1" {
			t.Errorf("the newest is %d", newest)
		}
		write(t, s, func(tx *store.Tx) error { return table.DropDownloads(tx, "body/1/pack-1") })
		if got := text(t, s, `SELECT CAST(lost AS TEXT) FROM subscriptions`); got != "1" {
			t.Errorf("%s are lost", got)
		}
	})
}

func TestTheBoundsOfTheChangeFeedAreThoseOfChangesAlone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		bounds := func() (oldest, newest int64) {
			if err := s.Read(t.Context(), func(r store.Reader) (err error) {
				oldest, newest, err = table.ChangeBounds(r)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return oldest, newest
		}
		write(t, s, func(tx *store.Tx) error { return table.PutCount(tx, "downloads", 9000) })
		if oldest, newest := bounds(); oldest != 0 || newest != 0 {
			t.Errorf("from %d to %d in an empty store", oldest, newest)
		}
		write(t, s, func(tx *store.Tx) error { return table.PutCount(tx, "changes", 7) })
		write(t, s, func(tx *store.Tx) error { return table.PutCount(tx, "forgotten", 3) })
		write(t, s, func(tx *store.Tx) error { return table.PutCount(tx, "changes", 5) }) // a count never falls
		if oldest, newest := bounds(); oldest != 3 || newest != 7 {
			t.Errorf("from %d to %d", oldest, newest)
		}
	})
}

func TestALivePageGoesTheWayOfADocumentOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		key := []byte("0123456789abcdef")
		exec(t, s, `INSERT INTO pages (url, id, address, host, source, rank, as_of, withdrawn, hash, revision, title, language, picture, published, updated, fetched, stored, rendered_at)
			VALUES ($1, 1, 'http://a.example/1', 'a.example', 4, 1, 9, FALSE, $1, 1, '', '', '', 0, 0, 1, 1, 1)`, key)
		exec(t, s, `INSERT INTO bodies (page, document, html) VALUES (1, $1, $1)`, []byte("document"))
		q := table.Requeued{URL: key, Source: 4, AsOf: 9, State: 1, Missing: 2, Due: time.UnixMilli(5), Trace: "again"}
		for _, c := range []struct {
			change func()
			want   bool
		}{{func() { q.AsOf = 8 }, false}, {func() { q.AsOf = 9 }, true}, {func() {}, false}} {
			c.change()
			write(t, s, func(tx *store.Tx) error {
				taken, err := table.Requeue(tx, q)
				if taken != c.want {
					t.Errorf("as of %d: taken %v", q.AsOf, taken)
				}
				return err
			})
		}
		if got := text(t, s, `SELECT address || trace FROM documents WHERE state = 1 AND missing = 2 AND due = 5 AND as_of = 9`); got != "http://a.example/1again" {
			t.Errorf("got %q", got)
		}
		exec(t, s, `DELETE FROM documents`)
		exec(t, s, `UPDATE pages SET withdrawn = TRUE`)
		write(t, s, func(tx *store.Tx) error {
			if taken, err := table.Requeue(tx, q); taken || err != nil {
				t.Errorf("a withdrawn page: %v, %v", taken, err)
			}
			return nil
		})
	})
}

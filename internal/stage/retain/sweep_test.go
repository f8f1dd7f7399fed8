package retain

import (
	"log/slog"
	"regexp"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

const wantedURL = "http://a.example/1.png"

// wanting returns the key of a picture, and a packed document that has it.
func wanting(t *testing.T) (key [16]byte, document []byte) {
	document, err := pack.Encode(courant.Document{Item: courant.Item{Images: []string{wantedURL}}})
	if err != nil {
		t.Fatal(err)
	}
	return link.Digest(wantedURL), document
}

func TestAPictureThatIsWantedDuringTheSweepStays(t *testing.T) {
	key, document := wanting(t)
	page := func(change int) func(tx *store.Tx) error {
		return func(tx *store.Tx) error {
			_, err := tx.Exec(`INSERT INTO pages (url, id, address, host, source, rank, as_of, withdrawn, hash, revision, title, language, picture,
				published, updated, fetched, stored, rendered_at, change) VALUES ($1, 1, '', '', 1, 1, 1, FALSE, $1, 1, '', '', '', 0, 0, 0, 0, 1, $2)`, key[:], change)
			if err == nil {
				_, err = tx.Exec(`INSERT INTO bodies (page, document, html) VALUES (1, $1, $1)`, document)
			}
			return err
		}
	}
	put := func(state int) func(tx *store.Tx) error {
		return func(tx *store.Tx) error {
			_, err := tx.Exec(`INSERT INTO documents (url, source, address, rank, as_of, state, due, fetched, content, trace)
				VALUES ($1, 1, '', 1, 1, $2, 1, 1, $3, '')`, key[:], state, document)
			return err
		}
	}
	for _, c := range []struct {
		what   string
		change func(*store.Tx) error
		left   int
	}{
		{"nothing changes", func(*store.Tx) error { return nil }, 0},
		{"a page changes", page(5), 1},
		{"a page changes and has no number yet", page(0), 1},
		{"a document waits", put(1), 1},
		{"a document is ready", put(2), 1},
	} {
		t.Run(c.what, func(t *testing.T) {
			if left := sweepAround(t, key, c.change); left != c.left {
				t.Errorf("%d pictures are left, want %d", left, c.left)
			}
		})
	}
}

// sweepAround deletes a picture that is unused, after a change that comes when the sweep
// has read all pages and what is on its way. It returns how many pictures are left.
func sweepAround(t *testing.T, key [16]byte, change func(*store.Tx) error) (left int) {
	s := storetest.Memory(t)
	r := &Retain{Store: s, Config: Defaults(), Owner: "me", Log: slog.New(slog.DiscardHandler)}
	sw := sweep{turn: &turn{Retain: r, size: firstSize, deleted: map[string]int{}}, began: s.Now(), cut: s.Now().UnixMilli()}
	write := func(f func(*store.Tx) error) error { return s.Write(t.Context(), f) }
	for _, step := range []func() error{
		func() error {
			return write(func(tx *store.Tx) error {
				_, err := tx.Exec(`INSERT INTO media (hash, url, state, changed) VALUES ($1, 'x', 1, 1)`, key[:])
				return err
			})
		},
		func() error { return sw.collect(t.Context()) },
		func() error { return sw.markAll(t.Context()) },
		func() error { return sw.follow(t.Context()) },
		func() error { return write(change) },
		func() error {
			return write(func(tx *store.Tx) error {
				_, err := sw.dropSome(tx, [][]any{{key[:]}})
				return err
			})
		},
		func() error {
			return s.Read(t.Context(), func(r store.Reader) error { return r.Row(`SELECT COUNT(*) FROM media`).Scan(&left) })
		},
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return left
}

func TestBatchesShrinkWhenTheyTakeLong(t *testing.T) {
	for _, c := range []struct {
		size int
		took time.Duration
		want int
	}{{100, 0, 200}, {400, 0, mostSize}, {100, 10 * time.Millisecond, 100}, {100, 40 * time.Millisecond, 50}, {20, time.Second, leastSize}} {
		if got := nextSize(c.size, c.took); got != c.want {
			t.Errorf("%d rows after %d that took %v, want %d", got, c.size, c.took, c.want)
		}
	}
}

// scansTable matches a step of SQLite's plan that reads a table without an index or in
// another order than asked for.
var scansTable = regexp.MustCompile(`SCAN \w+$|TEMP B-TREE`)

var parameter = regexp.MustCompile(`\$\d`)

func TestEveryStatementWalksAnIndex(t *testing.T) {
	all := map[string]string{"pictures": picturesAfter, "bodies": bodiesAfter, "on their way": onTheirWay, "not numbered": notNumbered, "content": namesContent, "newest event": newestEvent}
	for _, r := range agedRules {
		all[r.table], all[r.table+" deletion"] = r.find, r.drop
	}
	for _, r := range walkRules {
		all[r.table], all[r.table+" deletion"] = r.find, r.drop
	}
	s := storetest.Memory(t)
	for name, query := range all {
		err := s.Read(t.Context(), func(r store.Reader) error {
			return r.Rows(func(rows store.Rows) error {
				var id, parent, unused int
				var step string
				err := rows.Scan(&id, &parent, &unused, &step)
				if scansTable.MatchString(step) {
					t.Errorf("%s: %s", name, step)
				}
				return err
			}, `EXPLAIN QUERY PLAN `+parameter.ReplaceAllString(query, "1"))
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

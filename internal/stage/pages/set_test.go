package pages_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
)

// together has pages process versions in one set.
func (w *world) together(versions ...version) {
	w.t.Helper()
	for _, v := range versions {
		w.ready(v)
	}
	time.Sleep(3 * time.Second)
}

func TestVersionsOfOneAddressInOneSetCompeteAsIfOneByOne(t *testing.T) {
	for name, c := range map[string]struct {
		versions []version
		source   int64
		gone     bool
	}{
		"the later of equals":            {[]version{{source: 1, rank: courant.OwnFeed, asOf: 5, item: text("One")}, {source: 2, rank: courant.OwnFeed, asOf: 6, item: text("Two")}}, 2, false},
		"whatever order they come in":    {[]version{{source: 2, rank: courant.OwnFeed, asOf: 6, item: text("Two")}, {source: 1, rank: courant.OwnFeed, asOf: 5, item: text("One")}}, 2, false},
		"the higher rank":                {[]version{{source: 1, rank: courant.OwnFeed, asOf: 5, item: text("One")}, {source: 2, rank: courant.Foreign, asOf: 6, item: text("Two")}}, 1, false},
		"a withdrawal by its own source": {[]version{{source: 1, rank: courant.OwnFeed, asOf: 5, item: text("One")}, {source: 2, rank: courant.OwnFeed, asOf: 6, item: gone()}}, 1, false},
	} {
		in(t, func(t *testing.T, w *world) {
			w.together(c.versions...)
			if p := w.page(address); p.source != c.source || p.withdrawn != c.gone {
				t.Errorf("%s: got %+v", name, p)
			}
			if n := w.number(`SELECT COUNT(*) FROM documents`); n != 0 {
				t.Errorf("%s: %d documents are left", name, n)
			}
		})
	}
}

func TestADocumentThatCannotBeReadHoldsUpNoOther(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		broken := link.Digest("http://a.example/broken")
		w.exec(`INSERT INTO documents (url, source, address, rank, as_of, state, due, fetched, content, trace) VALUES ($1, 1, 'http://a.example/broken', 3, 5, 2, 1, 1, 'no zstd', '')`, broken[:])
		var all []version
		for i := range 100 { // more than one set
			all = append(all, version{url: fmt.Sprint("http://a.example/", i), source: 1, rank: courant.OwnFeed, item: text(fmt.Sprint("Page ", i))})
		}
		w.together(all...)
		if n := w.number(`SELECT COUNT(*) FROM pages`); n != 100 {
			t.Errorf("%d pages are live", n)
		}
		if n := w.number(`SELECT COUNT(*) FROM documents`); n != 1 {
			t.Errorf("%d documents are left, want the broken one", n)
		}
		if n := w.number(`SELECT COUNT(DISTINCT change) FROM pages`); n != 100 {
			t.Errorf("%d changes", n)
		}
	})
}

func TestNearDuplicatesInOneSetAreLinkedToTheFirst(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var all []version
		for i := range 5 {
			all = append(all, version{url: fmt.Sprint("http://a.example/", i), source: 1, rank: courant.OwnFeed,
				item: courant.Item{Title: fmt.Sprint(i), Content: strings.Replace(prose(300), "brown", fmt.Sprint("word", i), 1)}})
		}
		w.together(all...)
		if n := w.number(`SELECT COUNT(*) FROM pages WHERE duplicate_of = (SELECT MIN(id) FROM pages)`); n != 4 {
			t.Errorf("%d pages are duplicates of the first", n)
		}
		if n := w.number(`SELECT duplicate_of FROM pages ORDER BY id LIMIT 1`); n != 0 {
			t.Errorf("the first is a duplicate of %d", n)
		}
	})
}

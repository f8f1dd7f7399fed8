package index_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/search/index"
	"github.com/courant-platform/courant/internal/search/shard"
	"github.com/courant-platform/courant/internal/search/words"
)

// world is a store in memory with pages, in fake time, and what indexes over it log.
type world struct {
	t      *testing.T
	store  *store.Store
	dir    string
	log    logged
	change int64
}

// logged is a log that tests read.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// count is in how many lines a text is.
func (l *logged) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

func in(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, dir: dir}
		w.another(storetest.Memory(t))
		test(t, w)
	})
}

// another gives the world another store.
func (w *world) another(s *store.Store) {
	w.store, w.change = s, 0
	w.exec(`INSERT INTO sources (id, name, kind, url, host, title, trusted, added) VALUES (1, 'shop', 'catalog', 'http://a.example/', 'a.example', '', FALSE, 1)`)
}

// open makes an index ready that ranks everything, however busy, and by no model unless
// a change says so.
func (w *world) open(changes ...func(*index.Index)) *index.Index {
	w.t.Helper()
	x := &index.Index{Store: w.store, Dir: w.dir, Config: index.Config{Shards: 4, Model: "none", Policy: "off", Signals: []string{"Rating"}}, RegionParam: "Regions",
		Log: slog.New(slog.NewTextHandler(&w.log, nil))}
	for _, change := range changes {
		change(x)
	}
	if err := x.Open(); err != nil {
		w.t.Fatal(err)
	}
	return x
}

// run starts an index and lets it catch up. stop ends it, as the end of the test does.
func (w *world) run(x *index.Index) (stop func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- x.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(stop)
	synctest.Wait()
	return stop
}

// look lets an index look for changes that no bell announced.
func look() {
	time.Sleep(1100 * time.Millisecond)
	synctest.Wait()
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	if err := w.store.Write(w.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
}

// put makes pages live, or withdraws them; each is the next change.
func (w *world) put(docs ...courant.Document) {
	w.t.Helper()
	if err := w.store.Write(w.t.Context(), func(tx *store.Tx) error {
		for _, d := range docs {
			w.change++
			if err := put(tx, d, w.change); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
}

func put(tx *store.Tx, d courant.Document, change int64) error {
	key := link.Digest(d.URL)
	content, err := pack.Encode(d)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(`INSERT INTO pages (url, id, address, host, source, rank, as_of, withdrawn, hash, revision, title, language, picture, published, updated, fetched, stored, rendered_at, change)
		VALUES ($1, $2, $3, $4, 1, 3, 1, $5, $1, 1, $6, '', '', $8, 0, 0, 5000, 1, $7)
		ON CONFLICT (url) DO UPDATE SET withdrawn = excluded.withdrawn, title = excluded.title, change = excluded.change`,
		key[:], page(d), d.URL, link.Host(d.URL), d.Item.Withdrawn, d.Item.Title, change, store.Millis(d.Item.Published.Time)); err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO bodies (page, document, html) SELECT id, $1, $2 FROM pages WHERE url = $3 ON CONFLICT (page) DO UPDATE SET document = excluded.document`,
		content, []byte{}, key[:])
	return err
}

// page is the number at the end of an address.
func page(d courant.Document) (id int64) {
	fmt.Sscan(d.URL[strings.LastIndexByte(d.URL, '/')+1:], &id)
	return id
}

// offer is one of a model, "" for none.
func offer(id int, name, model string, params ...courant.Param) courant.Document {
	url := fmt.Sprint("http://a.example/offer/", id)
	return courant.DocumentOf(url, 1, &courant.Offer{ID: fmt.Sprint(id), URL: url, Name: name, Price: "100.50", Available: true, Vendor: "Acme", GroupID: model,
		CategoryID: "11", CategoryPath: []string{"1", "11"}, Category: []string{"Home", "Kettles"}, Params: params})
}

func article(id int, title, content string) courant.Document {
	return courant.Document{URL: fmt.Sprint("http://a.example/news/", id), Source: 1, Item: courant.Item{Title: title, Content: content}}
}

func withdrawn(d courant.Document) courant.Document {
	d.Item.Withdrawn = true
	return d
}

// offers are n kettles, numbered from a number on.
func offers(from, n int) (all []courant.Document) {
	for i := range n {
		all = append(all, offer(from+i, fmt.Sprint("Kettle ", from+i), ""))
	}
	return all
}

// asking is a query for words as they are.
func asking(text string) *index.Ask {
	q := shard.Query{Exact: true, Top: 2000, Share: 1, Person: shard.Nobody()}
	for _, w := range words.All(text) {
		q.Words = append(q.Words, shard.Word{Text: w})
	}
	return &index.Ask{Query: q}
}

// find is what is found, by the numbers of the pages.
func (w *world) find(x *index.Index, text string) (pages []int64) {
	w.t.Helper()
	p, err := x.Ask(w.t.Context(), asking(text))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, h := range p.Hits {
		pages = append(pages, h.ID)
	}
	if p.Total != len(pages) {
		w.t.Errorf("%q: %d of %d are shown", text, len(pages), p.Total)
	}
	slices.Sort(pages)
	return pages
}

// finds compares what is found.
func (w *world) finds(x *index.Index, text string, want ...int64) {
	w.t.Helper()
	if got := w.find(x, text); !slices.Equal(got, want) {
		w.t.Errorf("%q finds %v, want %v", text, got, want)
	}
}

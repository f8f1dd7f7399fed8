package parse_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/blob/memory"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/stage/parse"
	"github.com/courant-platform/courant/internal/table"
)

// world is parse over a store in memory, in fake time. There are no notifications:
// parse finds its downloads by its sweep.
type world struct {
	t     *testing.T
	store *store.Store
	blobs blob.Bucket
	parse *parse.Parse
	asOf  int64
	key   string // of the newest download

	hubs, self string // from the response's Link header
}

func in(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, store: storetest.Memory(t), blobs: blob.Bucket{Driver: &memory.Memory{}}, asOf: 1000}
		w.parse = &parse.Parse{Store: w.store, Blobs: w.blobs, Pictures: true, Owner: "we", Log: slog.New(slog.DiscardHandler)}
		w.source(1, "http://a.example/feed", false)
		w.source(2, "http://a.example/other", false)
		w.source(3, "http://foreign.example/feed", false)
		w.source(4, "http://trusted.example/feed", true)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { w.parse.Run(ctx) })
		defer running.Wait()
		defer cancel()
		test(t, w)
	})
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

func (w *world) source(id int64, url string, trusted bool) {
	w.exec(`INSERT INTO sources (id, name, kind, url, host, title, trusted, added) VALUES ($1, $2, 'feed', $3, $4, '', $5, 1)`,
		id, fmt.Sprint("source-", id), url, link.Host(url), trusted)
	w.exec(`INSERT INTO answers (source, url, origin, partition) VALUES ($1, $2, $3, 0)`, id, url, link.Origin(url))
	w.exec(`INSERT INTO readings (source) VALUES ($1)`, id)
}

// pend stores a pending download as robot does.
func (w *world) pend(source int64, body, etag string) (asOf int64) {
	w.t.Helper()
	w.asOf++
	if body != "" {
		var err error
		if w.key, err = w.blobs.PutCached(w.t.Context(), fmt.Sprintf("body/1/%d", w.asOf), []byte(body)); err != nil {
			w.t.Fatal(err)
		}
	} else {
		w.key = ""
	}
	if err := w.store.Write(w.t.Context(), func(tx *store.Tx) error {
		var url string
		if err := tx.Row(`SELECT url FROM answers WHERE source = $1`, source).Scan(&url); err != nil {
			return err
		}
		return table.HandOver(tx, table.Download{Source: source, Kind: "feed", AsOf: w.asOf, URL: url, Type: "text/xml", ETag: etag, Modified: "Fri",
			Blob: w.key, Body: []byte(etag), Hubs: w.hubs, Self: w.self})
	}); err != nil {
		w.t.Fatal(err)
	}
	return w.asOf
}

// read has parse read a download.
func (w *world) read(source int64, body string) (asOf int64) {
	w.t.Helper()
	asOf = w.pend(source, body, fmt.Sprint("tag ", w.asOf+1))
	time.Sleep(12 * time.Second)
	if p := w.poll(source); p.parsed != asOf {
		w.t.Fatalf("the download as of %d was not read: %+v", asOf, p)
	}
	return asOf
}

type poll struct {
	parsed, changed, rhythm, ttl int64
	etag, modified, report       string
	items                        int
	body                         []byte
}

func (w *world) poll(source int64) (p poll) {
	w.t.Helper()
	if err := w.store.Read(w.t.Context(), func(r store.Reader) error {
		return r.Row(`SELECT as_of, changed, rhythm, ttl, etag, modified, report, items, body FROM readings WHERE source = $1`, source).Scan(
			&p.parsed, &p.changed, &p.rhythm, &p.ttl, &p.etag, &p.modified, &p.report, &p.items, &p.body)
	}); err != nil {
		w.t.Fatal(err)
	}
	return p
}

type document struct {
	address      string
	source, asOf int64
	rank         courant.Rank
	state        int
	doc          courant.Document
	trace        string
}

// taken takes the queued documents and deletes them, as pages does.
func (w *world) taken() (all []document) {
	w.t.Helper()
	if err := w.store.Read(w.t.Context(), func(r store.Reader) error {
		return r.Rows(func(rows store.Rows) error {
			var d document
			var content []byte
			if err := rows.Scan(&d.address, &d.source, &d.asOf, &d.rank, &d.state, &content, &d.trace); err != nil {
				return err
			}
			all = append(all, d)
			return pack.Decode(content, &all[len(all)-1].doc)
		}, `SELECT address, source, as_of, rank, state, content, trace FROM documents ORDER BY address, source`)
	}); err != nil {
		w.t.Fatal(err)
	}
	w.exec(`DELETE FROM documents`)
	return all
}

// bells takes the topics of the messages in the outbox, once for each fact, and deletes
// the messages.
func (w *world) bells() map[string]int {
	w.t.Helper()
	count := map[string]int{}
	if err := w.store.Read(w.t.Context(), func(r store.Reader) error {
		return r.Rows(func(rows store.Rows) error {
			var text []byte
			if err := rows.Scan(&text); err != nil {
				return err
			}
			var messages []struct {
				Topic string
				Facts []json.RawMessage
			}
			err := json.Unmarshal(text, &messages)
			for _, m := range messages {
				count[m.Topic] += len(m.Facts)
			}
			return err
		}, `SELECT messages FROM outbox`)
	}); err != nil {
		w.t.Fatal(err)
	}
	w.exec(`DELETE FROM outbox`)
	return count
}

// item is an item of a feed.
func item(path, title string) string {
	return fmt.Sprintf("<item><guid>%[1]s</guid><link>http://a.example%[1]s</link><title>%[2]s</title><description>text</description></item>", path, title)
}

func rss(items ...string) string {
	return "<rss version=\"2.0\" xmlns:turbo=\"http://turbo.yandex.ru\"><channel><title>A</title><ttl>30</ttl>" + strings.Join(items, "") + "</channel></rss>"
}

func atom(entries ...string) string {
	return `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0"><title>A</title><id>a</id>` +
		strings.Join(entries, "") + `</feed>`
}

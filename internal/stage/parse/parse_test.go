package parse_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/blob/memory"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/bus/membus"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/stage/parse"
)

func TestNewItemsAreFoundAndTheValidatorsKept(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		picture := strings.Replace(item("/2", "Two"), "text", "&lt;img src='/p.png'&gt;", 1)
		asOf := w.read(1, rss(item("/1", "One"), picture))
		found := w.taken()
		if len(found) != 2 {
			t.Fatalf("found %+v", found)
		}
		one, two := found[0], found[1]
		if one.address != "http://a.example/1" || one.asOf != asOf || one.rank != courant.OwnFeed || one.state != 2 || one.doc.Item.Title != "One" || one.doc.Source != 1 {
			t.Errorf("got %+v", one)
		}
		if two.state != 0 {
			t.Errorf("a document with a picture does not wait for it: %+v", two)
		}
		for _, step := range []string{`"fetched"`, `"parsed"`} {
			if !strings.Contains(one.trace, step) {
				t.Errorf("the story %s lacks %s", one.trace, step)
			}
		}
		if p := w.poll(1); p.etag != "tag 1001" || p.modified != "Fri" || string(p.body) != "tag 1001" || p.items != 2 || p.changed == 0 || p.ttl != 30*60*1000 || p.report != "" {
			t.Errorf("got %+v", p)
		}
		if b := w.bells(); b[flow.DocumentReady.Name] != 1 || b[flow.DocumentFound.Name] != 1 || b[flow.SourceChanged.Name] != 1 {
			t.Errorf("told %v", b)
		}
	})
}

func TestWithoutMediaNoDocumentWaitsForPictures(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.parse.Pictures = false
		w.read(1, rss(strings.Replace(item("/2", "Two"), "text", "&lt;img src='/p.png'&gt;", 1)))
		if found := w.taken(); len(found) != 1 || found[0].state != 2 {
			t.Errorf("found %+v", found)
		}
	})
}

func TestWhatHasNotChangedCostsNoWrite(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		first := w.read(1, rss(item("/1", "One"), item("/2", "Two")))
		before := w.poll(1)
		w.taken()
		w.bells()
		w.read(1, rss(item("/2", "Two"), item("/1", "One"))) // in another order
		if found, b := w.taken(), w.bells(); len(found) != 0 || len(b) != 0 {
			t.Errorf("found %+v, told %v", found, b)
		}
		if after := w.poll(1); after.changed != before.changed || after.rhythm != before.rhythm || after.etag == before.etag {
			t.Errorf("before %+v, after %+v", before, after)
		}
		var newest int64
		if err := w.store.Read(t.Context(), func(r store.Reader) error { return r.Row(`SELECT MAX(as_of) FROM items`).Scan(&newest) }); err != nil || newest != first {
			t.Errorf("items were written as of %d, %v", newest, err)
		}
	})
}

func TestAChangedItemIsADocumentAgainAndALeftOutOneIsNot(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.read(1, rss(item("/1", "One"), item("/2", "Two"), item("/3", "Three")))
		w.taken()
		asOf := w.read(1, rss(item("/1", "One"), item("/2", "Deux")))
		if found := w.taken(); len(found) != 1 || found[0].doc.Item.Title != "Deux" || found[0].asOf != asOf || found[0].doc.Item.Withdrawn {
			t.Errorf("found %+v", found)
		}
	})
}

func TestAWithdrawnItemIsReportedOnceAndItsReturnIsAChange(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		on, off := strings.Replace(item("/1", "One"), "<item>", `<item turbo="true">`, 1), strings.Replace(item("/1", "One"), "<item>", `<item turbo="false">`, 1)
		w.read(1, rss(on))
		w.taken()
		w.read(1, rss(off))
		if found := w.taken(); len(found) != 1 || !found[0].doc.Item.Withdrawn || found[0].address != "http://a.example/1" || found[0].state != 2 {
			t.Fatalf("found %+v", found)
		}
		w.read(1, rss(off))
		if found := w.taken(); len(found) != 0 {
			t.Errorf("told twice: %+v", found)
		}
		w.read(1, rss(on))
		if found := w.taken(); len(found) != 1 || found[0].doc.Item.Withdrawn {
			t.Errorf("the return is no news: %+v", found)
		}
	})
}

func TestATombstoneWithoutAnAddressFindsItsDocument(t *testing.T) {
	const entry = `<entry><id>urn:1</id><title>One</title><link href="http://a.example/1"/><updated>2026-01-02T03:04:05Z</updated></entry>`
	in(t, func(t *testing.T, w *world) {
		w.read(1, atom(entry))
		w.read(1, atom(`<at:deleted-entry ref="urn:1" when="2026-01-03T00:00:00Z"/>`))
		if found := w.taken(); len(found) != 1 || !found[0].doc.Item.Withdrawn || found[0].address != "http://a.example/1" {
			t.Errorf("found %+v", found)
		}
		w.read(1, atom(`<at:deleted-entry ref="urn:9" when="2026-01-03T00:00:00Z"/>`))
		if found := w.taken(); len(found) != 0 {
			t.Errorf("a tombstone of nothing: %+v", found)
		}
		w.read(2, atom(`<at:deleted-entry ref="urn:1" when="2026-01-03T00:00:00Z"/>`))
		if found := w.taken(); len(found) != 0 {
			t.Errorf("a tombstone of another source's item: %+v", found)
		}
	})
}

func TestTwoSourcesOfOneAddressDoNotFlipFlop(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.read(1, rss(item("/1", "One")))
		w.read(2, rss(item("/1", "Uno")))
		if found := w.taken(); len(found) != 2 || found[0].rank != courant.OwnFeed || found[1].rank != courant.OwnFeed {
			t.Fatalf("found %+v", found)
		}
		for range 3 {
			w.read(1, rss(item("/1", "One")))
			w.read(2, rss(item("/1", "Uno")))
		}
		if found := w.taken(); len(found) != 0 {
			t.Errorf("found %+v", found)
		}
	})
}

func TestTheRankOfASourceForAnAddress(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		for source, rank := range map[int64]courant.Rank{1: courant.OwnFeed, 3: courant.Foreign, 4: courant.OwnFeed} {
			w.read(source, rss(item("/1", "One")))
			if found := w.taken(); len(found) != 1 || found[0].rank != rank {
				t.Errorf("source %d: found %+v", source, found)
			}
		}
	})
}

func TestAWithdrawalHasOtherSourcesReadAgain(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.read(1, rss(item("/1", "One")))
		w.read(2, rss(item("/1", "Uno"), item("/2", "Due")))
		w.taken()
		w.read(1, rss(strings.Replace(item("/1", "One"), "<item>", `<item turbo="false">`, 1)))
		w.taken()
		if p := w.poll(2); p.etag != "" || p.modified != "" || p.body != nil {
			t.Errorf("the other source is asked with its validators: %+v", p)
		}
		w.read(2, rss(item("/1", "Uno"), item("/2", "Due")))
		if found := w.taken(); len(found) != 1 || found[0].source != 2 || found[0].doc.Item.Title != "Uno" {
			t.Errorf("found %+v", found)
		}
	})
}

func TestALostOrDamagedDownloadIsAskedForAgainWithTheOldValidators(t *testing.T) {
	for what, spoil := range map[string]func(context.Context, blob.Bucket, string) error{
		"lost":    func(ctx context.Context, b blob.Bucket, key string) error { return b.Delete(ctx, key) },
		"damaged": func(ctx context.Context, b blob.Bucket, key string) error { return b.Put(ctx, key, make([]byte, 100)) },
	} {
		in(t, func(t *testing.T, w *world) {
			w.read(1, rss(item("/1", "One")))
			before := w.poll(1)
			w.taken()
			asOf := w.pend(1, rss(item("/1", "Uno")), "new")
			if err := spoil(t.Context(), w.blobs, w.key); err != nil {
				t.Fatal(err)
			}
			time.Sleep(12 * time.Second)
			if p := w.poll(1); p.parsed != asOf || p.etag != before.etag || !bytes.Equal(p.body, before.body) {
				t.Errorf("%s: before %+v, after %+v", what, before, p)
			}
			if found := w.taken(); len(found) != 0 {
				t.Errorf("%s: found %+v", what, found)
			}
		})
	}
}

func TestADownloadThatIsNoFeedIsReportedAndNotParsedAgain(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.read(1, rss(item("/1", "One")))
		w.taken()
		w.read(1, `<!DOCTYPE html><html><head><link rel="alternate" type="application/rss+xml" href="/feed.xml" title="News"></head><body><p>Hello</p></body></html>`)
		p := w.poll(1)
		if !strings.Contains(p.report, "not_a_feed") || !strings.Contains(p.report, "http://a.example/feed.xml") || p.etag != "tag 1002" {
			t.Errorf("got %+v", p)
		}
		if found := w.taken(); len(found) != 0 {
			t.Errorf("found %+v", found)
		}
		w.read(1, rss(item("/1", "One")))
		if p := w.poll(1); p.report != "" || len(w.taken()) != 0 {
			t.Errorf("after it has mended: %+v", p)
		}
	})
}

func TestTheSameBytesUnderNewValidatorsKeepThose(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.read(1, rss(item("/1", "One")))
		w.taken()
		w.read(1, "")
		if p := w.poll(1); p.etag != "tag 1002" || p.items != 1 || len(w.taken()) != 0 {
			t.Errorf("got %+v", p)
		}
	})
}

func TestTheRhythmIsReadOffTheDatesThenOffTheChanges(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		dated := func(n int) (items []string) {
			for i := range n {
				at := time.Date(2026, 1, 2, i, 0, 0, 0, time.UTC).Format(time.RFC1123Z)
				items = append(items, strings.Replace(item(fmt.Sprint("/", i), "Title"), "<title>", "<pubDate>"+at+"</pubDate><title>", 1))
			}
			return items
		}
		w.read(1, rss(dated(6)...))
		first := w.poll(1)
		if first.rhythm != time.Hour.Milliseconds() {
			t.Errorf("the first rhythm is %v", time.Duration(first.rhythm)*time.Millisecond)
		}
		time.Sleep(3 * time.Hour)
		w.read(1, rss(dated(7)...))
		if second := w.poll(1); second.rhythm < 85*time.Minute.Milliseconds() || second.rhythm > 95*time.Minute.Milliseconds() {
			t.Errorf("after a change in three hours the rhythm is %v", time.Duration(second.rhythm)*time.Millisecond)
		}
		time.Sleep(time.Hour)
		w.read(1, rss(dated(13)...))
		if third := w.poll(1); third.rhythm < 45*time.Minute.Milliseconds() || third.rhythm > 55*time.Minute.Milliseconds() {
			t.Errorf("after six new ones in an hour the rhythm is %v", time.Duration(third.rhythm)*time.Millisecond)
		}
	})
}

func TestANotificationIsHandledAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, store: storetest.Memory(t), blobs: blob.Bucket{Driver: &memory.Memory{}}, asOf: 1000}
		w.source(1, "http://a.example/feed", false)
		b := &bus.Bus{Driver: &membus.Driver{}}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			b.Run(ctx, (&parse.Parse{Store: w.store, Blobs: w.blobs, Log: slog.New(slog.DiscardHandler)}).Handlers()...)
		})
		synctest.Wait()
		asOf := w.pend(1, rss(item("/1", "One")), "tag")
		name, facts := flow.FeedFetched.Encode(flow.Poll{Source: 1, AsOf: asOf}, flow.Poll{Source: 1, AsOf: asOf}, flow.Poll{Source: 9})
		if err := b.Publish(t.Context(), name, facts); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
		if found := w.taken(); len(found) != 1 || len(b.Dead()) != 0 {
			t.Errorf("found %+v, dead letters %+v", found, b.Dead())
		}
		cancel()
		running.Wait()
	})
}

func TestOneDownloadReadByTwoAtOnceIsFoundOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := &world{t: t, store: s, blobs: blob.Bucket{Driver: &memory.Memory{}}, asOf: 1000}
		w.source(1, "http://a.example/feed", false)
		w.source(2, "http://a.example/other", false)
		var items []string
		for i := range 40 {
			items = append(items, item(fmt.Sprint("/", i), "Title"))
		}
		w.pend(1, rss(items...), "tag")
		w.pend(2, rss(items...), "tag")
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for range 4 {
			running.Go(func() { (&parse.Parse{Store: s, Blobs: w.blobs, Log: slog.New(slog.DiscardHandler)}).Run(ctx) })
		}
		deadline := time.After(30 * time.Second)
		for w.poll(1).parsed < 1001 || w.poll(2).parsed < 1002 {
			select {
			case <-deadline:
				t.Fatalf("not read: %+v, %+v", w.poll(1), w.poll(2))
			case <-time.After(10 * time.Millisecond):
			}
		}
		cancel()
		running.Wait()
		if b := w.bells(); b[flow.DocumentReady.Name] != 80 {
			t.Errorf("told %v", b)
		}
		if found := w.taken(); len(found) != 80 {
			t.Errorf("%d of 80 documents were found", len(found))
		}
	})
}

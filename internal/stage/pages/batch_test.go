package pages_test

import (
	"context"
	"encoding/hex"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/bus/membus"
	"github.com/courant-platform/courant/internal/stage/pages"
)

// batch writes offers as parse does, and waits until they are live.
func (w *world) batch(asOf int64, found ...courant.Found) {
	w.t.Helper()
	content, err := pack.EncodeList(found)
	if err != nil {
		w.t.Fatal(err)
	}
	w.exec(`INSERT INTO batches (source, as_of, n, due, fetched, content) VALUES (1, $1, 0, 1, 1, $2)`, asOf, content)
	time.Sleep(3 * time.Second)
	if n := w.number(`SELECT COUNT(*) FROM batches`); n != 0 {
		w.t.Fatalf("%d batches still wait", n)
	}
}

func found(t *testing.T, url, name, hash string, pictures ...string) courant.Found {
	t.Helper()
	content, err := pack.Encode(courant.DocumentOf(url, 1, &courant.Offer{ID: "1", Name: name, Pictures: pictures, Hash: hex.EncodeToString([]byte(hash))}))
	if err != nil {
		t.Fatal(err)
	}
	key := link.Digest(url)
	return courant.Found{Key: key[:], Address: url, Rank: courant.OwnFeed, Hash: []byte(hash), Title: name, Document: content}
}

func TestABatchIsLiveButNotRendered(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.batch(10, found(t, address, "One", "a"), found(t, "http://a.example/2", "Two", "b"))
		one, two := w.page(address), w.page("http://a.example/2")
		if one.title != "One" || one.revision != 1 || one.asOf != 10 || one.html != "" || one.id >= two.id || one.stored == 0 {
			t.Errorf("got %+v and %+v", one, two)
		}
		if n := w.number(`SELECT COUNT(*) FROM bodies WHERE LENGTH(html) = 0`); n != 2 {
			t.Errorf("%d bodies", n)
		}
		time.Sleep(time.Second)
		w.batch(9, found(t, address, "Old", "c"))
		if p := w.page(address); p.title != "One" {
			t.Errorf("an older version: %+v", p)
		}
		w.batch(11, found(t, address, "One", "a"), found(t, "http://a.example/2", "New", "d"))
		if p := w.page(address); p.stored != one.stored || p.revision != 2 {
			t.Errorf("the same content: %+v", p)
		}
		if p := w.page("http://a.example/2"); p.title != "New" || p.stored <= two.stored || p.id != two.id {
			t.Errorf("another content: %+v", p)
		}
		if n := w.number(`SELECT COUNT(*) FROM events`); n != 2 {
			t.Errorf("%d events", n)
		}
	})
}

func TestAnOfferTakesTheAddressThatAnotherLeavesInTheSameBatch(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.batch(10, found(t, address, "One", "a"))
		key := link.Digest(address)
		w.batch(11, courant.Found{Key: key[:], Withdrawn: true}, found(t, address, "Two", "b"))
		if p := w.page(address); p.withdrawn || p.title != "Two" || p.revision != 3 {
			t.Errorf("got %+v", p)
		}
		w.batch(12, found(t, "http://a.example/new", "New", "c"), found(t, "http://a.example/new", "Newer", "d"))
		if p := w.page("http://a.example/new"); p.title != "Newer" || p.revision != 2 {
			t.Errorf("got %+v", p)
		}
	})
}

func TestABatchWithdraws(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.batch(10, found(t, address, "One", "a"))
		key, none := link.Digest(address), link.Digest("http://a.example/none")
		w.batch(11, courant.Found{Key: key[:], Withdrawn: true}, courant.Found{Key: none[:], Withdrawn: true})
		if p := w.page(address); !p.withdrawn || p.asOf != 11 || w.number(`SELECT COUNT(*) FROM bodies`) != 0 || w.number(`SELECT COUNT(*) FROM pages`) != 1 {
			t.Errorf("got %+v", p)
		}
		if n := w.number(`SELECT COUNT(*) FROM pages WHERE address = $1 AND host = 'a.example'`, address); n != 1 {
			t.Error("the withdrawn page forgets its address")
		}
		w.batch(12, found(t, address, "One", "a"))
		if p := w.page(address); p.withdrawn || p.title != "One" {
			t.Errorf("what returns is %+v", p)
		}
	})
}

// prose is n words, some of them changed.
func prose(n int, others ...int) string {
	words := strings.Fields(strings.Repeat("the quick brown fox jumps over lazy dogs while seven wise owls watch from tall green trees near old mills ", n/20+1))[:n]
	for i := range words {
		words[i] += strings.Repeat("a", i%7) + string(rune('a'+i%26))
	}
	for _, i := range others {
		words[i] = "changed"
	}
	return "<p>" + strings.Join(words, " ") + "</p>"
}

func TestPagesWithNearlyTheSameTextAreLinked(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		duplicateOf := func(url string) int64 {
			key := link.Digest(url)
			return w.number(`SELECT duplicate_of FROM pages WHERE url = $1`, key[:])
		}
		put := func(url, text string) (id int64) {
			w.print(version{url: url, source: 1, rank: courant.OwnFeed, item: courant.Item{Title: url, Content: text}})
			return w.page(url).id
		}
		const one, two, three, other, short = "http://a.example/1", "http://b.example/2", "http://c.example/3", "http://a.example/other", "http://a.example/short"
		first := put(one, prose(300))
		second := put(two, strings.Replace(prose(300), " ", "\n<b>", 1)+"</b>")
		put(three, prose(300, 150))
		put(other, "<p>"+strings.Repeat("some words that say another thing entirely about the weather of tomorrow and of ships at sea ", 10)+"</p>")
		put(short, "<p>the quick brown fox</p>")
		put(short+"2", "<p>the quick brown fox</p>")
		if duplicateOf(one) != 0 || duplicateOf(two) != first || duplicateOf(three) != first || duplicateOf(other) != 0 || duplicateOf(short) != 0 || duplicateOf(short+"2") != 0 {
			t.Fatalf("duplicates %d, %d, %d, %d, %d of %d", duplicateOf(one), duplicateOf(two), duplicateOf(three), duplicateOf(other), duplicateOf(short), first)
		}
		put(one, "<p>"+strings.Repeat("a wholly new text about something that nobody has written of before in any of these pages ", 10)+"</p>")
		if duplicateOf(one) != 0 || duplicateOf(two) != 0 || duplicateOf(three) != second {
			t.Errorf("after the first has changed: %d, %d, %d, want 0, 0, %d", duplicateOf(one), duplicateOf(two), duplicateOf(three), second)
		}
		w.print(version{url: two, source: 1, rank: courant.OwnFeed, item: courant.Item{Withdrawn: true}})
		if duplicateOf(three) != 0 {
			t.Errorf("after the second was withdrawn: %d", duplicateOf(three))
		}
		if n := w.number(`SELECT COUNT(*) FROM minhash_bands`); n != 3*5 {
			t.Errorf("%d MinHash bands", n)
		}
	})
}

func TestARequestedPageIsProcessedLikeANewDocument(t *testing.T) {
	for pictures, state := range map[bool]int64{true: 0, false: 2} {
		in(t, func(t *testing.T, w *world) {
			w.batch(10, found(t, address, "One", "a", "http://a.example/1.jpg"))
			b := &bus.Bus{Driver: &membus.Driver{}}
			p := &pages.Pages{Store: w.store, Owner: "second", Pictures: pictures, Log: slog.New(slog.DiscardHandler)}
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { b.Run(ctx, p.Handlers()[2:]...) })
			synctest.Wait()
			one, none := link.Digest(address), link.Digest("http://a.example/none")
			name, facts := flow.PageWanted.Encode(flow.Page{URL: one[:]}, flow.Page{URL: one[:]}, flow.Page{URL: none[:]})
			if err := b.Publish(t.Context(), name, facts); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if got := w.number(`SELECT state FROM documents WHERE as_of = 10 AND source = 1`); got != state {
				t.Errorf("pictures %v: state %d", pictures, got)
			}
			if len(b.Dead()) != 0 {
				t.Errorf("dead letters %+v", b.Dead())
			}
			cancel()
			running.Wait()
			w.exec(`UPDATE documents SET state = 2, due = 1`) // as media releases it
			time.Sleep(3 * time.Second)
			if p := w.page(address); !strings.Contains(p.html, "One") || p.revision != 2 {
				t.Errorf("got %+v", p)
			}
		})
	}
}

package pages_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/bus/membus"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/stage/pages"
)

// follower reads the change feed from 0 and keeps the newest number of each page.
type follower struct {
	seen map[int64]int64
	last int64
}

func (f *follower) read(t *testing.T, s *store.Store) {
	err := s.Read(t.Context(), func(r store.Reader) error {
		return r.Rows(func(rows store.Rows) error {
			var id, change int64
			err := rows.Scan(&id, &change)
			if change <= f.last {
				t.Errorf("number %d after %d", change, f.last)
			}
			f.seen[id], f.last = change, change
			return err
		}, `SELECT id, change FROM pages WHERE change > $1 ORDER BY change LIMIT 7`, f.last)
	})
	if err != nil && t.Context().Err() == nil {
		t.Error(err)
	}
}

func TestAFollowerMissesNoChangeOfManyWriters(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		const nodes, urls, rounds = 3, 8, 6
		w := &world{t: t, store: s, asOf: 1000}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		d := &membus.Driver{}
		for n := range nodes {
			b := &bus.Bus{Driver: d}
			p := &pages.Pages{Store: s, Owner: fmt.Sprint("node-", n), Config: pages.Defaults(), Log: slog.New(slog.DiscardHandler)}
			ready := make(chan struct{})
			b.Ready = func() { close(ready) }
			running.Go(func() { b.Run(ctx, p.Handlers()...) })
			<-ready
		}
		b := &bus.Bus{Driver: d}
		running.Go(func() { store.Relay{Store: s, Publish: b.Publish, Sweep: 50 * time.Millisecond}.Run(ctx) })
		f := follower{seen: map[int64]int64{}}
		for round := range rounds {
			for i := range urls {
				url := fmt.Sprintf("http://a.example/%d", i)
				key, source := link.Digest(url), int64(round+1)
				asOf := w.ready(version{url: url, source: source, rank: courant.OwnFeed, item: text("One")})
				name, facts := flow.DocumentReady.Encode(flow.Version{URL: key[:], Source: source, AsOf: asOf})
				if err := b.Publish(t.Context(), name, facts); err != nil {
					t.Fatal(err)
				}
				f.read(t, s)
			}
		}
		deadline := time.After(20 * time.Second)
		for w.number(`SELECT COUNT(*) FROM documents`)+w.number(`SELECT COUNT(*) FROM pages WHERE change = 0`) > 0 {
			select {
			case <-deadline:
				t.Fatalf("%d documents are not rendered, %d pages not numbered", w.number(`SELECT COUNT(*) FROM documents`), w.number(`SELECT COUNT(*) FROM pages WHERE change = 0`))
			case <-time.After(time.Millisecond):
			}
			f.read(t, s)
		}
		for range urls {
			f.read(t, s)
		}
		cancel()
		running.Wait()
		if n := w.number(`SELECT COUNT(*) FROM pages`); n != urls || len(f.seen) != urls {
			t.Errorf("%d pages, %d seen", n, len(f.seen))
		}
		for id, change := range f.seen {
			if w.number(`SELECT COUNT(*) FROM pages WHERE id = $1 AND change = $2`, id, change) != 1 {
				t.Errorf("page %d was seen last as change %d", id, change)
			}
		}
	})
}

func TestWithdrawalsAreForgottenAfterNinetyDays(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.batch(10, found(t, address, "One", "a"), found(t, "http://a.example/2", "Two", "b"))
		key := link.Digest(address)
		w.batch(11, courant.Found{Key: key[:], Withdrawn: true})
		for _, days := range []int64{89, 91} {
			w.exec(`UPDATE pages SET rendered_at = $1`, w.store.Now().UnixMilli()-days*24*3600*1000)
			time.Sleep(2 * time.Hour)
			if n := w.number(`SELECT COUNT(*) FROM pages`); n != 2-days/91 {
				t.Errorf("%d pages after %d days", n, days)
			}
		}
		if n := w.number(`SELECT number FROM counts WHERE name = 'forgotten'`); n != 3 {
			t.Errorf("forgotten up to %d", n)
		}
		w.batch(12, found(t, address, "Again", "c"))
		if n := w.number(`SELECT change FROM pages WHERE url = $1`, key[:]); n != 4 {
			t.Errorf("a number %d was given twice", n)
		}
	})
}

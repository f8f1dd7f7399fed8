package pages_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
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
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/stage/pages"
)

const address = "http://a.example/1"

// world is pages over a store in memory, in fake time.
type world struct {
	t     *testing.T
	store *store.Store
	asOf  int64
}

func in(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, store: storetest.Memory(t), asOf: 1000}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { w.run(ctx, "first") })
		defer running.Wait()
		defer cancel()
		test(t, w)
	})
}

// run runs the stage on a bus without notifications: it works by its sweep.
func (w *world) run(ctx context.Context, owner string) {
	p := &pages.Pages{Store: w.store, Owner: owner, Log: slog.New(slog.DiscardHandler)}
	p.Handlers()
	if err := p.Run(ctx); err != nil {
		w.t.Error(err)
	}
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

// version is a document as parse and media write it.
type version struct {
	url    string // address unless set
	source int64
	rank   courant.Rank
	asOf   int64 // the next one unless set
	item   courant.Item
}

func (w *world) ready(v version) (asOf int64) {
	w.t.Helper()
	if v.url == "" {
		v.url = address
	}
	if v.item.Link == "" {
		v.item.Link = v.url
	}
	w.asOf++
	if v.asOf == 0 {
		v.asOf = w.asOf
	}
	sum := sha256.Sum256([]byte(fmt.Sprint(v.item.Title, v.item.Content, v.item.Withdrawn)))
	v.item.Hash = hex.EncodeToString(sum[:16])
	content, err := pack.Encode(courant.Document{URL: v.url, Source: v.source, Item: v.item})
	if err != nil {
		w.t.Fatal(err)
	}
	key := link.Digest(v.url)
	w.exec(`INSERT INTO documents (url, source, address, rank, as_of, state, due, fetched, content, trace) VALUES ($1, $2, $3, $4, $5, 2, 1, 1, $6, '')`,
		key[:], v.source, v.url, v.rank, v.asOf, content)
	return v.asOf
}

// print has pages render a version.
func (w *world) print(v version) {
	w.t.Helper()
	w.ready(v)
	time.Sleep(3 * time.Second)
	if n := w.number(`SELECT COUNT(*) FROM documents`); n != 0 {
		w.t.Fatalf("%d documents still wait", n)
	}
}

func (w *world) number(query string, args ...any) (n int64) {
	w.t.Helper()
	if err := w.store.Read(w.t.Context(), func(r store.Reader) error { return r.Row(query, args...).Scan(&n) }); err != nil {
		w.t.Fatal(err)
	}
	return n
}

type page struct {
	id, source, asOf, stored int64
	revision                 int
	title, picture           string
	withdrawn                bool
	html                     string // "" if there is no body
}

func (w *world) page(url string) (p page) {
	w.t.Helper()
	key := link.Digest(url)
	var packed []byte
	err := w.store.Read(w.t.Context(), func(r store.Reader) error {
		if err := r.Row(`SELECT id, source, as_of, stored, revision, title, picture, withdrawn FROM pages WHERE url = $1`, key[:]).Scan(&p.id, &p.source,
			&p.asOf, &p.stored, &p.revision, &p.title, &p.picture, &p.withdrawn); err != nil {
			return err
		}
		err := r.Row(`SELECT b.html FROM bodies b JOIN pages p ON p.id = b.page WHERE p.url = $1`, key[:]).Scan(&packed)
		if store.NoRow(err) {
			return nil
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if len(packed) > 0 {
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			w.t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			w.t.Fatal(err)
		}
		p.html = string(text)
	}
	return p
}

func text(title string) courant.Item {
	return courant.Item{Title: title, Content: "<p>" + title + "</p>"}
}

func gone() courant.Item { return courant.Item{Withdrawn: true} }

func TestADocumentGoesLive(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.print(version{source: 1, rank: courant.OwnFeed, item: courant.Item{Title: "One & <b>two</b>", Language: "ar", Content: "<p>Text</p>",
			Authors: []courant.Person{{Name: "Ann"}, {Email: "x@y"}, {Name: "Ben"}}, Published: courant.Time{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}}})
		p := w.page(address)
		for _, want := range []string{"<h1>One &amp; &lt;b&gt;two&lt;/b&gt;</h1>", `lang="ar" dir="rtl"`, "<p>Text</p>", "Ann, Ben", `datetime="2026-01-02T03:04:05Z"`, `href="` + address + `"`} {
			if !strings.Contains(p.html, want) {
				t.Errorf("the page lacks %s:\n%s", want, p.html)
			}
		}
		if p.revision != 1 || p.title != "One & <b>two</b>" || p.id <= 0 || p.stored == 0 {
			t.Errorf("got %+v", p)
		}
		if n := w.number(`SELECT COUNT(*) FROM events`); n != 1 {
			t.Errorf("its story has %d chapters", n)
		}
	})
}

func TestASummaryLeadsToTheArticle(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.print(version{source: 1, rank: courant.OwnFeed, item: courant.Item{Title: "One", Summary: "<p>Short</p>"}})
		if p := w.page(address); !strings.Contains(p.html, "Short") || !strings.Contains(p.html, "Read the whole article at a.example") {
			t.Errorf("got %s", p.html)
		}
		w.print(version{source: 1, rank: courant.OwnFeed, item: text("Whole")})
		if p := w.page(address); strings.Contains(p.html, "Read the whole article") {
			t.Errorf("got %s", p.html)
		}
	})
}

func TestWhatASourceSaysIsCleanedAndQuoted(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.print(version{url: "http://a.example/?q=%22%3E%3Cscript%3E", source: 1, rank: courant.OwnFeed, item: courant.Item{
			Title: `</title><script>alert(1)</script>`, Language: `en" onload="alert(1)`, Authors: []courant.Person{{Name: "<img src=x onerror=alert(1)>"}},
			Content: `<p onclick="a()">x<script>alert(2)</script><a href="javascript:alert(3)">y</a><iframe srcdoc="<script>"></iframe><img src=x onerror=alert(4)></p>`}})
		p := w.page("http://a.example/?q=%22%3E%3Cscript%3E")
		for _, bad := range []string{"<script", "onclick=", "javascript:", "srcdoc", "<img", `onload="`} {
			if strings.Contains(strings.ToLower(p.html), bad) {
				t.Errorf("the page has %s:\n%s", bad, p.html)
			}
		}
	})
}

func TestTheNewestVersionOfASourceIsLive(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.print(version{source: 1, rank: courant.OwnFeed, item: text("One")})
		first := w.page(address)
		w.print(version{source: 1, rank: courant.OwnFeed, item: text("Two")})
		second := w.page(address)
		if second.title != "Two" || second.id != first.id || second.revision != 2 || second.stored <= first.stored {
			t.Errorf("first %+v, second %+v", first, second)
		}
		w.print(version{source: 1, rank: courant.OwnFeed, asOf: 900, item: text("Old")})
		if late := w.page(address); late.title != "Two" || late.revision != 2 {
			t.Errorf("an older version came last and is live: %+v", late)
		}
	})
}

func TestRenderingAgainKeepsTheTimeWhenTheContentWentLive(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		picture := "http://a.example/p.png"
		item := text("One")
		item.Images = []string{picture}
		v := version{source: 1, rank: courant.OwnFeed, asOf: 2000, item: item}
		w.print(v)
		first := w.page(address)
		if first.picture != "" {
			t.Fatalf("a picture that is not here is shown: %+v", first)
		}
		key := link.Digest(picture)
		content := strings.Repeat("ab", 32)
		w.exec(`INSERT INTO media (hash, url, state, content, type, size, width, height, variants) VALUES ($1, $2, 1, $3, 'image/png', 1000, 640, 480, $4)`,
			key[:], picture, content, `[{"file":"`+content+`/320.png","type":"image/png","width":320,"height":240,"size":10}]`)
		time.Sleep(time.Hour)
		w.print(v) // a late picture has it rendered again, with the same as-of
		second := w.page(address)
		if second.stored != first.stored || second.revision != 2 || second.id != first.id {
			t.Errorf("first %+v, second %+v", first, second)
		}
		if !strings.Contains(second.html, `src="/media/`+content+`/320.png"`) || !strings.Contains(second.html, "/media/"+content+"/640.png 640w") || second.picture == "" {
			t.Errorf("the picture is not shown:\n%s", second.html)
		}
		if strings.Contains(second.html, picture) {
			t.Errorf("the page loads from the source:\n%s", second.html)
		}
	})
}

func TestWhatIsWithdrawnIsGoneAndMayComeBack(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.print(version{source: 1, rank: courant.OwnFeed, item: text("One")})
		first := w.page(address)
		w.print(version{source: 1, rank: courant.OwnFeed, item: gone()})
		if p := w.page(address); !p.withdrawn || p.html != "" || p.id != first.id {
			t.Errorf("got %+v", p)
		}
		w.print(version{source: 1, rank: courant.OwnFeed, item: text("One")})
		if p := w.page(address); p.withdrawn || p.html == "" || p.stored <= first.stored {
			t.Errorf("back again: %+v, first %+v", p, first)
		}
	})
}

func TestATombstoneOfAnotherSourceIsIgnored(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.print(version{source: 1, rank: courant.OwnFeed, item: text("One")})
		for _, rank := range []courant.Rank{courant.Foreign, courant.OwnFeed} {
			w.print(version{source: 2, rank: rank, item: gone()})
			if p := w.page(address); p.withdrawn || p.source != 1 {
				t.Errorf("rank %d: %+v", rank, p)
			}
		}
	})
}

func TestWhichSourceIsLive(t *testing.T) {
	for _, c := range []struct {
		what          string
		before, after version
		live          int64
	}{
		{"foreign alone", version{}, version{source: 2, rank: courant.Foreign}, 2},
		{"foreign after own", version{source: 1, rank: courant.OwnFeed}, version{source: 2, rank: courant.Foreign}, 1},
		{"foreign after foreign", version{source: 1, rank: courant.Foreign}, version{source: 2, rank: courant.Foreign}, 1},
		{"own after foreign", version{source: 1, rank: courant.Foreign}, version{source: 2, rank: courant.OwnFeed}, 2},
		{"own after foreign, though older", version{source: 1, rank: courant.Foreign}, version{source: 2, rank: courant.OwnFeed, asOf: 5}, 2},
		{"own after own", version{source: 1, rank: courant.OwnFeed}, version{source: 2, rank: courant.OwnFeed}, 2},
		{"own after own, though older", version{source: 1, rank: courant.OwnFeed}, version{source: 2, rank: courant.OwnFeed, asOf: 5}, 1},
		{"automatic after feed", version{source: 1, rank: courant.OwnFeed}, version{source: 2, rank: courant.OwnAutomatic}, 1},
		{"own after a withdrawal", version{source: 1, rank: courant.OwnFeed, item: gone()}, version{source: 2, rank: courant.OwnFeed}, 2},
		{"foreign after a withdrawal", version{source: 1, rank: courant.OwnFeed, item: gone()}, version{source: 2, rank: courant.Foreign}, 1},
	} {
		t.Run(c.what, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				if c.before.source != 0 {
					if !c.before.item.Withdrawn {
						c.before.item = text("Before")
					}
					w.print(c.before)
				}
				c.after.item = text("After")
				w.print(c.after)
				if p := w.page(address); p.source != c.live {
					t.Errorf("source %d is live", p.source)
				}
			})
		})
	}
}

func TestIDsGrowAlsoWhenTheClockStepsBack(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		// a page of another node whose clock was an hour ahead
		ahead := (w.store.Now().Add(time.Hour).UnixMilli() - time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()) << 22
		key := link.Digest("http://a.example/0")
		w.exec(`INSERT INTO pages (url, id, address, host, source, rank, as_of, withdrawn, hash, revision, title, language, picture, published, updated, fetched, stored, rendered_at)
			VALUES ($1, $2, '', '', 9, 0, 1, FALSE, $1, 1, '', '', '', 0, 0, 0, 1, 1)`, key[:], ahead)
		last := ahead
		for i := range 20 {
			url := fmt.Sprint("http://a.example/many/", i)
			w.print(version{url: url, source: 1, rank: courant.OwnFeed, item: text("One")})
			id := w.page(url).id
			if id <= last {
				t.Fatalf("id %d comes after %d", id, last)
			}
			last = id
		}
	})
}

func TestManyNodesNeverMakeTheSameID(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		const nodes, each = 4, 25
		w := &world{t: t, store: s, asOf: 1000}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for n := range nodes {
			b := &bus.Bus{Driver: &membus.Driver{}}
			p := &pages.Pages{Store: s, Owner: fmt.Sprint("node-", n), Config: pages.Defaults(), Log: slog.New(slog.DiscardHandler)}
			ready := make(chan struct{})
			b.Ready = func() { close(ready) }
			running.Go(func() { b.Run(ctx, p.Handlers()...) })
			<-ready
			for i := range each {
				url := fmt.Sprintf("http://a.example/%d/%d", n, i)
				key := link.Digest(url)
				asOf := w.ready(version{url: url, source: 1, rank: courant.OwnFeed, item: text("One")})
				name, facts := flow.DocumentReady.Encode(flow.Version{URL: key[:], Source: 1, AsOf: asOf}, flow.Version{URL: key[:], Source: 1, AsOf: asOf})
				if err := b.Publish(t.Context(), name, facts); err != nil {
					t.Fatal(err)
				}
			}
		}
		deadline := time.After(20 * time.Second)
		for w.number(`SELECT COUNT(*) FROM documents`) > 0 {
			select {
			case <-deadline:
				t.Fatalf("%d documents still wait", w.number(`SELECT COUNT(*) FROM documents`))
			case <-time.After(10 * time.Millisecond):
			}
		}
		cancel()
		running.Wait()
		if n := w.number(`SELECT COUNT(DISTINCT id) FROM pages WHERE revision = 1`); n != nodes*each {
			t.Errorf("%d ids for %d pages, each rendered once", n, nodes*each)
		}
	})
}

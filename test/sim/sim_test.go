package sim

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/desk"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/blob/memory"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/sqlite"
)

var (
	seeds = flag.Int("seeds", 20, "number of seeds to simulate")
	first = flag.Uint64("seed", 1, "first seed")
	trace = flag.Bool("trace", false, "write the platform's log to stderr")
)

func TestMain(m *testing.M) {
	flag.Parse()
	pack.Open(pack.Bytes([]byte("the coders are set up outside the bubbles")))
	os.Exit(m.Run())
}

func TestTheLastVersionOfEveryDocumentIsLiveAndWithdrawnOnesAreGone(t *testing.T) {
	for i := range *seeds {
		seed := *first + uint64(i)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { simulate(t, seed, drawFaults(seed)) })
		})
	}
}

func TestWithEveryMessageLostEverythingStillArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { simulate(t, *first, faults{drop: 1}) })
}

// drawFaults draws fault rates from the seed; each is 0 in a third of the runs.
func drawFaults(seed uint64) faults {
	r := rand.New(rand.NewPCG(seed, 2))
	wild := func(most float64) float64 {
		if r.IntN(3) == 0 {
			return 0
		}
		return r.Float64() * most
	}
	return faults{drop: wild(.5), repeat: wild(.5), delay: wild(.5), before: wild(.1), after: wild(.1), crash: wild(.004)}
}

const hosts = 4

// simulate runs the world and the platform with faults, then the platform alone for a
// while without transaction faults, and checks the result.
func simulate(t *testing.T, seed uint64, f faults) {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	if *trace {
		log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	db, err := sqlite.Open(t.Context(), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	w := newWorld(seed, hosts, 200*time.Millisecond)
	web := newPipes()
	defer web.serve(w)()
	addSources(t, db, log)

	p := process{seed: seed * 1000, db: db, blobs: blob.Bucket{Driver: &memory.Memory{}}, web: web, hub: &w.hub, faults: f, gap: w.gap, log: log}
	published := make(chan struct{})
	go func() {
		defer close(published)
		w.live(60, 5*time.Second)
	}()
	lives := p.livesUntil(t, published)
	p.faults = faults{drop: f.drop} // messages are still lost; transactions no longer fail
	p.seed++
	// The odd duration ends at no moment at which stages wake: what they would emit then
	// would be left for the next run.
	calm, cancel := context.WithTimeout(t.Context(), 3*time.Minute+123*time.Millisecond)
	defer cancel()
	if _, err := p.run(calm); err != nil {
		t.Fatal(err)
	}
	w.hub.pushes.Wait()
	t.Logf("%d starts, faults %+v, %d articles, %d hub deliveries", lives, f, len(w.articles), w.hub.delivered)
	judge(t, w, db, log)
}

// livesUntil runs the platform, and starts it again after each crash, until done.
func (p *process) livesUntil(t *testing.T, done <-chan struct{}) (lives int) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-done
		cancel()
	}()
	for ctx.Err() == nil {
		lives++
		p.seed++
		if _, err := p.run(ctx); err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
	}
	return lives
}

func addSources(t *testing.T, db store.Driver, log *slog.Logger) {
	s, err := store.Open(t.Context(), db, log)
	if err != nil {
		t.Fatal(err)
	}
	sources := []desk.NewSource{{URL: "http://h0.test/second.xml"}}
	for h := range hosts {
		sources = append(sources, desk.NewSource{URL: fmt.Sprintf("http://h%d.test/feed.xml", h)})
	}
	d := &desk.Desk{Store: s}
	if _, err := d.Add(t.Context(), courant.Visitor{Role: courant.RoleOperator}, sources); err != nil {
		t.Fatal(err)
	}
}

// judge compares what is live with what was published.
func judge(t *testing.T, w *world, db store.Driver, log *slog.Logger) {
	s, err := store.Open(t.Context(), db, log)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range w.faults {
		t.Error(fault)
	}
	err = s.Read(t.Context(), func(r store.Reader) error {
		for _, a := range w.articles {
			if problem := check(r, w, a); problem != "" {
				t.Errorf("%s (host %d, revision %d, withdrawn %v): %s", a.url(), a.host, a.revision, a.withdrawn, problem)
			}
		}
		for name, query := range map[string]string{"documents": "SELECT COUNT(*) FROM documents", "messages": "SELECT COUNT(*) FROM outbox",
			"fetches": "SELECT COUNT(*) FROM fetches", "waits": "SELECT COUNT(*) FROM waits"} {
			var n int
			if err := r.Row(query).Scan(&n); err != nil {
				return err
			}
			if n != 0 {
				t.Errorf("%d %s left in the store, want 0", n, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// check returns what is wrong with the page of an article, "" if nothing is.
func check(r store.Reader, w *world, a *article) string {
	if a.withdrawn && !a.listed {
		return ""
	}
	key := link.Digest(a.url())
	var withdrawn bool
	var packed []byte
	err := r.Row("SELECT withdrawn FROM pages WHERE url = $1", key[:]).Scan(&withdrawn)
	if store.NoRow(err) && a.withdrawn {
		return "" // it came and went between two polls
	}
	if err != nil {
		return "page missing: " + err.Error()
	}
	if withdrawn != a.withdrawn {
		return fmt.Sprintf("page withdrawn: %v, want %v\n%s", withdrawn, a.withdrawn, story(r, key[:]))
	}
	if withdrawn {
		return ""
	}
	var html []byte
	if err := r.Row("SELECT b.document, b.html FROM bodies b JOIN pages p ON p.id = b.page WHERE p.url = $1", key[:]).Scan(&packed, &html); err != nil {
		return "body missing: " + err.Error()
	}
	var doc courant.Document
	if err := pack.Decode(packed, &doc); err != nil {
		return err.Error()
	}
	if !strings.Contains(doc.Item.Content, a.text()) {
		return "stale content: " + doc.Item.Content
	}
	if problem := checkPictures(a, unzip(html)); problem != "" {
		return problem + "\n" + story(r, key[:])
	}
	return ""
}

// story returns what the store has about an article, for the report.
func story(r store.Reader, key []byte) string {
	var out strings.Builder
	scan := func(rows store.Rows) error {
		var name, text string
		err := rows.Scan(&name, &text)
		fmt.Fprintf(&out, "  %s: %s\n", name, text)
		return err
	}
	for _, query := range []string{
		"SELECT s.name, 'page of as-of ' || p.as_of || ', rank ' || p.rank FROM pages p JOIN sources s ON s.id = p.source WHERE p.url = $1",
		"SELECT s.name, 'item of as-of ' || i.as_of || ', withdrawn ' || i.withdrawn FROM items i JOIN sources s ON s.id = i.source WHERE i.url = $1",
		"SELECT m.url, 'state ' || m.state || ' ' || m.problem FROM media m WHERE $1 <> ''",
		"SELECT 'event', e.trace FROM events e JOIN pages p ON p.id = e.page WHERE p.url = $1 ORDER BY e.at",
	} {
		if err := r.Rows(scan, query, key); err != nil {
			return err.Error()
		}
	}
	return out.String()
}

// checkPictures checks that the page has each available picture as often as the article.
func checkPictures(a *article, html []byte) string {
	want := 0
	for _, p := range a.pictures {
		if strings.HasPrefix(p, "/img") {
			want++
		}
	}
	if got := bytes.Count(html, []byte("<img ")); got != want {
		return fmt.Sprintf("%d pictures in the page, want %d", got, want)
	}
	return ""
}

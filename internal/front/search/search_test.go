package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/search"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/search/index"
)

// world is a search over a store in memory.
type world struct {
	t      *testing.T
	store  *store.Store
	mux    *http.ServeMux
	change int64
}

func open(t *testing.T, c search.Config) *world {
	t.Helper()
	w := &world{t: t, store: storetest.Memory(t)}
	w.exec(`INSERT INTO sources (id, name, kind, url, host, title, trusted, added) VALUES (1, 'shop', 'catalog', 'http://a.example/', 'a.example', '', FALSE, 1)`)
	stop := w.run(c, "")
	t.Cleanup(stop)
	return w
}

// run starts a search over the store; it is stopped by what comes back.
func (w *world) run(c search.Config, dir string) (stop func()) {
	t := w.t
	t.Helper()
	w.mux = http.NewServeMux()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	x := &index.Index{Dir: dir, Store: w.store, Config: index.Defaults(), RegionParam: "Regions", Metrics: obs.New(), Log: log}
	s := &search.Search{Store: w.store, Config: c, Index: x.Config, Backend: x, Metrics: obs.New(), Log: log,
		Admit: func(next web.Handler) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) { next(w, r, courant.Visitor{}) }
		}}
	if err := errors.Join(x.Open(), s.Open()); err != nil {
		t.Fatal(err)
	}
	s.Register(w.mux)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 2)
	go func() { done <- s.Run(ctx) }()
	go func() { done <- x.Run(ctx) }()
	return func() {
		cancel()
		if err := errors.Join(<-done, <-done); err != nil {
			t.Error(err)
		}
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

// put makes a page live or withdraws it.
func (w *world) put(id int64, doc courant.Document) {
	w.t.Helper()
	w.change++
	key := link.Digest(doc.URL)
	content, err := pack.Encode(doc)
	if err != nil {
		w.t.Fatal(err)
	}
	err = w.store.Write(w.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO pages (url, id, address, host, source, rank, as_of, withdrawn, hash, revision, title, language, picture, published, updated, fetched, stored, rendered_at, change)
			VALUES ($1, $2, $3, $4, 1, 3, 1, $5, $1, 1, $6, $7, '', $8, 0, 0, 1780000000000, 1, $9)
			ON CONFLICT (url) DO UPDATE SET withdrawn = excluded.withdrawn, title = excluded.title, change = excluded.change`,
			key[:], id, doc.URL, link.Host(doc.URL), doc.Item.Withdrawn, doc.Item.Title, doc.Item.Language, store.Millis(doc.Item.Published.Time), w.change)
		if err == nil {
			_, err = tx.Exec(`INSERT INTO bodies (page, document, html) VALUES ($1, $2, $3) ON CONFLICT (page) DO UPDATE SET document = excluded.document`, id, content, []byte{})
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func offer(id int, name, price string, params ...courant.Param) courant.Document {
	url := fmt.Sprint("http://a.example/offer/", id)
	return courant.DocumentOf(url, 1, &courant.Offer{ID: fmt.Sprint(id), URL: url, Name: name, Price: price, Available: true, Vendor: "Acme & Sons",
		CategoryID: "11", CategoryPath: []string{"1", "11"}, Category: []string{"Home", "Kettles"}, Params: params})
}

func (w *world) get(path string) *http.Response {
	r := httptest.NewRecorder()
	w.mux.ServeHTTP(r, httptest.NewRequest(http.MethodGet, path, nil))
	return r.Result()
}

// find asks until total documents are found, because the index follows the store with a delay.
func (w *world) find(query string, total int) (f search.Found) {
	w.t.Helper()
	for range 300 {
		resp := w.get("/api/v1/search?" + query)
		text, err := io.ReadAll(resp.Body)
		if err == nil {
			err = json.Unmarshal(text, &f)
		}
		if err != nil || resp.StatusCode != http.StatusOK {
			w.t.Fatalf("%s: %s %s %v", query, resp.Status, text, err)
		}
		if f.Total == total {
			return f
		}
		wait(w.t)
	}
	w.t.Fatalf("%s: found %d, want %d", query, f.Total, total)
	return f
}

// wait lets the index follow.
func wait(t *testing.T) {
	select {
	case <-time.After(10 * time.Millisecond):
	case <-t.Context().Done():
	}
}

func TestOffersArePutChangedAndWithdrawn(t *testing.T) {
	w := open(t, search.Defaults())
	for i, name := range []string{"Kettle one", "Kettle two", "Чайник три"} {
		w.put(int64(i+1), offer(i+1, name, fmt.Sprint(100*(i+1), ".50"), courant.Param{Name: "Color", Value: "Red"}, courant.Param{Name: "Regions", Value: "5-21"},
			courant.Param{Name: "Volume", Value: "1.5"}))
	}
	f := w.find("category=1&vendor=Acme+%26+Sons&param=color:red;Volume:1..2&region=21&price_min=100.50&price_max=300&available=true", 2)
	if len(f.Offers) != 2 || f.Facets["category"]["11"] != 2 || f.Facets["vendor"]["Acme & Sons"] != 2 || f.Facets["price"]["0-500"] != 2 || len(f.Coverage.Shards) != 8 {
		t.Errorf("got %+v", f)
	}
	if f = w.find("text=kettles", 0); f.TotalRelaxed != 2 || !f.Hits[0].Relaxed {
		t.Errorf("stemming: %+v", f)
	}
	w.find("text=kettles&match=exact", 0)
	w.find("region=22", 0)
	w.find("source=shop&sort=price&k=1&page=2", 3)
	w.put(2, offer(2, "Kettle two", "999"))
	if f = w.find("price_min=999", 1); f.Hits[0].Price != "999" || f.Offers[0] != (search.OfferName{Shop: "shop", ID: "2"}) {
		t.Errorf("got %+v", f.Hits)
	}
	gone := offer(1, "", "")
	gone.Item.Withdrawn = true
	w.put(1, gone)
	w.find("text=kettle", 1)
}

func TestAWrongParameterIsNamed(t *testing.T) {
	w := open(t, search.Defaults())
	for query, want := range map[string]string{"sort=x": "sort", "price_min=x": "price_min", "region=-1": "region", "k=0": "k", "k=200&page=11": "page",
		"param=x": "param", "match=y": "match", "profile=x:1": "profile", "share=0": "share", "available=maybe": "available",
		"text=" + strings.Repeat("x", 2000): "text"} {
		resp := w.get("/api/v1/search?" + query)
		text, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), `"detail":"`+want+" must be ") {
			t.Errorf("%s: %s %s", query, resp.Status, text)
		}
	}
}

func TestAModelOrSynonymsThatCannotBeReadAreRefused(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.json")
	if err := os.WriteFile(bad, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(dir, "none")
	for _, model := range []string{none, bad} {
		if err := (&index.Index{Config: index.Config{Model: model}}).Open(); err == nil || !strings.Contains(err.Error(), "index.model: ") {
			t.Errorf("%s: %v", model, err)
		}
	}
	if err := (&search.Search{Config: search.Config{Synonyms: none}}).Open(); err == nil || !strings.Contains(err.Error(), "search.synonyms: ") {
		t.Errorf("%s: %v", none, err)
	}
}

func TestThePageShowsHitsWithMarksAndFacets(t *testing.T) {
	w := open(t, search.Defaults())
	body := "<p>" + strings.Repeat("Nothing to see here. ", 40) + "The river <b>floods</b> the &lt;town&gt; again.</p>"
	w.put(1, courant.Document{URL: "http://a.example/news", Source: 1, Item: courant.Item{Title: "Flood & <script>", Content: body,
		Published: courant.Time{Time: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}}})
	w.put(2, offer(2, "Flood lamp", "1500"))
	w.find("text=flood", 2)
	resp := w.get("/search?text=flood")
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<mark>Flood</mark> &amp; &lt;script&gt;", "<mark>floods</mark> the &lt;town&gt; again.", "… ", "<small>a.example · 2 January 2026", "Kettles</a><span>1</span>",
		`<span class="cost">1 500</span>`, `href="/page?url=` + url.QueryEscape("http://a.example/news") + `"`, `value="flood"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %s:\n%s", want, text)
		}
	}
	if csp := resp.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || strings.Contains(string(text), "<script") {
		t.Errorf("policy %s", csp)
	}
	for query, want := range map[string]string{"": "2 pages and products", "text=nothing+of+it&vendor=x": "Search without filters", "price_min=x": "price_min must be a price", "price_max=NaN": "price_max must be a price", "profile=budget:NaN": "profile must be names with numbers", "text=flood&sort=price": `aria-current="true">cheapest`} {
		resp := w.get("/search?" + query)
		text, _ := io.ReadAll(resp.Body)
		if !strings.Contains(string(text), want) {
			t.Errorf("%s: the page lacks %q:\n%s", query, want, text)
		}
	}
}

func TestARestartGoesOnFromTheSnapshot(t *testing.T) {
	w, dir, c := &world{t: t, store: storetest.Memory(t)}, t.TempDir(), search.Defaults()
	stop := w.run(c, dir)
	for i := range 1200 {
		w.put(int64(i+1), offer(i+1, "Kettle", "100"))
	}
	w.find("text=kettle", 1200)
	stop()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != index.Defaults().Shards {
		t.Fatalf("kept %v, %v", files, err)
	}
	w.exec(`UPDATE bodies SET document = $1 WHERE page = 5`, []byte{1}) // cannot be read again
	w.put(2000, offer(2000, "Kettle", "100"))
	stop = w.run(c, dir)
	w.find("text=kettle", 1201)
	stop()
	if err := os.WriteFile(files[0], []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	stop = w.run(c, dir)
	w.find("text=kettle", 1200)
	stop()
	w.exec(`DELETE FROM pages WHERE change > 10`)
	stop = w.run(c, dir)
	w.find("text=kettle", 9)
	stop()
}

func TestASemicolonIsAPartOfAValue(t *testing.T) {
	w := open(t, search.Defaults())
	for i, size := range []string{"2", "5"} {
		w.put(int64(i+1), courant.Document{URL: fmt.Sprint("http://a.example/", i), Item: courant.Item{Title: "Kettle"}, Offer: &courant.Offer{ID: size, Name: "Kettle",
			Params: []courant.Param{{Name: "Color", Value: "red"}, {Name: "Size", Value: size}}}})
	}
	w.find("text=kettle", 2)
	w.find("text=kettle&param=Color:red;Size:2", 1)
	if resp := w.get("/api/v1/search?text=%zz"); resp.StatusCode != http.StatusBadRequest {
		t.Error(resp.Status)
	}
}

func TestOnASmallSiteWordsWithTyposAreFoundToo(t *testing.T) {
	w := open(t, search.Defaults())
	w.put(1, courant.Document{URL: "http://a.example/", Item: courant.Item{Title: "Lighthouse"}})
	w.find("text=lighthouse", 1)
	for range 300 {
		if w.find("text=lighthuose", 0).TotalRelaxed == 1 {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Error("the new page is never sorted into the index")
}

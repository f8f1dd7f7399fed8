package serve_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/store"
)

const (
	product = "http://a.example/p/1"
	picture = "http://a.example/1.png"
)

// kept stores a product that is not rendered.
func (w *world) kept(id int64, address string, pictures ...string) {
	w.t.Helper()
	w.page(id, address, "Cup", false)
	content, err := pack.Encode(courant.DocumentOf(address, 1, &courant.Offer{ID: "1", Name: "Cup", Price: "12", Currency: "EUR", Pictures: pictures}))
	if err != nil {
		w.t.Fatal(err)
	}
	w.exec(`UPDATE bodies SET document = $1, html = '' WHERE page = $2`, content, id)
}

// arrive puts a picture into the store.
func (w *world) arrive(url string, state int) {
	w.t.Helper()
	key := link.Digest(url)
	w.exec(`INSERT INTO media (hash, url, state, content, type, width, height) VALUES ($1, '', $2, $3, 'image/png', 100, 50)`, key[:], state, strings.Repeat("a", 64))
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

// asked counts the messages to pages.
func (w *world) asked() (n int) {
	w.t.Helper()
	if err := w.store.Read(w.t.Context(), func(r store.Reader) error {
		return r.Row(`SELECT COUNT(*) FROM outbox`).Scan(&n)
	}); err != nil {
		w.t.Fatal(err)
	}
	return n
}

func TestAProductThatIsNotRenderedIsShownAndRequested(t *testing.T) {
	w := open(t)
	w.kept(7, product, picture)
	first := w.get(pagePath(product))
	body := read(t, first)
	if first.StatusCode != http.StatusOK || !strings.Contains(body, "<b>12\u00a0€</b>") || strings.Contains(body, "<img") || w.asked() != 1 {
		t.Fatalf("%s, told pages %d times: %s", first.Status, w.asked(), body)
	}
	if first.Header.Get("Cache-Control") != "no-cache" || !strings.Contains(first.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%v", first.Header)
	}
	tag := first.Header.Get("Etag")
	if again := w.get(pagePath(product), "If-None-Match", tag); again.StatusCode != http.StatusNotModified {
		t.Errorf("asked again: %s", again.Status)
	}
	w.arrive(picture, 1)
	with := w.get(pagePath(product), "If-None-Match", tag)
	if body := read(t, with); with.StatusCode != http.StatusOK || !strings.Contains(body, "/media/"+strings.Repeat("a", 64)+"/100.png") {
		t.Errorf("with its picture: %s %s", with.Status, body)
	}
}

func TestAPageIsRequestedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		w.kept(1, product, picture)
		w.kept(2, product+"2", picture)
		for range 5 {
			w.get(pagePath(product))
			w.get(pagePath(product + "#part"))
			w.get(pagePath(product + "2"))
		}
		if n := w.asked(); n != 2 {
			t.Errorf("two pages are asked for %d times", n)
		}
		time.Sleep(59 * time.Second)
		if w.get(pagePath(product)); w.asked() != 2 {
			t.Error("asked for again within a minute")
		}
		time.Sleep(2 * time.Second)
		if w.get(pagePath(product)); w.asked() != 3 {
			t.Error("not asked for again after a minute")
		}
	})
}

func TestACompletePageIsNotRequested(t *testing.T) {
	w := open(t)
	w.arrive(picture, 1)
	w.arrive(picture+"?missing", 2)
	w.kept(1, product)
	w.kept(2, product+"2", picture, picture)
	w.kept(3, product+"3", "no address")
	w.page(4, product+"4", "Printed", false)
	for _, tail := range []string{"", "2", "3", "4"} {
		if r := w.get(pagePath(product + tail)); r.StatusCode != http.StatusOK || w.asked() != 0 {
			t.Errorf("%q: %s, asked for %d times", tail, r.Status, w.asked())
		}
	}
	w.kept(5, product+"5", picture, picture+"?missing")
	if r := w.get(pagePath(product + "5")); r.StatusCode != http.StatusOK || w.asked() != 1 {
		t.Errorf("one of two: %s, asked for %d times", r.Status, w.asked())
	}
}

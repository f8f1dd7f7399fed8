package serve_test

import (
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/store"
)

func TestAProductThatIsNotPrintedIsShownAndAskedFor(t *testing.T) {
	w := open(t)
	const address = "http://a.example/p/1"
	w.page(7, address, "Cup", false)
	content, err := pack.Encode(courant.DocumentOf(address, 1, &courant.Offer{ID: "1", Name: "Cup", Price: "12", Currency: "EUR", Pictures: []string{"http://a.example/1.png"}}))
	if err != nil {
		t.Fatal(err)
	}
	exec := func(query string, args ...any) {
		t.Helper()
		if err := w.store.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(query, args...)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	asked := func() (n int) {
		t.Helper()
		if err := w.store.Read(t.Context(), func(r store.Reader) error {
			return r.Row(`SELECT COUNT(*) FROM outbox`).Scan(&n)
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	exec(`UPDATE bodies SET document = $1, html = ''`, content)
	first := w.get("/page?url=" + url.QueryEscape(address))
	body, err := io.ReadAll(first.Body)
	if err != nil || first.StatusCode != 200 || !strings.Contains(string(body), "<b>12\u00a0€</b>") || strings.Contains(string(body), "<img") {
		t.Fatalf("%d, %v: %s", first.StatusCode, err, body)
	}
	if again := w.get("/page?url="+url.QueryEscape(address), "If-None-Match", first.Header.Get("Etag")); again.StatusCode != 304 {
		t.Errorf("asked again: %d", again.StatusCode)
	}
	if n := asked(); n != 1 {
		t.Errorf("told pages %d times", n)
	}
	key := link.Digest("http://a.example/1.png")
	exec(`INSERT INTO media (hash, url, state, content, type, width, height) VALUES ($1, '', 1, $2, 'image/png', 100, 50)`, key[:], strings.Repeat("a", 64))
	with := w.get("/page?url=" + url.QueryEscape(address))
	if body, err := io.ReadAll(with.Body); err != nil || !strings.Contains(string(body), "/media/"+strings.Repeat("a", 64)+"/100.png") || with.Header.Get("Etag") == first.Header.Get("Etag") {
		t.Errorf("with its picture: %v, %s", err, body)
	}
}

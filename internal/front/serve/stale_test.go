package serve_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/port/store"
)

func TestAPageThatWasServedIsServedWhileTheStoreIsAwayAndSaysSo(t *testing.T) {
	w := open(t)
	w.page(1, address, "One", false)
	w.page(2, "http://a.example/2", "Two", false)
	w.get("/page?url=" + address)
	w.get("/")
	w.faults.Blind(true)
	for path, has := range map[string]string{"/page?url=" + address: "Hello", "/": "One"} {
		r := w.get(path)
		text := read(t, r)
		if r.StatusCode != http.StatusOK || !strings.Contains(text, has) || !strings.HasPrefix(r.Header.Get("Warning"), "110 ") ||
			r.Header.Get("Cache-Control") != "no-store" || r.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %d, %v, %s", path, r.StatusCode, r.Header, text)
		}
		if path == "/" && !strings.Contains(text, "The database does not answer at the moment") {
			t.Errorf("the front page does not say that it is old: %s", text)
		}
	}
	r := w.get("/page?url=http://a.example/2")
	if r.StatusCode != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" {
		t.Errorf("a page without a copy: %d, %v", r.StatusCode, r.Header)
	}
	w.faults.Blind(false)
	time.Sleep(1100 * time.Millisecond) // the store is not asked for a second
	if r := w.get("/page?url=" + address); r.StatusCode != http.StatusOK || r.Header.Get("Warning") != "" {
		t.Errorf("when the store is back: %d, %v", r.StatusCode, r.Header)
	}
}

func TestAWithdrawnPageIsNotServedFromItsCopy(t *testing.T) {
	for name, seen := range map[string]bool{"asked for since": true, "only in the change feed": false} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			w.page(1, address, "One", false)
			w.get("/page?url=" + address)
			if err := w.store.Write(t.Context(), func(tx *store.Tx) error {
				_, err := tx.Exec(`UPDATE pages SET withdrawn = TRUE, change = 7`)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if seen {
				w.get("/page?url=" + address)
			} else if err := w.serve.Forget(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.faults.Blind(true)
			if r := w.get("/page?url=" + address); r.StatusCode != http.StatusServiceUnavailable {
				t.Errorf("%d", r.StatusCode)
			}
		})
	}
}

package parse_test

import (
	"strings"
	"testing"

	"github.com/courant-platform/courant/internal/port/store"
)

func TestTheFeedsOwnTitleAndSiteAreKept(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		names := func() (title, home string) {
			t.Helper()
			if err := w.store.Read(t.Context(), func(r store.Reader) error {
				return r.Row(`SELECT title, home FROM readings WHERE source = 1`).Scan(&title, &home)
			}); err != nil {
				t.Fatal(err)
			}
			return title, home
		}
		w.read(1, strings.Replace(rss(item("/1", "One")), "<title>A</title>", "<title>The Mill &amp; well</title><link>http://a.example/home</link>", 1))
		if title, home := names(); title != "The Mill & well" || home != "http://a.example/home" {
			t.Errorf("%q at %q", title, home)
		}
		w.read(1, strings.Replace(rss(item("/1", "One")), "<title>A</title>", "<title>"+strings.Repeat("ж", 1000)+"</title>", 1))
		if title, _ := names(); title != strings.Repeat("ж", 250) {
			t.Errorf("%d bytes: %q", len(title), title)
		}
		w.read(1, yml(`<offer id="1"><name>A</name></offer>`))
		if title, _ := names(); title == "" {
			t.Error("the shop has no title")
		}
	})
}

package parse_test

import (
	"strings"
	"testing"

	"github.com/courant-platform/courant/internal/port/store"
)

func TestTheHubsOfAFeedAreKept(t *testing.T) {
	feed := func(links string) string {
		return `<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title>` + links + `</feed>`
	}
	link := func(rel, href string) string { return `<link rel="` + rel + `" href="` + href + `"/>` }
	hub := link("hub", "http://hub.example/")
	self := link("self", "http://a.example/f")
	for _, c := range []struct{ links, headerHubs, headerSelf, hubs, self string }{
		{hub + self, "", "", "http://hub.example/", "http://a.example/f"},
		{hub + hub + link("hub", "/mine"), "", "", "http://hub.example/ http://a.example/mine", ""},
		{hub + self, "http://other.example/", "http://a.example/header", "http://other.example/", "http://a.example/header"},
		{self, "http://other.example/", "", "http://other.example/", "http://a.example/f"},
		{strings.Repeat(hub, 3) + link("hub", "http://h/1") + link("hub", "http://h/2") + link("hub", "http://h/3") + link("hub", "http://h/4"), "", "",
			"http://hub.example/ http://h/1 http://h/2 http://h/3", ""},
		{link("hub", "http://h/"+strings.Repeat("x", 3000)), "", "", "", ""},
		{"", "", "", "", ""},
	} {
		in(t, func(t *testing.T, w *world) {
			w.hubs, w.self = c.headerHubs, c.headerSelf
			w.read(1, feed(c.links))
			var hubs, self string
			if err := w.store.Read(t.Context(), func(r store.Reader) error {
				return r.Row(`SELECT hubs, self FROM readings WHERE source = 1`).Scan(&hubs, &self)
			}); err != nil {
				t.Fatal(err)
			}
			if hubs != c.hubs || self != c.self {
				t.Errorf("%.200s: hubs %q, self %q", c.links, hubs, self)
			}
		})
	}
}

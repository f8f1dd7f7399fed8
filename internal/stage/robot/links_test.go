package robot

import (
	"net/http"
	"strings"
	"testing"
)

func TestTheLinkHeaderNamesHubs(t *testing.T) {
	for _, c := range []struct{ header, hubs, self string }{
		{`<http://hub.example/>; rel="hub"`, "http://hub.example/", ""},
		{`<http://hub.example/>; rel=hub, </feed>; rel=self`, "http://hub.example/", "http://a.example/feed"},
		{`<http://hub.example/?a=1,2;3>;rel="HUB self";title="a, <b>; c"`, "http://hub.example/?a=1,2;3", "http://hub.example/?a=1,2;3"},
		{`<http://x.example/>; title=x; rel=next, <http://hub.example/>; rel=hub; rel=self`, "http://hub.example/", ""},
		{`<http://one.example/>; rel=hub,<http://two.example/>; rel=hub`, "http://one.example/ http://two.example/", ""},
		{`<javascript:x>; rel=hub`, "", ""},
		{`<http://hub.example/`, "", ""},
		{`<http://hub.example/>; rel="hub`, "http://hub.example/", ""},
		{`http://hub.example/; rel=hub`, "", ""},
		{strings.Repeat(`<http://hub.example/>; rel=next,`, 100) + `<http://hub.example/>; rel=hub`, "", ""},
		{"", "", ""},
	} {
		got := websubLinks(http.Header{"Link": {c.header}}, "http://a.example/f")
		if hubs := strings.Join(got.hubs, " "); hubs != c.hubs || got.self != c.self {
			t.Errorf("%s: hubs %q, self %q", c.header, hubs, got.self)
		}
	}
}

func FuzzALinkHeaderGivesAddresses(f *testing.F) {
	f.Add(`<http://hub.example/>; rel="hub self", <a>;rel=self`)
	f.Add(`<x>;;=,"<`)
	f.Fuzz(func(t *testing.T, header string) {
		got := websubLinks(http.Header{"Link": {header}}, "http://a.example/f")
		for _, u := range append(got.hubs, got.self) {
			if u != "" && !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://") || strings.Contains(u, " ") {
				t.Errorf("%q: %q", header, u)
			}
		}
		if len(got.hubs) > mostHubs {
			t.Errorf("%q: %d hubs", header, len(got.hubs))
		}
	})
}

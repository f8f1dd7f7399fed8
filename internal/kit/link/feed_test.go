package link_test

import (
	"testing"

	"github.com/courant-platform/courant/internal/kit/link"
)

func TestAddressesOfSubscriptionsStandForAddressesOfTheWeb(t *testing.T) {
	for in, want := range map[string]string{
		"feed://a.example/feed": "http://a.example/feed", "feed:https://a.example/feed": "https://a.example/feed", "FEED:HTTP://a.example/": "HTTP://a.example/",
		"feed:a.example/feed": "http://a.example/feed", "feed:///a.example": "http://a.example", "feeds://a.example": "https://a.example", "rss://a.example/": "http://a.example/",
		"itpc://a.example/pod": "http://a.example/pod", "pcast://a.example/pod": "http://a.example/pod", "podcast://a.example/pod": "http://a.example/pod",
		"https://a.example/feed:1": "https://a.example/feed:1", "a.example/feed": "a.example/feed", "feed": "feed", "mailto:a@b.example": "mailto:a@b.example", "": "",
	} {
		if got := link.Feed(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestAddressesAreReadAsPeopleWriteThem(t *testing.T) {
	for in, want := range map[string]string{
		"a.example/feed": "https://a.example/feed", " feed://A.example/feed ": "http://a.example/feed", "HTTP://a.example:80": "http://a.example/",
		"javascript:alert(1.5)": "", "javascript:alert(1)": "", "ftp://a.example/": "", "feed": "", "": "", "data:text/html,a.b": "",
	} {
		if got, err := link.Entered(in); got != want && err == nil || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v; want %q", in, got, err, want)
		}
	}
}

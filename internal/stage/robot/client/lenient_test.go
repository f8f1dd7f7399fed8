package client_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/courant-platform/courant/internal/stage/robot/client"
)

func TestALocationIsReadAsBrowsersReadIt(t *testing.T) {
	for location, want := range map[string]string{
		"/sub/feed.xml?a b=c d":       "http://site.example/sub/feed.xml?a%20b=c%20d",
		"/a b/c|d":                    "http://site.example/a%20b/c|d",
		" /feed ":                     "http://site.example/feed",
		"http://b.example/x y#top":    "http://b.example/x%20y",
		"//b.example/%zz?q=<\"'>":     "http://b.example/%zz?q=%3C%22%27%3E",
		`http:\\b.example\feed`:       "http://b.example/feed",
		"/новости":                    "http://site.example/%D0%BD%D0%BE%D0%B2%D0%BE%D1%81%D1%82%D0%B8",
		"feed://b.example/feed":       "http://b.example/feed",
		"feed:https://b.example/feed": "https://b.example/feed",
		"?page=2":                     "http://site.example/feed?page=2",
		"javascript:alert(1)":         "javascript:alert(1)",
		"mailto:a@b.example":          "mailto:a@b.example",
		"http://":                     "",
	} {
		c := saying(t, "HTTP/1.1 302 Found\r\nLocation: "+location+"\r\nContent-Length: 0\r\n\r\n")
		if a, err := get(t, c, client.Request{}); err != nil || a.Location != want {
			t.Errorf("%q: %+v, %v, want %q", location, a, err, want)
		}
	}
}

func TestBytesAfterAGzipBodyAreIgnored(t *testing.T) {
	one, two := string(pack(t, []byte("<rss>one"), "gzip")), string(pack(t, []byte("two</rss>"), "gzip"))
	for name, c := range map[string]struct{ body, want string }{
		"nothing": {one, "<rss>one"}, "a second member": {one + two, "<rss>onetwo</rss>"}, "text": {one + "<!-- cached -->", "<rss>one"}, "zeros": {one + strings.Repeat("\x00", 512), "<rss>one"},
		"half a magic number": {one + "\x1f", "<rss>one"}, "after two members": {one + two + "\r\n\r\n", "<rss>onetwo</rss>"},
	} {
		whole := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(c.body), c.body)
		if a, err := get(t, saying(t, whole), client.Request{}); err != nil || string(a.Body) != c.want {
			t.Errorf("%s: %v, %v", name, a, err)
		}
		var kept []byte
		a, err := get(t, saying(t, whole), client.Request{Keep: func(r io.Reader) (err error) {
			kept, err = io.ReadAll(r)
			return err
		}})
		if err != nil || string(kept) != c.want || len(a.Raw) == 0 {
			t.Errorf("%s, as it arrives: %q, %v", name, kept, err)
		}
	}
	cut := one[:len(one)-6]
	if _, err := get(t, saying(t, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(cut), cut)), client.Request{}); err == nil {
		t.Error("a body that is cut off is no body")
	}
}

func TestAnAnswerThatAProxyChangedIsReadLikeAnyOther(t *testing.T) {
	c := saying(t, "HTTP/1.1 203 Non-Authoritative Information\r\nETag: \"x\"\r\nContent-Length: 6\r\n\r\n<rss/>")
	if a, err := get(t, c, client.Request{}); err != nil || string(a.Body) != "<rss/>" || a.Status != 203 || !a.Complete() || a.ETag != `"x"` {
		t.Errorf("%+v, %v", a, err)
	}
}

package feed_test

import (
	"strings"
	"testing"

	"github.com/courant-platform/courant/internal/read/feed"
)

func TestAddressesThatAreEscapedTwiceAreMended(t *testing.T) {
	body := `<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>A</title><link>feed://a.example/</link>
<image><url>http://a.example/logo.png?a=1&amp;amp;b=2</url></image>
<item><title>One</title><link>http://a.example/?p=1&amp;amp;x=2</link><enclosure url="http://a.example/a.mp3?a=1&amp;amp;b=2" type="audio/mpeg"/>
<media:content url="http://a.example/m.jpg?a=1&amp;amp;b=2" medium="image"/>
<description>&lt;img src="/i.jpg?a=1&amp;amp;amp;b=2"&gt; &lt;a href="/x?a=1&amp;amp;amp;b=2"&gt;x&lt;/a&gt;</description></item></channel></rss>`
	r, err := feed.Read([]byte(body), feed.Options{URL: "http://a.example/feed"})
	if err != nil {
		t.Fatal(err)
	}
	it := r.Items[0]
	for got, want := range map[string]string{
		it.Link: "http://a.example/?p=1&x=2", it.Enclosures[0].URL: "http://a.example/a.mp3?a=1&b=2", strings.Join(it.Images, " "): "http://a.example/i.jpg?a=1&b=2 http://a.example/m.jpg?a=1&b=2",
		r.Feed.Link: "http://a.example/", r.Feed.Image: "http://a.example/logo.png?a=1&b=2",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if !strings.Contains(it.Content, `src="http://a.example/i.jpg?a=1&amp;b=2"`) || !strings.Contains(it.Content, `href="http://a.example/x?a=1&amp;b=2"`) {
		t.Error(it.Content)
	}
}

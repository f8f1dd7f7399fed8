package feed_test

import "testing"

func TestTheHashIgnoresWhatNobodyEdited(t *testing.T) {
	hash := func(s string) string {
		t.Helper()
		return read(t, rss("<item><title>a</title>"+s+"</item>")).Items[0].Hash
	}
	text := func(s string) string { return "<link>/1</link><description><![CDATA[" + s + "]]></description>" }
	for _, c := range []struct{ what, a, b string }{
		{"a counter", text(`<p>Text.</p><div class="c">(Seen 10 times, 1 today)</div>`), text(`<p>Text.</p><div class="c">(Seen 11 times, 2 today)</div>`)},
		{"views", text(`<p>Text.</p><p>999 views</p>`), text(`<p>Text.</p><p>1 000 views</p>`)},
		{"views in Russian", text(`<p>Text.</p><p>Просмотров: 7</p>`), text(`<p>Text.</p><p>Просмотров: 8</p>`)},
		{"comments", text(`<p>Text.</p><a href="/1#c">3 comments</a>`), text(`<p>Text.</p><a href="/1#c">4 comments</a>`)},
		{"tracking in a link", text(`<a href="https://x.example/?id=1&amp;utm_source=rss">x</a>`), text(`<a href="https://x.example/?id=1">x</a>`)},
		{"a session in a link", text(`<a href="https://x.example/p;jsessionid=AB12?id=1&sid=7">x</a>`), text(`<a href="https://x.example/p;jsessionid=CD34?id=1&sid=8">x</a>`)},
		{"a signed picture", text(`<img src="https://x.example/i.jpg?w=300&Expires=1&Signature=aa">`), text(`<img src="https://x.example/i.jpg?w=300&Expires=2&Signature=bb">`)},
		{"an advertisement", text(`<p>Text</p><a href="https://ad.doubleclick.net/jump/x?ord=123">ad</a>`), text(`<p>Text</p><a href="https://ad.doubleclick.net/jump/y?ord=456">ad</a>`)},
		{"blanks", text("<p>Some  text</p>\n\n<p>more</p>"), text("<p>Some text </p><p> more</p>")},
		{"tracking in the link of the item", "<link>/1?utm_campaign=a</link>", "<link>/1?utm_campaign=b</link>"},
		{"the order of categories", "<category>a</category><category>b</category>", "<category>b</category><category>a</category>"},
		{"the order of enclosures", `<enclosure url="/a.mp3"/><enclosure url="/b.mp3"/>`, `<enclosure url="/b.mp3"/><enclosure url="/a.mp3"/>`},
	} {
		if hash(c.a) != hash(c.b) {
			t.Errorf("%s changes the hash", c.what)
		}
	}
	for _, c := range []struct{ what, a, b string }{
		{"a number in a sentence", text("<p>The fire took 12 houses.</p>"), text("<p>The fire took 13 houses.</p>")},
		{"a number beside a word that begins alike", text("<p>12 viewers like 5 of them best of all that there are, they say</p>"), text("<p>13 viewers like 5 of them best of all that there are, they say</p>")},
		{"a parameter of a page", text(`<a href="https://x.example/?id=1">x</a>`), text(`<a href="https://x.example/?id=2">x</a>`)},
		{"a picture", text(`<img src="https://x.example/i.jpg?w=300">`), text(`<img src="https://x.example/j.jpg?w=300">`)},
		{"a blank between words", text("<p>now here</p>"), text("<p>nowhere</p>")},
		{"a category", "<category>a</category><category>a b</category>", "<category>a</category><category>b</category>"},
		{"a category of two", "<category>a</category>", "<category>a</category><category>b</category>"},
		{"a tag", text("<p>a <b>c</b></p>"), text("<p>a <i>c</i></p>")},
	} {
		if hash(c.a) == hash(c.b) {
			t.Errorf("%s does not change the hash", c.what)
		}
	}
}

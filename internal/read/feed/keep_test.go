package feed_test

import (
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/read/feed"
)

func TestPlaceholdersForADateAreNoDates(t *testing.T) {
	for _, date := range []string{"0001-01-01T00:00:00Z", "0000-00-00T00:00:00Z", "-0001-11-30T00:00:00+00:00", "1970-01-01T00:00:00Z", "Mon, 01 Jan 0001 00:00:00 +0000", "Thu, 01 Jan 1970 00:00:00 GMT", "9999-12-31T00:00:00Z"} {
		for what, src := range map[string]string{
			"RSS":  rss("<item><title>a</title><pubDate>" + date + "</pubDate></item>"),
			"RDF":  `<rdf:RDF xmlns:dc="http://purl.org/dc/elements/1.1/"><item><title>a</title><dc:date>` + date + `</dc:date></item></rdf:RDF>`,
			"Atom": atom("<entry><title>a</title><published>" + date + "</published></entry>"),
			"JSON": jsonItems(`{"title": "a", "date_published": "` + date + `"}`),
			"CDF":  `<CHANNEL><ITEM LASTMOD="` + date + `"><TITLE>a</TITLE></ITEM></CHANNEL>`,
		} {
			r := read(t, src)
			if it := r.Items[0]; !it.Published.IsZero() || !it.Updated.IsZero() || !strings.HasPrefix(codes(r), "bad-date") && !strings.Contains(codes(r), " bad-date") {
				t.Errorf("%s, %s: %v, %v, warnings %s", what, date, it.Published, it.Updated, codes(r))
			}
		}
	}
	it := read(t, atom("<entry><title>a</title><updated>0001-01-01T00:00:00Z</updated><published>2024-05-05T05:05:05Z</published></entry>")).Items[0]
	if !it.Updated.IsZero() || it.Published.Year() != 2024 {
		t.Errorf("%v, %v", it.Published, it.Updated)
	}
}

func TestLineBreaksOfPlainTextStay(t *testing.T) {
	const text, html = "First.\nSecond &amp; third.\r\n\r\nNew paragraph", "<p>First.<br>Second &amp; third.</p><p>New paragraph</p>"
	const media = ` xmlns:media="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:content="http://purl.org/rss/1.0/modules/content/"`
	in := func(element string) string {
		name, _, _ := strings.Cut(element, " ")
		return `<rss` + media + `><item><title>t</title><` + element + `>` + text + `</` + name + `></item></rss>`
	}
	wrapped := "The city council voted on Tuesday to approve a new budget that, as its\nauthors say, will reduce spending on roads and raise it on the schools,\nwhich had waited for the money since the spring of the year before the\nlast one."
	for _, c := range []struct{ what, src, want string }{
		{"description", in("description"), html}, {"media:description", in("media:description"), html}, {"media:description of type plain", in(`media:description type="plain"`), html},
		{"itunes:summary", in("itunes:summary"), html}, {"dc:description", in("dc:description"), html}, {"content:encoded", in("content:encoded"), html},
		{"in CDATA", rss("<item><description><![CDATA[" + strings.ReplaceAll(text, "&amp;", "&") + "]]></description></item>"), html},
		{"Atom text", atom(`<entry><id>1</id><content>` + text + `</content></entry>`), html},
		{"Atom summary", atom(`<entry><id>1</id><summary type="text">` + text + `</summary></entry>`), html},
		{"Atom text/plain", atom(`<entry><id>1</id><content type="text/plain">` + text + `</content></entry>`), html},
		{"JSON", jsonItems(`{"id": "1", "content_text": "First.\nSecond & third.\n\nNew paragraph"}`), html},
		{"CDF", `<CHANNEL><ITEM HREF="/1"><ABSTRACT>` + text + `</ABSTRACT></ITEM></CHANNEL>`, html},
		{"no paragraph", rss("<item><description>a\nb</description></item>"), "a<br>b"},
		{"words in angle brackets", `<rss` + media + `><item><media:description>00:00 Intro &lt;start&gt;` + "\n" + `01:00 End</media:description></item></rss>`, "00:00 Intro &lt;start&gt;<br>01:00 End"},
		{"wrapped text", rss("<item><description>" + wrapped + "</description></item>"), wrapped},
		{"HTML", rss("<item><description>&lt;p>a\nb&lt;/p>\n\n&lt;p>c&lt;/p></description></item>"), "<p>a\nb</p>\n\n<p>c</p>"},
		{"Atom of type html", atom("<entry><id>1</id><content type='html'>a\nb</content></entry>"), "a\nb"},
		{"Atom of type xhtml", atom("<entry><id>1</id><content type='xhtml'><div>a\nb</div></content></entry>"), "a\nb"},
		{"indented", rss("<item><description>\n   a\n  </description></item>"), "a"},
	} {
		if got := read(t, c.src).Items[0].Content; got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.what, got, c.want)
		}
	}
	if d := read(t, "<rss><channel><description>a\nb\n\nc</description></channel></rss>").Feed.Description; d != "<p>a<br>b</p><p>c</p>" {
		t.Errorf("%q", d)
	}
}

func TestTitlesKeepWordsInAngleBrackets(t *testing.T) {
	for _, c := range []struct{ escaped, want string }{
		{"How to use &lt;video&gt; tags", "How to use <video> tags"}, {"a &lt; b", "a < b"}, {"&lt;T&gt; generics", "<T> generics"}, {"Say &lt;b&gt;no&lt;/b&gt;", "Say no"},
		{"The &lt;script&gt; element", "The <script> element"}, {"a &amp;lt;b&amp;gt; c", "a <b> c"},
	} {
		json := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(c.escaped)
		for what, src := range map[string]string{
			"RSS": rss("<item><title>" + c.escaped + "</title></item>"), "CDF": "<CHANNEL><ITEM><TITLE>" + c.escaped + "</TITLE></ITEM></CHANNEL>",
			"CDATA": rss("<item><title><![CDATA[" + json + "]]></title></item>"), "HTML": atom("<entry><title type='html'>" + c.escaped + "</title></entry>"),
		} {
			if got := read(t, src).Items[0].Title; got != c.want {
				t.Errorf("%s: %q gives %q, want %q", what, c.escaped, got, c.want)
			}
		}
	}
	for what, src := range map[string]string{"Atom": atom("<entry><title>Use &lt;b>x&lt;/b></title></entry>"), "JSON": jsonItems(`{"title": "Use <b>x</b>"}`)} {
		if got := read(t, src).Items[0].Title; got != "Use <b>x</b>" {
			t.Errorf("%s: %q", what, got)
		}
	}
}

func TestTextOfAnUnknownTypeIsReadAsWhatItLooksLike(t *testing.T) {
	const warned = "unknown-type"
	for _, c := range []struct{ attrs, content, want, warnings string }{
		{`type="plain"`, "a &lt; b", "a &lt; b", warned}, {`type="escaped"`, "&lt;p>a&lt;/p>", "<p>a</p>", warned}, {`type="utf-8"`, "<![CDATA[<b>a</b>]]>", "<b>a</b>", warned},
		{`type="text/x-html"`, "&lt;b>a&lt;/b>", "<b>a</b>", warned}, {`type="TEXT/HTML"`, "&lt;b>a&lt;/b>", "<b>a</b>", ""}, {`type=" HTML "`, "&lt;b>a&lt;/b>", "<b>a</b>", ""},
		{`type="text/html; charset=utf-8"`, "&lt;b>a&lt;/b>", "<b>a</b>", ""}, {`type="application/xhtml+xml; charset=utf-8"`, "<div><b>a</b></div>", "<b>a</b>", ""},
		{`type="markup"`, "<div><b>a</b> &lt;</div>", "<b>a</b> &lt;", warned}, {`type="text/markdown"`, "*a*\nb", "*a*<br>b", ""}, {`type="application/octet-stream"`, "a plain text", "a plain text", warned},
		{`type="application/unknown"`, "&lt;b>a&lt;/b>", "<b>a</b>", warned}, {`type="image/png"`, "iVBORw0KGgo=", "", warned}, {`type="application/xml"`, "<x>a</x>", "", warned}, {`type="html" mode="strange"`, "&lt;b>a&lt;/b>", "<b>a</b>", ""},
	} {
		r := read(t, atom("<entry><id>1</id><content "+c.attrs+">"+c.content+"</content></entry>"))
		if got := r.Items[0].Content; got != c.want || codes(r) != c.warnings {
			t.Errorf("%s: %q, want %q; warnings %s", c.attrs, got, c.want, codes(r))
		}
	}
	r := read(t, atom(`<title type="plain">A &lt;b> title</title><entry><id>1</id><title type="escaped">B &lt;i>title&lt;/i></title><summary type="x">s</summary></entry>`))
	if r.Feed.Title != "A <b> title" || r.Items[0].Title != "B title" || r.Items[0].Summary != "s" || codes(r) != "unknown-type unknown-type unknown-type" {
		t.Errorf("%q, %+v, %s", r.Feed.Title, r.Items[0], codes(r))
	}
}

func TestContentThatIsElsewhereKeepsItsLink(t *testing.T) {
	it := read(t, atom(`<entry><id>1</id><link href="/1"/><content type="application/pdf" src="/1.pdf"/></entry>`)).Items[0]
	if it.Link != "https://site.example/1" || len(it.Enclosures) != 1 || it.Enclosures[0].URL != "https://site.example/1.pdf" || it.Enclosures[0].Type != "application/pdf" {
		t.Errorf("%+v", it)
	}
	if it := read(t, atom(`<entry><id>1</id><content src="/1.html"/></entry>`)).Items[0]; it.Link != "https://site.example/1.html" || len(it.Enclosures) != 0 {
		t.Errorf("%+v", it)
	}
	if r := read(t, atom(`<entry><id>1</id><content src="see below, please"/></entry>`)); codes(r) != "bad-link" {
		t.Errorf("%s", codes(r))
	}
}

func TestTheLanguageOfTheContentIsThatOfTheItem(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{atom(`<entry xml:lang="fr"><id>1</id><title>t</title><content xml:lang="de_AT">c</content></entry>`), "de-AT"},
		{atom(`<entry><id>1</id><summary xml:lang="de">c</summary></entry>`), "de"}, {atom(`<entry><id>1</id><content>c</content></entry>`), "en"},
		{`<rss xml:lang="en"><item><description xml:lang="de">c</description></item></rss>`, "de"}, {`<rss><item><content:encoded xml:lang="de">c</content:encoded><description xml:lang="fr">s</description></item></rss>`, "de"},
	} {
		if got := read(t, c.src).Items[0].Language; got != c.want {
			t.Errorf("%s: %q, want %q", c.src, got, c.want)
		}
	}
}

func TestListsBeyondTheirLimitsAreCounted(t *testing.T) {
	for _, c := range []struct{ what, src, want string }{
		{"categories", rss("<item>" + numbered("<category>c%d</category>", 70) + "</item>"), "the item has too many values: 6 categories after the first 64 were left out"},
		{"keywords", rss("<item><itunes:keywords>" + numbered("k%d,", 65) + "</itunes:keywords></item>"), "1 categories"},
		{"authors and files", rss("<item>" + numbered(`<author>a%d</author><enclosure url="/%d"/>`, 66) + "</item>"), "2 authors after the first 64, 2 enclosures after the first 64"},
		{"pictures", rss("<item><description>" + numbered(`&lt;img src="/%d">`, 300) + "</description></item>"), "44 pictures after the first 256"},
		{"in JSON", jsonItems(`{"id": "1", "tags": [` + strings.TrimSuffix(numbered(`"t%d",`, 70), ",") + `]}`), "6 categories"},
		{"in Atom", atom("<entry><id>1</id>" + numbered(`<category term="c%d"/><link rel="related" href="/%d"/>`, 65) + "</entry>"), "1 categories after the first 64, 1 links after the first 64"},
		{"of the feed", `<rss><channel>` + numbered("<category>c%d</category>", 70) + "</channel></rss>", "the feed has too many values: 6 categories"},
	} {
		r := read(t, c.src)
		if codes(r) != "too-many" && !strings.HasSuffix(codes(r), " too-many") || !strings.Contains(r.Warnings[strings.Count(codes(r), " ")].Text, c.want) {
			t.Errorf("%s: %s, %+v", c.what, codes(r), r.Warnings)
		}
	}
}

func TestFilesHaveTheirDetails(t *testing.T) {
	const ns = `<rss xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:media="http://search.yahoo.com/mrss/" xmlns:podcast="https://podcastindex.org/namespace/1.0"><item><title>t</title>`
	for _, c := range []struct {
		what, src string
		want      courant.Enclosure
	}{
		{"itunes:duration", ns + `<itunes:duration>1:02:03</itunes:duration><enclosure url="/a.mp3" type="audio/mpeg" length="9"/></item></rss>`, courant.Enclosure{Type: "audio/mpeg", Length: 9, Duration: 3723}},
		{"minutes", ns + `<enclosure url="/a.mp3" type="audio/mpeg"/><itunes:duration> 02:03 </itunes:duration></item></rss>`, courant.Enclosure{Type: "audio/mpeg", Duration: 123}},
		{"seconds", ns + `<enclosure url="/a.mp3"/><itunes:duration>61.7</itunes:duration></item></rss>`, courant.Enclosure{Type: "audio/mpeg", Duration: 61}},
		{"media:content", ns + `<media:content url="/a.mp3" medium="audio" duration="60" fileSize="5"/></item></rss>`, courant.Enclosure{Type: "audio/mpeg", Length: 5, Duration: 60}},
		{"media:content completes an enclosure", ns + `<enclosure url="/a.mp3" type="audio/mpeg"/><media:content url="/a.mp3" type="audio/mpeg" duration="60" fileSize="5"/></item></rss>`, courant.Enclosure{Type: "audio/mpeg", Length: 5, Duration: 60}},
		{"Atom", atom(`<entry><id>1</id><link rel="enclosure" href="/a.mp3" title="A file" length="5"/></entry>`), courant.Enclosure{Type: "audio/mpeg", Length: 5, Title: "A file"}},
		{"JSON", jsonItems(`{"id": "1", "attachments": [{"url": "/a.mp3", "mime_type": "audio/mpeg", "title": "A file", "duration_in_seconds": 61.5}]}`), courant.Enclosure{Type: "audio/mpeg", Title: "A file", Duration: 61}},
	} {
		c.want.URL = "https://site.example/a.mp3"
		if got := read(t, c.src).Items[0].Enclosures; len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %+v, want %+v", c.what, got, c.want)
		}
	}
	it := read(t, ns+`<itunes:image href="/e.jpg"/><itunes:category text="Tech"><itunes:category text="News"/></itunes:category><comments>https://site.example/1#c</comments>
		<description>&lt;img src="/t.jpg"></description></item></rss>`).Items[0]
	if strings.Join(it.Images, " ") != "https://site.example/t.jpg https://site.example/e.jpg" || strings.Join(it.Categories, "|") != "Tech|News" || it.Comments != "https://site.example/1#c" {
		t.Errorf("%+v", it)
	}
	for _, odd := range []string{"soon", "1:2:3:4", "-5", "99999999", ""} {
		r := read(t, ns+`<enclosure url="/a.mp3"/><itunes:duration>`+odd+`</itunes:duration></item></rss>`)
		if r.Items[0].Enclosures[0].Duration != 0 || odd != "" && r.Warnings[len(r.Warnings)-1].Element != "itunes:duration" {
			t.Errorf("%q: %+v, %+v", odd, r.Items[0].Enclosures, r.Warnings)
		}
	}
}

func TestC1ControlsBecomeTheCharactersThatWereMeant(t *testing.T) {
	for what, src := range map[string]string{
		"UTF-8":        rss("<item><title>a \u0096 b</title><link>/\u0096</link><description>it\u0092s</description></item>"),
		"references":   rss("<item><title>a &#150; b</title><link>/&#x96;</link><description>it&amp;#146;s</description></item>"),
		"latin":        "<?xml version='1.0' encoding='iso-8859-1'?>" + rss("<item><title>a \x96 b</title><link>/\x96</link><description>it\x92s</description></item>"),
		"JSON escapes": jsonItems(`{"title": "a \u0096 b", "url": "/\u0096", "content_text": "it\u0092s"}`),
		"in CDATA":     rss("<item><title><![CDATA[a &#150; b]]></title><link>/&#150;</link><description><![CDATA[it&#146;s]]></description></item>"),
	} {
		it := read(t, src).Items[0]
		if it.Title != "a – b" || it.Content != "it’s" || it.Link != "https://site.example/%E2%80%93" {
			t.Errorf("%s: %q, %q, %q", what, it.Title, it.Content, it.Link)
		}
	}
}

func TestAnUnknownEncodingIsToldAndErrorsAreNotWellFormed(t *testing.T) {
	r := read(t, `<?xml version="1.0" encoding="x-unheard-of"?>`+rss("<item><title>a</title></item>"))
	if codes(r) != "encoding" || !strings.Contains(r.Warnings[0].Text, "x-unheard-of") || r.WellFormed {
		t.Errorf("%+v", r.Warnings)
	}
	for _, src := range []string{"", "<html></html>", "<other/>", "{}", "text", "<rss"} {
		if r, err := feed.Read([]byte(src), feed.Options{}); err == nil || r.WellFormed {
			t.Errorf("%q: %v, %v", src, err, r.WellFormed)
		}
	}
}

func TestAPictureInADataAddressIsNamed(t *testing.T) {
	r := read(t, rss(`<item><description>&lt;p>a&lt;/p>&lt;img src="data:image/png;base64,`+strings.Repeat("QUJD", 200)+`"></description></item>`))
	if codes(r) != "data-picture" || r.Items[0].Content != "<p>a</p>" {
		t.Errorf("%s, %+v", codes(r), r.Items)
	}
}

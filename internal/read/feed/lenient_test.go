package feed_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/read/feed"
)

// atom wraps elements into a feed.
func atom(inner string) string {
	return `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0" xml:lang="en">` + inner + `</feed>`
}

func TestALinkThatIsNotAnAddressGivesAWarning(t *testing.T) {
	for _, c := range []struct{ what, link, want, warnings string }{
		{"an address", "https://site.example/1", "https://site.example/1", ""},
		{"a path", "/1", "https://site.example/1", ""},
		{"a host alone stays as it is spelled", "https://other.example", "https://other.example", ""},
		{"escaped once too often", "/?a=1&amp;amp;b=2", "https://site.example/?a=1&b=2", ""},
		{"blanks around it", "\n https://site.example/1\n", "https://site.example/1", ""},
		{"markup around an address", `<a href="https://site.example/1">here</a>`, "https://site.example/1", "bad-link"},
		{"escaped markup", `&lt;a href='https://site.example/1'&gt;here&lt;/a&gt;`, "https://site.example/1", "bad-link"},
		{"prose around an address", "Read on at https://site.example/1 today", "https://site.example/1", "bad-link"},
		{"prose", "a show about things", "", "bad-link"},
		{"a script", "javascript:alert(1)", "", "bad-link"},
		{"a mark for none", "N/A", "", "bad-link"},
		{"nothing", "", "", ""},
	} {
		for _, src := range []string{rss("<item><title>a</title><link>" + c.link + "</link></item>"), `<rss><channel><link>` + c.link + `</link><item><title>a</title></item></channel></rss>`} {
			r := read(t, src)
			if got := r.Items[0].Link + r.Feed.Link; got != c.want || codes(r) != c.warnings || !r.WellFormed {
				t.Errorf("%s: %q, want %q; warnings %+v", c.what, got, c.want, r.Warnings)
			}
		}
	}
	r := read(t, "<rss><channel>\n <item><link>some words</link></item></channel></rss>")
	if w := r.Warnings[0]; w.Line != 2 || w.Column != 24 || w.Element != "link" {
		t.Errorf("%+v", w)
	}
}

func TestBinaryDataIsReportedAsNotText(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00<ab c=d>\x00\x00\x00", "not_a_feed: this is not text"},
		{"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x01\x02\x03\x04abc", "not_a_feed: this is not text"},
		{"<other><x/></other>", "not_a_feed: this is another kind of XML"}, {"some words", "not_a_feed: this is text without markup"},
	} {
		if _, err := feed.Read([]byte(c.src), feed.Options{}); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v", c.src, err)
		}
	}
}

func TestAServiceDocumentTellsItsFeeds(t *testing.T) {
	r, err := feed.Read([]byte(`<service xmlns="http://www.w3.org/2007/app" xmlns:a="http://www.w3.org/2005/Atom"><workspace><a:title>W</a:title>
		<collection href="blog"><a:title>Blog &amp; more</a:title></collection><collection href="/pics"/></workspace></service>`), feed.Options{URL: url})
	if err != nil || r.Format != "unknown" || len(r.Items) != 0 || len(r.Links) != 2 || r.Links[1].URL != "https://site.example/pics" ||
		r.Links[0] != (courant.FeedLink{URL: "https://site.example/blog", Title: "Blog & more", Type: "application/atom+xml"}) {
		t.Errorf("%v, %+v", err, r.Links)
	}
}

func TestDescriptionsAndRightsAreCleanHTML(t *testing.T) {
	const in, want = `Of &lt;b&gt;all&lt;/b&gt; &lt;a href="x" onclick="y"&gt;things&lt;/a&gt;&lt;script&gt;1&lt;/script&gt;`, `Of <b>all</b> <a href="https://base.example/x" rel="nofollow noopener">things</a>`
	plain := strings.NewReplacer(` rel="nofollow noopener"`, "")
	for what, src := range map[string]string{
		"rss":    `<rss xml:base="https://base.example/"><channel><description>` + in + `</description><copyright>` + in + `</copyright><item><title>a</title><copyright>` + in + `</copyright></item></channel></rss>`,
		"atom":   atom(`<subtitle type="html" xml:base="https://base.example/">` + in + `</subtitle><rights type="html" xml:base="https://base.example/">` + in + `</rights><entry xml:base="https://base.example/"><rights type="html">` + in + `</rights></entry>`),
		"source": atom(`<subtitle type="html" xml:base="https://base.example/">` + in + `</subtitle><rights type="html" xml:base="https://base.example/">` + in + `</rights><entry xml:base="https://base.example/"><source><rights type="html">` + in + `</rights></source></entry>`),
	} {
		r := read(t, src)
		for _, got := range []string{r.Feed.Description, r.Feed.Rights, r.Items[0].Rights} {
			if plain.Replace(got) != plain.Replace(want) {
				t.Errorf("%s: %q", what, got)
			}
		}
	}
	if r := read(t, atom(`<subtitle>a &lt;b> &amp; c</subtitle>`)); r.Feed.Description != "a &lt;b> &amp; c" && r.Feed.Description != "a &lt;b&gt; &amp; c" {
		t.Errorf("%q", r.Feed.Description)
	}
}

func TestAnAtomEntryTakesWhatTheStandardSays(t *testing.T) {
	for _, c := range []struct {
		what, entry, want string
		got               func(courant.Item) string
	}{
		{"the last of repeated dates", `<updated>2024-01-01T00:00:00Z</updated><updated>2023-01-01T00:00:00Z</updated>`, "2023", func(i courant.Item) string { return i.Updated.Format("2006") }},
		{"published before created", `<published>2024-01-01T00:00:00Z</published><created>2023-01-01T00:00:00Z</created>`, "2024", func(i courant.Item) string { return i.Published.Format("2006") }},
		{"the change where the publication is missing", `<updated>2024-01-01T00:00:00Z</updated>`, "2024", func(i courant.Item) string { return i.Published.Format("2006") }},
		{"the language of the title", `<title xml:lang="de_AT">a</title>`, "de-AT", func(i courant.Item) string { return i.Language }},
		{"no language where it says so", `<title xml:lang="">a</title>`, "", func(i courant.Item) string { return i.Language }},
		{"the identifier where it is an address and no link is there", `<id>https://site.example/1</id>`, "https://site.example/1", func(i courant.Item) string { return i.Link }},
		{"a path as identifier is an address", `<id>/1</id>`, "https://site.example/1", func(i courant.Item) string { return i.ID }},
		{"the authors of the source", `<source><author><name>Ann</name></author><id>x</id></source><id>y</id>`, "Ann y", func(i courant.Item) string { return i.Authors[0].Name + " " + i.ID }},
		{"content in base64", `<content type="application/octet-stream">PGI+YTwvYj4=</content>`, "<b>a</b>", func(i courant.Item) string { return i.Content }},
		{"content out of line is a link", `<content type="text/html" src="/page"/>`, "https://site.example/page", func(i courant.Item) string { return i.Link }},
		{"a picture out of line is a file", `<content type="image/png" src="/p.png"/>`, "https://site.example/p.png", func(i courant.Item) string { return i.Images[0] }},
		{"the base of the div of xhtml", `<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml" xml:base="https://base.example/x/"><img src="y.png"/></div></content>`, "https://base.example/x/y.png", func(i courant.Item) string { return i.Images[0] }},
		{"the base of an element inside of it", `<content type="xhtml" xml:base="https://base.example/"><div xmlns="http://www.w3.org/1999/xhtml"><p xml:base="x/"><img src="y.png?a=1&amp;b"/></p><img src="z.png"/></div></content>`,
			"https://base.example/x/y.png?a=1&b https://base.example/z.png", func(i courant.Item) string { return strings.Join(i.Images, " ") }},
		{"related links", `<link rel="related" href="/r"/><link rel="via" href="/v"/>`, "https://site.example/r", func(i courant.Item) string { return strings.Join(relatedOf(i), " ") }},
	} {
		if got := c.got(read(t, atom("<entry>"+c.entry+"</entry>")).Items[0]); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	gone := read(t, atom(`<at:deleted-entry ref="x" when="2024-01-01T00:00:00Z"/>`)).Items[0]
	if !gone.Withdrawn || gone.ID != "x" || gone.Updated.IsZero() || !gone.Published.IsZero() {
		t.Errorf("%+v", gone)
	}
	if f := read(t, atom(`<link rel="self" href="/feed"/><link rel="prev-archive" href="/feed?p=2"/>`)).Feed; f.Next != "https://site.example/feed?p=2" {
		t.Errorf("%+v", f)
	}
}

func TestModulesSayWhatTheFeedDoesNot(t *testing.T) {
	f := read(t, `<rss xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:media="http://search.yahoo.com/mrss/"><channel>
		<itunes:owner><itunes:name>Ann</itunes:name><itunes:email>ann@site.example</itunes:email></itunes:owner><itunes:category text="Tech"><itunes:category text="Radio"/></itunes:category>
		<itunes:image url="/cover.jpg"/><media:keywords>a, b</media:keywords><media:copyright>(c) Ann</media:copyright><item><title>x</title></item></channel></rss>`).Feed
	if len(f.Authors) != 1 || f.Authors[0] != (courant.Person{Name: "Ann", Email: "ann@site.example"}) || strings.Join(f.Categories, "|") != "Tech|Radio|a|b" ||
		f.Image != "https://site.example/cover.jpg" || f.Rights != "(c) Ann" {
		t.Errorf("%+v", f)
	}
	it := read(t, `<rss xmlns:media="http://search.yahoo.com/mrss/"><item><media:group><media:content url="/a.mp3" type="audio/mpeg" fileSize="9"/><media:keywords>a,b</media:keywords>
		<media:credit role="author">Bob</media:credit><media:credit role="sponsor">Eve</media:credit></media:group><media:category label="C">c/d</media:category></item></rss>`).Items[0]
	if len(it.Enclosures) != 1 || it.Enclosures[0].Length != 9 || strings.Join(it.Categories, "|") != "a|b|C" || len(it.Authors) != 1 || it.Authors[0].Name != "Bob" {
		t.Errorf("%+v", it)
	}
	it = read(t, rss(`<item><title>a</title><image><title>b</title><url>/i.png</url><link>/no</link></image><guid>/1</guid><fullitem>&lt;p>F&lt;/p></fullitem></item>`)).Items[0]
	if it.Title != "a" || it.Link != "https://site.example/1" || strings.Join(it.Images, "|") != "https://site.example/i.png" || it.Content != "<p>F</p>" {
		t.Errorf("%+v", it)
	}
	cdf := read(t, `<CHANNEL HREF="/" BASE="https://site.example/x/" LASTMOD="2024-01-02T00:00Z"><TITLE>T</TITLE><ABSTRACT>A</ABSTRACT><LOGO HREF="l.gif"/><ITEM HREF="1"><TITLE>a</TITLE></ITEM></CHANNEL>`)
	if f := cdf.Feed; cdf.Format != "cdf" || f.Link != "https://site.example/" || f.Description != "A" || f.Image != "https://site.example/x/l.gif" || f.Updated.IsZero() ||
		cdf.Items[0].Link != "https://site.example/x/1" {
		t.Errorf("%+v", cdf)
	}
}

func TestALongTitleIsCutWithAWarning(t *testing.T) {
	r := read(t, rss("<item><title>"+strings.Repeat("word ", 2000)+"</title></item>"))
	if len(r.Items[0].Title) > 1024 || codes(r) != "too-long" {
		t.Errorf("%d bytes, %q", len(r.Items[0].Title), codes(r))
	}
}

func TestALongIDIsShortenedToItsBeginningAndADigest(t *testing.T) {
	long := strings.Repeat("0123456789", 300_000)
	for _, feed := range []string{
		rss("<item><guid isPermaLink='false'>" + long + "a</guid></item><item><guid isPermaLink='false'>" + long + "b</guid></item>"),
		`<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>` + long + `a</id></entry><entry><id>` + long + `b</id></entry></feed>`,
		`{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "` + long + `a"}, {"id": "` + long + `b"}]}`,
	} {
		r := read(t, feed)
		if a, b := r.Items[0].ID, r.Items[1].ID; len(a) > 512 || a == b || a[:64] != long[:64] || codes(r) != "too-long too-long" {
			t.Errorf("%.600q, %.600q, %q", a, b, codes(r))
		}
	}
}

func TestTextsShownInListsAreLimited(t *testing.T) {
	long := strings.Repeat("я", 100_000)
	list := strings.Repeat("<category>"+long+"</category><author>"+long+"</author>", 3)
	for _, feed := range []string{
		`<rss><channel xml:lang="` + long + `"><title>` + long + `</title>` + list + `<item><title>` + long + `</title><dc:creator>` + long + `</dc:creator>` + list +
			`<enclosure url="/1" type="` + long + `"/></item></channel></rss>`,
		`<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="` + long + `"><title>` + long + `</title><author><name>` + long + `</name><email>` + long +
			`@a.example</email></author><entry><id>1</id><category term="` + long + `"/></entry></feed>`,
		`{"version": "https://jsonfeed.org/version/1.1", "title": "` + long + `", "language": "` + long + `", "authors": [{"name": "` + long + `"}],
			"items": [{"id": "1", "title": "` + long + `", "tags": ["` + long + `"], "attachments": [{"url": "/1", "mime_type": "` + long + `"}]}]}`,
	} {
		r := read(t, feed)
		text, err := json.Marshal(r)
		if err != nil || len(text) > 16<<10 || !utf8.Valid(text) || !strings.Contains(codes(r), "too-long") {
			t.Errorf("%d bytes, %q, %v", len(text), codes(r), err)
		}
		if lang := r.Items[0].Language; lang != "" {
			t.Errorf("a language of %d bytes", len(lang))
		}
	}
}

package feed_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/read/feed"
)

var update = flag.Bool("update", false, "write the goldens anew")

const url = "https://site.example/feed.xml"

func read(t *testing.T, src string) *courant.Reading {
	t.Helper()
	r, err := feed.Read([]byte(src), feed.Options{URL: url})
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return r
}

func TestAFeedIsReadAsItsGoldenSays(t *testing.T) {
	for _, name := range []string{"rss", "atom"} {
		src, err := os.ReadFile(filepath.Join("testdata", name+".xml"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.MarshalIndent(read(t, string(src)), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name+".json")
		if *update {
			if err := os.WriteFile(path, append(got, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, _ := os.ReadFile(path)
		if string(got)+"\n" != string(want) {
			t.Errorf("%s differs from its golden (-update writes it):\n%s", name, got)
		}
	}
}

// rss wraps items into a feed.
func rss(items string) string {
	return `<rss version="2.0"><channel><title>c</title>` + items + `</channel></rss>`
}

func TestDamagedFeedsGiveWhatCanBeRead(t *testing.T) {
	for _, c := range []struct{ what, src, titles, warnings string }{
		{"sound", rss("<item><title>a</title></item><item><title>b</title></item>"), "a|b", ""},
		{"a bare ampersand", rss("<item><title>a & b &amp; c</title></item>"), "a & b & c", "unescaped-ampersand"},
		{"an entity of HTML", rss("<item><title>a&nbsp;b&hellip;</title></item>"), "a b…", "undeclared-entity undeclared-entity"},
		{"a missing end tag", rss("<item><title>a<link>/1</link></item><item><title>b</title></item>"), "a|b", "missing-end-tag"},
		{"a missing end of an item", rss("<item><title>a</title><item><title>b</title></item>"), "a|b", "missing-end-tag"},
		{"cut off", `<rss><channel><item><title>a</title></item><item><title>b</title><link>/b</link><description>c`, "a|b", "truncated"},
		{"cut off in a link", `<rss><channel><item><title>a</title></item><item><title>b</title><link>/b`, "a", "truncated"},
		{"cut off in a tag", `<rss><channel><item><title>a</title></item><item><title>b</title><lin`, "a", "truncated"},
		{"junk before", "Warning: x\n" + rss("<item><title>a</title></item>"), "a", "junk-before"},
		{"markup before", "<br><b>Notice</b>: x\n" + rss("<item><title>a</title></item>"), "a", "junk-before"},
		{"blanks and a mark before", " \n\ufeff\n" + rss("<item><title>a</title></item>"), "a", "junk-before"},
		{"junk after", rss("<item><title>a</title></item>") + "<script>x</script>", "a", "junk-after"},
		{"items beside the channel", `<rss><channel><title>c</title></channel><item><title>a</title></item></rss>`, "a", ""},
		{"no channel", `<rss><item><title>a</title></item></rss>`, "a", ""},
		{"an undeclared prefix", rss("<item><title>a</title><dc:creator>x</dc:creator></item>"), "a", "undeclared-prefix"},
		{"a DTD", `<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]>` + rss("<item><title>a &x;</title></item>"), "a &x;", ""},
		{"a stray end tag", rss("<item></b><title>a</title></item>"), "a", "stray-end-tag"},
		{"a default namespace of Atom", `<rss xmlns="http://www.w3.org/2005/Atom"><channel><item><title>a</title></item></channel></rss>`, "a", ""},
		{"RDF with prefixes", `<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:s="http://purl.org/rss/1.0/"><s:channel/><s:item r:about="x"><s:title>a</s:title></s:item></r:RDF>`, "a", ""},
		{"controls", rss("<item><title>a\x00\x01b</title></item>"), "ab", "encoding"},
	} {
		r := read(t, c.src)
		var titles, warnings []string
		for _, it := range r.Items {
			titles = append(titles, it.Title)
		}
		for _, w := range r.Warnings {
			warnings = append(warnings, w.Code)
			if w.Line < 1 || w.Column < 1 || w.Text == "" {
				t.Errorf("%s: warning %+v", c.what, w)
			}
		}
		if got := strings.Join(titles, "|"); got != c.titles {
			t.Errorf("%s: titles %q, want %q", c.what, got, c.titles)
		}
		if got := strings.Join(warnings, " "); got != c.warnings || r.WellFormed != (c.warnings == "") {
			t.Errorf("%s: warnings %q, want %q; well-formed %v", c.what, got, c.warnings, r.WellFormed)
		}
	}
}

func TestOtherDocumentsAreRefusedWithACode(t *testing.T) {
	for _, c := range []struct{ src, code string }{
		{"", "empty"}, {" \n", "empty"}, {"hello", "not_a_feed"}, {"null", "not_a_feed"}, {"<urlset/>", "not_a_feed"}, {"<rss", "malformed"},
		{"<!doctype html><title>x</title>", "not_a_feed"}, {"<feed x='", "malformed"}, {"\x00\x01", "empty"},
	} {
		r, err := feed.Read([]byte(c.src), feed.Options{})
		if !errors.Is(err, courant.Invalid) || !strings.HasPrefix(err.Error(), c.code+": ") {
			t.Errorf("%q: %v, want %s", c.src, err, c.code)
		}
		if r == nil || r.Items == nil {
			t.Errorf("%q: no reading", c.src)
		}
	}
}

func TestAnHTMLPageTellsItsFeeds(t *testing.T) {
	r, err := feed.Read([]byte(`<!DOCTYPE html><html><head><script>if (a<b) "</script><link rel=stylesheet href=x>
		<link rel="alternate" type="application/rss+xml" title="All &amp; more" href="/real.xml"><link rel=alternate type=application/atom+xml href=a.xml></head>`),
		feed.Options{URL: "https://site.example/x/"})
	if err == nil || len(r.Links) != 2 || r.Links[0] != (courant.FeedLink{URL: "https://site.example/real.xml", Title: "All & more", Type: "application/rss+xml"}) ||
		r.Links[1].URL != "https://site.example/x/a.xml" {
		t.Errorf("%v, %+v", err, r.Links)
	}
}

func TestWarningsHaveTheirPlace(t *testing.T) {
	r := read(t, "<rss><channel>\n<item><title>ёё & x</title>\n <pubDate>never</pubDate></item></channel></rss>")
	if len(r.Warnings) != 2 || r.Warnings[0].Line != 2 || r.Warnings[0].Column != 17 || r.Warnings[0].Element != "title" || r.Warnings[1] != (courant.Warning{Code: "bad-date", Line: 3, Column: 16,
		Element: "pubDate", Text: r.Warnings[1].Text}) {
		t.Errorf("%+v", r.Warnings)
	}
}

// numbered repeats a text with %d replaced by the numbers from 0.
func numbered(text string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "%d", strconv.Itoa(i)))
	}
	return b.String()
}

func TestBoundsHold(t *testing.T) {
	many := numbered("<item><title>%d</title></item>", 1200)
	r := read(t, rss(many))
	if len(r.Items) != feed.DefaultMaxItems || codes(r) != "too-many-items" {
		t.Errorf("%d items, %+v", len(r.Items), r.Warnings)
	}
	r = read(t, rss("<item>"+strings.Repeat("<category>", 1e5)+strings.Repeat("<enclosure url='/x'/>", 1e4)+"<title>"+strings.Repeat("y", 1e6)+"</title></item>"))
	if it := r.Items[0]; len(it.Title) > 4096 || len(it.Categories) > 64 || len(it.Enclosures) > 64 {
		t.Errorf("title of %d bytes, %d categories", len(it.Title), len(it.Categories))
	}
	deep := read(t, rss("<item><title>a</title><x>"+strings.Repeat("<y>", 1e6)+"</x></item><item><title>b</title></item>"))
	if len(deep.Items) == 0 || deep.Items[0].Title != "a" {
		t.Errorf("%d items", len(deep.Items))
	}
}

func TestTheHashFollowsWhatIsShown(t *testing.T) {
	item := func(s string) string { return read(t, rss("<item>"+s+"</item>")).Items[0].Hash }
	a := item("<title>a</title><link>/1</link><description>d</description>")
	for _, same := range []string{
		"<link>/1</link><description><![CDATA[d]]></description><title> a </title>",
		"<title>a</title><link>/1</link><description>d</description><guid isPermaLink='false'>x</guid><comments>5</comments>",
	} {
		if item(same) != a {
			t.Errorf("%s has another hash", same)
		}
	}
	for _, other := range []string{
		"<title>b</title><link>/1</link><description>d</description>", "<title>a</title><link>/2</link><description>d</description>",
		"<title>a</title><link>/1</link><description>e</description>", "<title>a</title><link>/1</link><description>d</description><author>x</author>",
	} {
		if item(other) == a {
			t.Errorf("%s has the same hash", other)
		}
	}
	if len(a) != 32 {
		t.Errorf("hash %q", a)
	}
}

func TestPeopleAreReadInEverySpelling(t *testing.T) {
	for _, c := range []struct{ in, name, email string }{
		{"a@b.example (Ann B)", "Ann B", "a@b.example"}, {"Ann B &lt;a@b.example&gt;", "Ann B", "a@b.example"}, {"a@b.example", "", "a@b.example"},
		{"Ann B", "Ann B", ""}, {"Ann (a@b.example)", "Ann", "a@b.example"}, {"Ann (Desk)", "Ann (Desk)", ""}, {"a@b.example Ann", "Ann", "a@b.example"},
	} {
		it := read(t, rss("<item><author>"+c.in+"</author></item>")).Items[0]
		if len(it.Authors) != 1 || it.Authors[0] != (courant.Person{Name: c.name, Email: c.email}) {
			t.Errorf("%s: %+v", c.in, it.Authors)
		}
	}
}

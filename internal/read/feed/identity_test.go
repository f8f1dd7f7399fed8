package feed_test

import (
	"strings"
	"testing"

	"github.com/courant-platform/courant"
)

// ids returns the ids of all items.
func ids(r *courant.Reading) (list []string) {
	for _, it := range r.Items {
		list = append(list, it.ID)
	}
	return list
}

// jsonItems wraps items into a JSON Feed.
func jsonItems(items string) string { return jsonHead + `"items": [` + items + `]}` }

func TestDistinctItemsHaveDistinctIDs(t *testing.T) {
	const page = "https://site.example/p"
	for _, c := range []struct{ what, src string }{
		{"no guid and one link", rss(numbered("<item><title>T%d</title><link>/p</link></item>", 3))},
		{"one guid and one link", rss(numbered("<item><title>T%d</title><link>/p</link><guid>"+page+"</guid></item>", 3))},
		{"no title", rss(numbered("<item><link>/p</link><description>text %d</description></item>", 3))},
		{"one title, other texts", rss(numbered("<item><title>T</title><link>/p</link><description>text %d</description></item>", 3))},
		{"one title, other files", rss(numbered(`<item><title>T</title><link>/p</link><enclosure url="/%d.mp3"/></item>`, 3))},
		{"a guid, one title, other texts, no dates", rss(numbered("<item><title>T</title><link>/p</link><guid>"+page+"</guid><description>text %d</description></item>", 3))},
		{"no link, a guid that all share", rss(numbered(`<item><title>T%d</title><guid isPermaLink="false">`+page+"</guid></item>", 3))},
		{"RDF", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel/>` + numbered(`<item rdf:about="/p"><title>T%d</title><link>/p</link></item>`, 3) + "</rdf:RDF>"},
		{"Atom without dates", atom(numbered(`<entry><id>`+page+`</id><link href="/p"/><title>T%d</title></entry>`, 3))},
		{"Atom of one date", atom(numbered(`<entry><id>`+page+`</id><link href="/p"/><title>T%d</title><updated>2024-01-02T00:00:00Z</updated></entry>`, 3))},
		{"JSON", jsonItems(strings.TrimSuffix(numbered(`{"id": "`+page+`", "url": "/p", "title": "T%d"},`, 3), ","))},
		{"JSON without ids", jsonItems(strings.TrimSuffix(numbered(`{"url": "/p", "content_text": "T%d"},`, 3), ","))},
		{"CDF", `<CHANNEL>` + numbered(`<ITEM HREF="`+page+`"><TITLE>T%d</TITLE></ITEM>`, 3) + `</CHANNEL>`},
	} {
		r := read(t, c.src)
		seen := map[string]bool{}
		for _, id := range ids(r) {
			seen[id] = true
			if !strings.Contains(id, "/p#") || len(id) > len(page)+17 {
				t.Errorf("%s: id %q", c.what, id)
			}
		}
		if len(seen) != 3 || codes(r) != "" {
			t.Errorf("%s: ids %q, warnings %s", c.what, ids(r), codes(r))
		}
	}
}

func TestAnIDOfADigestIsStable(t *testing.T) {
	item := func(title, text string) string {
		return "<item><title>" + title + "</title><link>/p</link><description>" + text + "</description></item>"
	}
	first := read(t, rss(item("A", "a")+item("B", "b")+item("C", "c")))
	later := read(t, rss(item("D", "d")+item("C", "c changed")+item("A", "a")))
	if first.Items[0].ID != later.Items[2].ID || first.Items[2].ID != later.Items[1].ID || first.Items[0].ID == first.Items[1].ID {
		t.Errorf("%q, then %q", ids(first), ids(later))
	}
	views := read(t, rss(item("A", "a&lt;p>10 views&lt;/p>")+item("A", "b")))
	more := read(t, rss(item("A", "b")+item("A", "a&lt;p>11 views&lt;/p>")))
	if views.Items[0].ID != more.Items[1].ID {
		t.Errorf("%q, then %q", ids(views), ids(more))
	}
	if alone := read(t, rss(item("A", "a"))); alone.Items[0].ID != "https://site.example/p" {
		t.Errorf("%q", ids(alone))
	}
	if r := read(t, rss(numbered(`<item><title>T</title><link>/%d</link><guid isPermaLink="false">x</guid></item>`, 2))); r.Items[0].ID != "x" || r.Items[1].ID != "x" {
		t.Errorf("other links: %q", ids(r))
	}
	if r := read(t, `<rss xmlns:turbo="http://turbo.yandex.ru"><channel>`+numbered(`<item turbo="true"><link>/p</link><turbo:content>%d</turbo:content></item>`, 2)+"</channel></rss>"); r.Items[0].ID != r.Items[1].ID {
		t.Errorf("Turbo: %q", ids(r))
	}
}

func TestRepetitionsAndOlderVersionsAreLeftOut(t *testing.T) {
	const date = "<pubDate>Tue, 02 Jan 2024 10:00:00 GMT</pubDate>"
	entry := func(title, day string) string {
		return `<entry><id>1</id><link href="/p"/><title>` + title + `</title><updated>2024-01-0` + day + `T00:00:00Z</updated></entry>`
	}
	for _, c := range []struct{ what, src, titles, warnings string }{
		{"repeated", rss(strings.Repeat("<item><title>A</title><link>/p</link>"+date+"</item>", 3)), "A", "duplicate-item duplicate-item"},
		{"repeated without id and link", rss(strings.Repeat("<item><title>A</title></item>", 2)), "A", "duplicate-item"},
		{"repeated among others", rss("<item><title>A</title><link>/p</link></item><item><title>B</title><link>/p</link></item><item><title>A</title><link>/p</link></item>"), "A|B", "duplicate-item"},
		{"repeated in Atom", atom(strings.Repeat(entry("A", "1"), 2)), "A", "duplicate-item"},
		{"repeated in JSON", jsonItems(`{"id": "1", "title": "A"}, {"id": "1", "title": "A"}`), "A", "duplicate-item"},
		{"versions in Atom", atom(entry("old", "1") + entry("new", "3") + entry("middle", "2")), "new", "older-version older-version"},
		{"versions in Atom, the newest first", atom(entry("new", "3") + entry("old", "1")), "new", "older-version"},
		{"versions with a guid", rss(`<item><title>A</title><link>/p</link><guid>/p</guid><description>old</description>` + date + `</item>
			<item><title>A</title><link>/p</link><guid>/p</guid><description>new</description><pubDate>Wed, 03 Jan 2024 10:00:00 GMT</pubDate></item>`), "A", "older-version"},
		{"versions in JSON", jsonItems(`{"id": "1", "title": "A", "date_modified": "2024-01-02T00:00:00Z"}, {"id": "1", "title": "A", "date_modified": "2024-01-03T00:00:00Z"}`), "A", "older-version"},
		{"another title is no version", rss(`<item><title>A</title><link>/p</link><guid>/p</guid>` + date + `</item><item><title>B</title><link>/p</link><guid>/p</guid><pubDate>Wed, 03 Jan 2024 10:00:00 GMT</pubDate></item>`), "A|B", ""},
		{"an empty item", rss("<item/><item><title>A</title></item><item>\n</item>"), "A", "empty-item empty-item"},
		{"an empty entry", atom("<entry/><entry><title>A</title></entry>"), "A", "empty-item"},
		{"an empty object", jsonItems(`{}, {"title": "A"}`), "A", "empty-item"},
		{"the same in two languages", atom(`<entry xml:lang=""><content>x</content></entry><entry><content>x</content></entry>`), "|", ""},
		{"an item with a file only", rss(`<item><enclosure url="/a.mp3"/></item>`), "", ""},
	} {
		r := read(t, c.src)
		var titles []string
		for _, it := range r.Items {
			titles = append(titles, it.Title)
		}
		if got := strings.Join(titles, "|"); got != c.titles || codes(r) != c.warnings || len(r.Items) == 0 {
			t.Errorf("%s: %q, want %q; warnings %s", c.what, got, c.titles, codes(r))
		}
	}
	r := read(t, rss("<item><title>A</title><link>/p</link><category>one</category></item><item><title>A</title><link>/p</link><category>two</category></item>"))
	if got := strings.Join(r.Items[0].Categories, "|"); got != "one|two" {
		t.Errorf("the categories of a repetition: %q", got)
	}
	if w := read(t, rss("<item><title>A</title></item>\n<item><title>A</title></item>")).Warnings[0]; w.Line != 2 || !strings.Contains(w.Text, `"A"`) {
		t.Errorf("%+v", w)
	}
}

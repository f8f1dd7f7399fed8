package feed_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/read/feed"
)

const jsonHead = `{"version": "https://jsonfeed.org/version/1.1", "title": "T", `

// codes returns the codes of all warnings, without what is merely ignored.
func codes(r *courant.Reading) string {
	var list []string
	for _, w := range r.Warnings {
		if w.Level != courant.LevelInfo {
			list = append(list, w.Code)
		}
	}
	return strings.Join(list, " ")
}

func TestAJSONFeedIsRead(t *testing.T) {
	r := read(t, jsonHead+`"home_page_url": "https://site.example/", "feed_url": "/feed.json", "next_url": "/feed.json?p=2",
		"description": "a < b", "icon": "/icon.png", "language": "en-GB", "authors": [{"name": "Desk", "url": "mailto:desk@site.example"}],
		"hubs": [{"type": "WebSub", "url": "https://hub.example/"}], "_x": {"y": [1]},
		"items": [{"id": "1", "url": "https://site.example/1", "external_url": "https://else.example/", "title": "One & <two>",
			"content_html": "<p>Text <img src='/i.jpg'></p>", "content_text": "no", "summary": "a < b", "image": "https://site.example/big.jpg",
			"banner_image": "/banner.jpg", "date_published": "2024-01-02T03:04:05+01:00", "date_modified": "2024-01-03T00:00:00Z",
			"tags": ["a", "b"], "language": "de", "attachments": [{"url": "/a.mp3", "mime_type": "audio/mpeg", "size_in_bytes": 12.0}]},
		{"id": "2", "content_text": "one\ntwo\n\nthree"}]}`)
	f := r.Feed
	if r.Format != "json11" || !r.WellFormed || codes(r) != "" || f.Title != "T" || f.Link != "https://site.example/" || f.Description != "a &lt; b" ||
		f.Self != "https://site.example/feed.json" || f.Next != "https://site.example/feed.json?p=2" || f.Image != "https://site.example/icon.png" ||
		f.Language != "en-GB" || len(f.Hubs) != 1 || len(f.Authors) != 1 || f.Authors[0].Email != "desk@site.example" {
		t.Errorf("%+v", r)
	}
	it := r.Items[0]
	if it.ID != "1" || it.Link != "https://site.example/1" || it.Title != "One & <two>" || it.Summary != "a &lt; b" || it.Language != "de" ||
		it.Content != `<p>Text <img src="https://site.example/i.jpg"></p>` || strings.Join(it.Categories, "|") != "a|b" ||
		it.Published.Format("15:04:05") != "02:04:05" || it.Updated.IsZero() || strings.Join(relatedOf(it), "|") != "https://else.example/" {
		t.Errorf("%+v", it)
	}
	if len(it.Enclosures) != 1 || it.Enclosures[0] != (courant.Enclosure{URL: "https://site.example/a.mp3", Type: "audio/mpeg", Length: 12}) ||
		strings.Join(it.Images, "|") != "https://site.example/i.jpg|https://site.example/big.jpg|https://site.example/banner.jpg" {
		t.Errorf("%+v", it)
	}
	if it := r.Items[1]; it.Content != "<p>one<br>two</p><p>three</p>" || it.Authors[0].Name != "Desk" || it.Language != "en-GB" {
		t.Errorf("%+v", it)
	}
}

func TestJSONThatIsOffTheStandardIsUnderstood(t *testing.T) {
	for _, c := range []struct{ what, items, ids, rest, warnings string }{
		{"numbers as identifiers", `[{"id": 7, "title": "a"}, {"id": 1e3}]`, "7|1e3", "", ""},
		{"no identifier but an address", `[{"url": "/a"}]`, "https://site.example/a", "", ""},
		{"an author object", `[{"id": "1", "author": {"name": "Ann"}}]`, "1", "Ann", ""},
		{"an object in place of authors", `[{"id": "1", "authors": {"name": "Ann"}}]`, "1", "Ann", ""},
		{"a name in place of authors", `[{"id": "1", "authors": "Ann"}]`, "1", "Ann", ""},
		{"a string in place of tags", `[{"id": "1", "tags": "one", "authors": [null, {"name": "Ann"}]}]`, "1", "Ann", ""},
		{"objects in place of texts", `[{"id": {"a": 1}, "url": "/a", "title": [], "content_text": true}]`, "https://site.example/a", "", ""},
		{"an item that is none", `[null, "x", {"id": "1"}]`, "1", "", "bad-item bad-item"},
		{"a link that is none", `[{"id": "1", "url": "see below"}]`, "1", "", "bad-link"},
		{"a date that is none", `[{"id": "1", "date_published": "soon"}]`, "1", "", "bad-date"},
		{"items that are an object", `{"a": {"id": "1"}}`, "", "", ""},
	} {
		r := read(t, jsonHead+`"items": `+c.items+"}")
		var ids []string
		for _, it := range r.Items {
			ids = append(ids, it.ID)
		}
		if got := strings.Join(ids, "|"); got != c.ids || codes(r) != c.warnings || !r.WellFormed {
			t.Errorf("%s: %q, want %q; warnings %q", c.what, got, c.ids, codes(r))
		}
		if c.rest != "" && (len(r.Items[0].Authors) != 1 || r.Items[0].Authors[0].Name != c.rest) {
			t.Errorf("%s: authors %+v", c.what, r.Items[0].Authors)
		}
	}
}

func TestDamagedJSONGivesWhatCanBeRead(t *testing.T) {
	for _, c := range []struct{ what, src, titles, warning string }{
		{"cut off in an item", jsonHead + `"items": [{"title": "a"}, {"title": "b"}, {"title": "c`, "a|b", "truncated"},
		{"cut off after an item", jsonHead + `"items": [{"title": "a"},`, "a", "truncated"},
		{"cut off after the items", jsonHead + `"items": [{"title": "a"}]`, "a", "truncated"},
		{"a line end in a string", jsonHead + "\"items\": [{\"title\": \"a\nb\"}, {\"title\": \"c\"}]}", "a b|c", "bad-json"},
		{"a comma at the end", jsonHead + `"items": [{"title": "a",}, {"title": "c"}, ]}`, "a|c", "bad-json"},
		{"an escape that is none", jsonHead + `"items": [{"title": "a\'b"}, {"title": "c"}]}`, "a'b|c", "bad-json"},
		{"something that is no JSON", jsonHead + `"items": [{"title": "a"}, {title: "b"}]}`, "a", "bad-json"},
		{"junk before", "<b>Warning</b>: x<br>\n" + jsonHead + `"items": [{"title": "a"}]}`, "a", "junk-before"},
		{"a guard before", ")]}'\n" + jsonHead + `"items": [{"title": "a"}]}`, "a", "junk-before"},
		{"junk after", jsonHead + `"items": [{"title": "a"}]}<!-- 0.1 s -->`, "a", "junk-after"},
	} {
		r := read(t, c.src)
		var titles []string
		for _, it := range r.Items {
			titles = append(titles, it.Title)
		}
		if got := strings.Join(titles, "|"); got != c.titles || codes(r) != c.warning || r.WellFormed {
			t.Errorf("%s: %q, want %q; warnings %q", c.what, got, c.titles, codes(r))
		}
	}
	r := read(t, jsonHead+"\n\"items\": [\n {\"id\": \"1\"},\n {\"title\": x}]}")
	if w := r.Warnings[0]; w.Line != 4 || w.Column != 12 {
		t.Errorf("%+v", w)
	}
}

func TestJSONFeedsTellTheirVersionAndTheirEnd(t *testing.T) {
	for _, c := range []struct{ src, format, warnings string }{
		{`{"version": "https://jsonfeed.org/version/1", "items": []}`, "json10", ""},
		{`{"version": "https://jsonfeed.org/version/1.1", "items": []}`, "json11", ""},
		{`{"items": [{"id": "1"}]}`, "json11", "no-version"},
		{`{"version": "https://jsonfeed.org/version/1.1", "expired": true}`, "json11", "expired"},
	} {
		if r := read(t, c.src); r.Format != c.format || codes(r) != c.warnings {
			t.Errorf("%s: %s, warnings %q", c.src, r.Format, codes(r))
		}
	}
	for _, c := range []struct{ src, code string }{{`{"a": 1}`, "not_a_feed"}, {`[]`, "not_a_feed"}, {`{"a": `, "malformed"}, {`{`, "malformed"}} {
		if _, err := feed.Read([]byte(c.src), feed.Options{}); !errors.Is(err, courant.Invalid) || !strings.HasPrefix(err.Error(), c.code) {
			t.Errorf("%s: %v", c.src, err)
		}
	}
	if r, _ := feed.Read([]byte(jsonHead+`"items": [`+numbered(`{"title": "%d"},`, 1200)+`{}]}`), feed.Options{}); len(r.Items) != feed.DefaultMaxItems || codes(r) != "too-many-items" {
		t.Errorf("%d items, %s", len(r.Items), codes(r))
	}
}

func TestTheLastValueOfARepeatedNameWins(t *testing.T) {
	r, err := feed.Read([]byte(jsonHead+`"items": [{"id": "a", "title": "x", "id": "b"}, 3, [{"id": "no"}], {"id": "c", "content_text": "{\"id\": 1}"}]}`), feed.Options{})
	if err != nil || len(r.Items) != 2 || r.Items[0].ID != "b" || r.Items[1].ID != "c" || codes(r) != "bad-item bad-item" {
		t.Errorf("%v, %+v, %s", err, r.Items, codes(r))
	}
}

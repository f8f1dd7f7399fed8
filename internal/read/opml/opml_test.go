package opml

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
)

func TestListsAreReadInEveryForm(t *testing.T) {
	want := []Entry{
		{URL: "http://a.test/feed.xml", Kind: "feed", Title: "A & B", Site: "http://a.test/", Folder: []string{"News", "A/B"}},
		{URL: "http://b.test/", Kind: "list", Title: "B", XPath: "//a", Next: "//a[@rel='next']", Every: "5m", Trusted: true, IgnoreRobots: true, Absence: "kept"},
	}
	for name, text := range map[string]string{
		"OPML": `<?xml version="1.0"?><!-- a comment --><opml version="2.0" xmlns:courant="` + Namespace + `"><head><title>Mine</title></head><body>
			<outline text="News"><outline title="A/B" text="ab"><!-- another -->
			<outline type="rss" text="A &amp; B" xmlUrl=" http://a.test/feed.xml " HTMLURL="http://a.test/" courant:kind="feed"/></outline></outline>
			<outline title="B" text="b" XMLURL="http://b.test/" courant:kind="list" courant:xpath="//a" courant:next="//a[@rel='next']"
				courant:every="5m" courant:trusted="true" courant:ignoreRobots="true" courant:absence="kept"></outline></body></opml>`,
		"JSON array": `[{"url":"http://a.test/feed.xml","kind":"feed","title":"A & B","site":"http://a.test/","folder":["News","A/B"]},
			{"url":"http://b.test/","kind":"list","title":"B","list_xpath":"//a","next_xpath":"//a[@rel='next']",
			"every":"5m","trusted":true,"ignore_robots":true,"absence":"kept"}]`,
		"JSON lines": `{"url":"http://a.test/feed.xml","kind":"feed","title":"A & B","site":"http://a.test/","folder":["News","A/B"]}` + "\n\n" +
			`{"url":"http://b.test/","kind":"list","title":"B","list_xpath":"//a","next_xpath":"//a[@rel='next']","every":"5m","trusted":true,"ignore_robots":true,"absence":"kept"}`,
	} {
		got, err := Read([]byte(text))
		if err != nil || !reflect.DeepEqual(got.Entries, want) || !got.WellFormed || len(got.Warnings) != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestOneBadPartCostsNoOther reads lists with two good entries, A and B.
func TestOneBadPartCostsNoOther(t *testing.T) {
	outline := func(text string) string {
		return `<opml version="2.0"><body><outline text="A" xmlUrl="http://a.test/"/>` + text + `<outline text="B" xmlUrl="http://b.test/"/></body></opml>`
	}
	for name, c := range map[string]struct{ text, want, code string }{
		"a field of no use":     {`[{"url":"http://a.test/"},{"url":"http://b.test/","host":"b.test"}]`, "a b", "ignored"},
		"a cut JSON array":      {`[{"url":"http://a.test/"},{"url":"http://b.test/"},{"url":"http://c.te`, "a b", "truncated"},
		"a JSON array and more": {`[{"url":"http://a.test/"},{"url":"http://b.test/"}],`, "a b", "truncated"},
		"quotes in quotes":      {outline(`<outline text="fubar "baz"" xmlUrl="http://c.test/"/>`), "a c b", "bad-attribute"},
		"< in an attribute":     {outline(`<outline text="a <b>" xmlUrl="http://c.test/"/>`), "a c b", "bad-attribute"},
		"no quotes":             {outline(`<outline text=c xmlUrl=http://c.test/ />`), "a c b", "bad-attribute"},
		"a bare &":              {outline(`<outline text="c & d" xmlUrl="http://c.test/?a=1&b=2"/>`), "a c b", ""},
		"an attribute twice":    {outline(`<outline text="c" text="c" xmlUrl="http://c.test/"/>`), "a c b", ""},
		"no end tag":            {outline(`<outline text="folder">`), "a b", "missing-end-tag"},
		"an end tag too many":   {outline(`</outline>`), "a b", "stray-end-tag"},
		"HTML entities":         {outline(`<outline text="caf&eacute;" xmlUrl="http://c.test/"/>`), "a c b", ""},
		"comments":              {outline(`<outline text="c" isComment="true"><outline xmlUrl="http://c.test/"/></outline>`), "a b", "ignored"},
		"a feed without URL":    {outline(`<outline type="rss" text="c"/>`), "a b", "outline-without-url"},
		"url instead":           {outline(`<outline type="rss" text="c" url="http://c.test/"/>`), "a c b", ""},
		"another list":          {outline(`<outline type="include" text="c" url="http://c.test/list.opml"/>`), "a b", "included-list"},
		"other attributes":      {outline(`<outline text="c" xmlUrl="http://c.test/" description="d"/>`), "a c b", "ignored"},
		"cut off":               {outline("")[:len(outline(""))-10], "a b", "truncated"},
		"in windows-1251":       {"<?xml version=\"1.0\" encoding=\"windows-1251\"?>" + outline("<outline text=\"\xcc\" xmlUrl=\"http://c.test/\"/>"), "a c b", ""},
		"a wrong JSON line":     {"{\"url\":\"http://a.test/\"}\n{\"url\":\n{\"url\":\"http://b.test/\"}", "a b", "bad-entry"},
		"a JSON entry of text":  {`[{"url":"http://a.test/"},"http://c.test/",{"url":"http://b.test/"}]`, "a b", "bad-entry"},
		"a JSON wrong field":    {`[{"url":"http://a.test/"},{"url":"http://c.test/","title":5},{"url":"http://b.test/"}]`, "a b", "bad-entry"},
		"no url in JSON":        {`[{"url":"http://a.test/"},{"title":"c"},{"url":"http://b.test/"}]`, "a b", "bad-entry"},
	} {
		l, err := Read([]byte(c.text))
		var hosts, codes []string
		for _, e := range l.Entries {
			hosts = append(hosts, strings.TrimPrefix(strings.SplitN(e.URL, ".test", 2)[0], "http://"))
		}
		for _, w := range l.Warnings {
			codes = append(codes, w.Code)
		}
		if got := strings.Join(hosts, " "); err != nil || got != c.want || c.code != "" && !strings.Contains(fmt.Sprint(codes), c.code) {
			t.Errorf("%s: entries %s, warnings %v, error %v", name, got, l.Warnings, err)
		}
	}
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	want := []Entry{{URL: "http://a.test/?a=1&b=2", Kind: "feed", Name: "a", Title: `<"quoted">`}, {URL: "http://b.test/", Kind: "feed", Name: "b", Title: "b"},
		{URL: "http://c.test/", Name: "c", Folder: []string{"A", "B"}, Site: "http://c.test/home", Trusted: true, Every: "1h0m0s"},
		{URL: "http://d.test/", Name: "d", Folder: []string{"A", "B", "C"}, IgnoreRobots: true},
		{URL: "http://e.test/", Name: "e", Folder: []string{"A/B & c"}, Absence: "kept"}}
	var b bytes.Buffer
	if err := Write(&b, "all", want); err != nil {
		t.Fatal(err)
	}
	got, err := Read(b.Bytes())
	if err != nil || !reflect.DeepEqual(got.Entries, want) || got.Title != "all" {
		t.Errorf("%+v, %v from %s", got, err, b.Bytes())
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"": "empty", "hello": "neither OPML nor JSON", "<html><body></body></html>": "no <opml>", "<rss/>": "no <opml>", "[1]": "none of the 1", "{": "none of the 1",
		"[{\"url\":\n 1,]": "line 2, column 4",
		"[":                "line 1, column 1",
	} {
		if _, err := Read([]byte(text)); !errors.Is(err, courant.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`<opml><outline xmlUrl="a"/></opml>`))
	f.Add([]byte(`<opml><outline text="a"><outline isComment="true"><outline xmlUrl="a"/></outline><outline xmlUrl="b"/></outline></opml>`))
	f.Add([]byte(`[{"url":"a"}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := Read(text)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, "", list.Entries); err != nil {
			t.Fatal(err)
		}
		again, err := Read(b.Bytes())
		if err != nil || len(again.Entries) != len(list.Entries) {
			t.Errorf("%d entries were written and %d read back: %v\n%q", len(list.Entries), len(again.Entries), err, b.Bytes())
		}
	})
}

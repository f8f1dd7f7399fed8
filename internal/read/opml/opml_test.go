package opml

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/courant-platform/courant"
)

func TestListsAreReadInEveryForm(t *testing.T) {
	want := []Entry{
		{URL: "http://a.test/feed.xml", Kind: "feed", Title: "A & B"},
		{URL: "http://b.test/", Kind: "list", Title: "B", XPath: "//a", Next: "//a[@rel='next']"},
	}
	for name, text := range map[string]string{
		"OPML": `<?xml version="1.0"?><opml version="2.0" xmlns:courant="` + Namespace + `"><body><outline text="folder">
			<outline type="rss" text="A &amp; B" xmlUrl=" http://a.test/feed.xml " courant:kind="feed"/></outline>
			<outline title="B" text="b" XMLURL="http://b.test/" courant:kind="list" courant:xpath="//a" courant:next="//a[@rel='next']"></outline></body></opml>`,
		"JSON array": `[{"url":"http://a.test/feed.xml","kind":"feed","title":"A & B"},
			{"url":"http://b.test/","kind":"list","title":"B","list_xpath":"//a","next_xpath":"//a[@rel='next']","host":"b.test"}]`,
		"JSON lines": `{"url":"http://a.test/feed.xml","kind":"feed","title":"A & B"}` + "\n\n" +
			`{"url":"http://b.test/","kind":"list","title":"B","list_xpath":"//a","next_xpath":"//a[@rel='next']"}`,
	} {
		got, err := Read([]byte(text))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	want := []Entry{{URL: "http://a.test/?a=1&b=2", Kind: "feed", Name: "a", Title: `<"quoted">`}, {URL: "http://b.test/", Kind: "feed", Name: "b", Title: "b"}}
	var b bytes.Buffer
	if err := Write(&b, "all", want); err != nil {
		t.Fatal(err)
	}
	got, err := Read(b.Bytes())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v from %s", got, err, b.Bytes())
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	for _, text := range []string{"", "hello", "<html><body></body></html>", "[1]", "{", "<opml><outline", "<rss/>"} {
		if _, err := Read([]byte(text)); !errors.Is(err, courant.Invalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`<opml><outline xmlUrl="a"/></opml>`))
	f.Add([]byte(`[{"url":"a"}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, err := Read(text)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, "", entries); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(b.Bytes()); err != nil {
			t.Errorf("what was written is not read: %v", err)
		}
	})
}

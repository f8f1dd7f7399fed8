package feed_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/read/feed"
)

func relatedOf(i courant.Item) (urls []string) {
	for _, l := range i.Related {
		urls = append(urls, l.URL)
	}
	return urls
}

func turbo(t *testing.T, channel, item string) *courant.Reading {
	t.Helper()
	r, err := feed.Read([]byte(`<rss xmlns:yandex="http://news.yandex.ru" xmlns:turbo="http://turbo.yandex.ru" version="2.0"><channel><title>T</title>`+channel+
		`<item turbo="true"><link>https://a.example/1</link>`+item+`</item></channel></rss>`), feed.Options{URL: "https://a.example/turbo.xml"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func warned(r *courant.Reading) (codes []string) {
	for _, w := range r.Warnings {
		codes = append(codes, w.Code)
	}
	return codes
}

func TestTheSettingsOfATurboChannelAreRead(t *testing.T) {
	f := turbo(t, `<turbo:analytics type="Yandex" id="5" params='{"a":1}'/><yandex:analytics type="custom" url="https://c.example/"></yandex:analytics>
		<turbo:adNetwork type="AdFox" turbo-ad-id="first"><![CDATA[<div id="x"></div><script>run()</script>]]></turbo:adNetwork><turbo:adNetwork type="Yandex" id="R-1" turbo-ad-id="second"/>
		<turbo:cms_plugin>0123456789ABCDEF0123456789ABCDEF</turbo:cms_plugin><yandex:logo>https://a.example/l.png</yandex:logo><yandex:logo type="square">https://a.example/s.png</yandex:logo>`, "").Feed
	if want := []courant.Counter{{Type: "Yandex", ID: "5", Params: `{"a":1}`}, {Type: "custom", URL: "https://c.example/"}}; !reflect.DeepEqual(f.Analytics, want) {
		t.Errorf("counters %+v", f.Analytics)
	}
	if want := []courant.AdNetwork{{Type: "AdFox", Slot: "first", Code: `<div id="x"></div><script>run()</script>`}, {Type: "Yandex", ID: "R-1", Slot: "second"}}; !reflect.DeepEqual(f.Ads, want) {
		t.Errorf("ads %+v", f.Ads)
	}
	if f.Plugin != "0123456789ABCDEF0123456789ABCDEF" || f.Logo != "https://a.example/l.png" || f.SquareLogo != "https://a.example/s.png" {
		t.Errorf("got %+v", f)
	}
}

func TestATurboItemIsReadWhole(t *testing.T) {
	r := turbo(t, "", `<turbo:extendedHtml>true</turbo:extendedHtml><turbo:source>https://a.example/amp</turbo:source><turbo:topic>Topic</turbo:topic>
		<yandex:related type="infinity"><link url="https://a.example/2" img="https://a.example/2.jpg">Two</link><link url="/3" image="/3.jpg">Three</link></yandex:related>
		<metrics><yandex schema_identifier="1"><breadcrumblist><breadcrumb url="https://a.example/" text="Home"/><breadcrumb url="/news" text="News"/></breadcrumblist></yandex></metrics>
		<yandex:full-text>full</yandex:full-text><description>short</description>
		<turbo:content><![CDATA[<header><h1>Heading</h1><h2>Sub</h2></header><p>Text</p><div data-block="gallery"><img src="/1.jpg"></div>]]></turbo:content><pubDate>Tue, 20 Oct 18 10:00:00 +0300</pubDate>`)
	i := r.Items[0]
	if r.Format != "turbo" || i.Title != "Heading" || i.Turbo == nil || !*i.Turbo || i.Published.UTC().Format("2006-01-02T15") != "2018-10-20T07" ||
		i.Content != `<div><h2>Sub</h2></div><p>Text</p><div data-widget="gallery"><img src="https://a.example/1.jpg"></div>` {
		t.Errorf("got %+v", i)
	}
	if want := []courant.RelatedLink{{URL: "https://a.example/2", Title: "Two", Image: "https://a.example/2.jpg"}, {URL: "https://a.example/3", Title: "Three", Image: "https://a.example/3.jpg"}}; !reflect.DeepEqual(i.Related, want) || !i.Endless {
		t.Errorf("related %+v", i.Related)
	}
	if want := []courant.Crumb{{URL: "https://a.example/", Text: "Home"}, {URL: "https://a.example/news", Text: "News"}}; !reflect.DeepEqual(i.Breadcrumbs, want) {
		t.Errorf("breadcrumbs %+v", i.Breadcrumbs)
	}
	if i.ReportURL != "https://a.example/amp" || i.ReportTitle != "Topic" || !reflect.DeepEqual(i.Images, []string{"https://a.example/1.jpg"}) || len(r.Warnings) != 0 {
		t.Errorf("got %+v, %+v", i, r.Warnings)
	}
}

func TestTheHeadingOfATurboPageIsItsTitle(t *testing.T) {
	for in, want := range map[string][2]string{
		`<title>Own</title><turbo:content>&lt;header>&lt;h1>Other&lt;/h1>&lt;/header>&lt;p>x&lt;/p></turbo:content>`:              {"Own", "<div><h1>Other</h1></div><p>x</p>"},
		`<title>Same</title><turbo:content><![CDATA[<header><H1 class="a">Same</H1></header><p>x</p>]]></turbo:content>`:          {"Same", "<div></div><p>x</p>"},
		`<turbo:content>&amp;lt;header&amp;gt;&amp;lt;h1&amp;gt;Twice&amp;lt;/h1&amp;gt;&amp;lt;/header&amp;gt;x</turbo:content>`: {"Twice", "<div></div>x"},
		`<turbo:content><![CDATA[<p>x</p><h1>Later</h1>]]></turbo:content>`:                                                       {"", "<p>x</p><h1>Later</h1>"},
	} {
		if i := turbo(t, "", in).Items[0]; i.Title != want[0] || i.Content != want[1] {
			t.Errorf("%s: %q, %q", in, i.Title, i.Content)
		}
	}
}

func TestPrefixesAreKnownWithoutTheirNamespace(t *testing.T) {
	for _, root := range []string{`<turbo>`, `<rss>`, `<rss xmlns:turbo="http://wrong.example/" xmlns:yandex="http://news.yandex.ru/schemas/turbo/">`} {
		name := strings.TrimPrefix(strings.Fields(strings.Trim(root, "<>"))[0], "<")
		r, err := feed.Read([]byte(root+`<channel><item turbo="false"><link>https://a.example/1</link><turbo:content>x</turbo:content></item></channel></`+name+`>`), feed.Options{})
		if err != nil || r.Format != "turbo" || len(r.Items) != 1 || !r.Items[0].Withdrawn || r.Items[0].Content != "x" {
			t.Errorf("%s: %+v, %v", root, r, err)
		}
	}
}

func TestWhatMakesATurboItemUselessIsSaid(t *testing.T) {
	for in, want := range map[string]string{
		`<turbo:content>x</turbo:content><turbo:unknown>y</turbo:unknown>`: "unknown-element",
		``: "turbo-without-content",
		`<turbo:content>x</turbo:content></item><item turbo="true"><turbo:content>y</turbo:content>`:                                                 "item-without-link",
		`<turbo:content>x</turbo:content></item><item turbo="true"><link>https://a.example/1#b</link><guid>2</guid><turbo:content>y</turbo:content>`: "shared-link",
	} {
		if got := warned(turbo(t, "", in)); !reflect.DeepEqual(got, []string{want}) {
			t.Errorf("%s: %v, want %s", in, got, want)
		}
	}
}

func TestEveryTurboSampleIsReadWhole(t *testing.T) {
	dir := "../../../../shared/samples/turbo"
	files, err := filepath.Glob(filepath.Join(dir, "*.xml"))
	if err != nil || len(files) == 0 {
		t.Skip("the samples are not here")
	}
	for _, name := range files {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := feed.Read(body, feed.Options{})
		if err != nil || r.Format != "turbo" || len(r.Items) != strings.Count(string(body), "<item") {
			t.Errorf("%s: %d items, %v", name, len(r.Items), err)
		}
		for _, i := range r.Items {
			if i.Link == "" || i.Content == "" || i.Title == "" && !i.Withdrawn {
				t.Errorf("%s: %s, title %q, %d bytes", name, i.Link, i.Title, len(i.Content))
			}
		}
	}
}

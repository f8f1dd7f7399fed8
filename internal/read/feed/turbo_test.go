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
		if w.Level != courant.LevelInfo {
			codes = append(codes, w.Code)
		}
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
		i.Content != `<div><h2>Sub</h2></div><p>Text</p><div data-widget="gallery"><figure><img src="https://a.example/1.jpg"></figure></div>` {
		t.Errorf("got %+v", i)
	}
	if want := []courant.RelatedLink{{URL: "https://a.example/2", Title: "Two", Image: "https://a.example/2.jpg"}, {URL: "https://a.example/3", Title: "Three", Image: "https://a.example/3.jpg"}}; !reflect.DeepEqual(i.Related, want) || !i.Endless {
		t.Errorf("related %+v", i.Related)
	}
	if want := []courant.Crumb{{URL: "https://a.example/", Text: "Home"}, {URL: "https://a.example/news", Text: "News"}}; !reflect.DeepEqual(i.Breadcrumbs, want) {
		t.Errorf("breadcrumbs %+v", i.Breadcrumbs)
	}
	if i.ReportURL != "https://a.example/amp" || i.ReportTitle != "Topic" || !reflect.DeepEqual(i.Images, []string{"https://a.example/1.jpg"}) || len(warned(r)) != 0 {
		t.Errorf("got %+v, %+v", i, r.Warnings)
	}
}

func TestALongTurboPageHasItsHeadingToo(t *testing.T) {
	for pad := range 3 {
		long := "<header><h1>Заголовок</h1></header><p>" + strings.Repeat("x", pad) + strings.Repeat("ж", 8<<10) + "</p>"
		if i := turbo(t, "", "<turbo:content><![CDATA["+long+"]]></turbo:content>").Items[0]; i.Title != "Заголовок" || strings.Contains(i.Content, "<h1>") {
			t.Errorf("%q, %.60s", i.Title, i.Content)
		}
	}
}

func TestTheHeadingOfATurboPageIsItsTitle(t *testing.T) {
	for in, want := range map[string][2]string{
		`<title>Own</title><turbo:content>&lt;header>&lt;h1>Other&lt;/h1>&lt;/header>&lt;p>x&lt;/p></turbo:content>`:              {"Own", "<div><h1>Other</h1></div><p>x</p>"},
		`<title>Same</title><turbo:content><![CDATA[<header><H1 class="a">Same</H1></header><p>x</p>]]></turbo:content>`:          {"Same", "<div></div><p>x</p>"},
		`<turbo:content>&amp;lt;header&amp;gt;&amp;lt;h1&amp;gt;Twice&amp;lt;/h1&amp;gt;&amp;lt;/header&amp;gt;x</turbo:content>`: {"Twice", "<div></div>x"},
		`<turbo:content><![CDATA[<header></header><h1>Later</h1>]]></turbo:content>`:                                              {"", "<div></div><h1>Later</h1>"},
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

func TestWhatIsWrongInTurboRSSIsSaid(t *testing.T) {
	const h = `<![CDATA[<header><h1>H</h1></header>x]]></turbo:content>`
	for in, want := range map[string]string{
		`<turbo:content>` + h: "",
		`<turbo:content>` + h + `<turbo:unknown>y</turbo:unknown>`:                                              "unknown-element",
		`<turbo:content>` + h + `<turbo:analytics type="Yandex" id="1"/><turbo:cms_plugin>1</turbo:cms_plugin>`: "misplaced-element misplaced-element",
		`<turbo:content>` + h + `<turbo:content>` + h:                                                           "repeated-element",
		`<description>d</description>`:                                                                          "turbo-without-content",
		``:                                                                                                      "turbo-without-content",
		`<turbo:content>x</turbo:content>`:                                                                      "turbo-without-heading",
		`<turbo:content> </turbo:content>`:                                                                      "turbo-without-content",
		`<turbo:content></turbo:content><turbo:content>` + h:                                                    "",
		`<turbo:content>1 &amp;lt; 2</turbo:content>`:                                                           "turbo-without-heading",
		`<turbo:content><![CDATA[<header><h1>H</h1></header>&lt;b&gt;x&lt;/b&gt;]]></turbo:content>`:                              "escaped-twice",
		`<turbo:content>` + h + `</item><item turbo="true"><turbo:content>` + h:                                                   "item-without-link",
		`<turbo:content>` + h + `</item><item turbo="true"><link>https://a.example/1#b</link><guid>2</guid><turbo:content>` + h:   "shared-link",
		`<turbo:content>` + h + `</item><item turbo="false"><link>https://a.example/2</link><turbo:content>dummy</turbo:content>`: "",
		`<turbo:content>` + h + `</item><item><link>https://a.example/2</link><description>no Turbo page</description>`:           "",
	} {
		if got := strings.Join(warned(turbo(t, "", in)), " "); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		`<turbo:analytics type="Yandex"/>`:                                       "bad-counter",
		`<turbo:analytics type="custom" id="1"/>`:                                "bad-counter",
		`<turbo:analytics type="Other" id="1"/>`:                                 "bad-counter",
		`<turbo:analytics type="LiveInternet"/>`:                                 "",
		`<turbo:adNetwork type="Yandex" id="R-1"/>`:                              "ad-without-slot",
		`<turbo:theme>light</turbo:theme>`:                                       "unknown-element",
		`<turbo:content>x</turbo:content><yandex:full-text>y</yandex:full-text>`: "misplaced-element misplaced-element",
		`<turbo:goal type="yandex" turbo-goal-id="call" name="call" id="5"/>`:    "",
	} {
		if got := strings.Join(warned(turbo(t, in, `<turbo:content>`+h)), " "); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestEverythingOfTurboMakesAFeedTurbo(t *testing.T) {
	for in, want := range map[string]string{
		`<item turbo="true"></item>`: "turbo", `<item turbo="false"></item>`: "turbo", `<item><turbo:content>x</turbo:content></item>`: "turbo",
		`<item><turbo:topic>x</turbo:topic></item>`: "turbo", `<item><turbo:extendedHtml>true</turbo:extendedHtml></item>`: "turbo",
		`<turbo:cms_plugin>x</turbo:cms_plugin>`: "turbo", `<yandex:analytics type="Yandex" id="1"/>`: "turbo", `<yandex:adNetwork id="1"/>`: "turbo",
		`<yandex:logo>https://a.example/l.png</yandex:logo>`: "rss20", `<item><yandex:full-text>news</yandex:full-text></item>`: "rss20", ``: "rss20",
	} {
		r, err := feed.Read([]byte(`<rss version="2.0" xmlns:turbo="http://turbo.yandex.ru"><channel><title>T</title>`+in+`</channel></rss>`), feed.Options{})
		if err != nil || r.Format != want {
			t.Errorf("%s: %s, want %s, %v", in, r.Format, want, err)
		}
	}
}

func TestTagsOfATurboPageThatAreEscapedTwiceAreTags(t *testing.T) {
	for in, want := range map[string]string{
		`<![CDATA[<p>&lt;strong&gt;A&lt;/strong&gt; &lt;i&gt;b&lt;/i&gt;</p>]]>`:             "<p><strong>A</strong> <i>b</i></p>",
		`<![CDATA[<p>&lt;strong&gt; is bold, &lt;script&gt;x&lt;/script&gt;</p>]]>`:          "<p>&lt;strong&gt; is bold, &lt;script&gt;x&lt;/script&gt;</p>",
		`<![CDATA[<pre>&lt;b&gt;x&lt;/b&gt;</pre>]]>`:                                        "<pre>&lt;b&gt;x&lt;/b&gt;</pre>",
		`&amp;lt;p&amp;gt;x&amp;lt;/p&amp;gt;&amp;lt;script&amp;gt;y&amp;lt;/script&amp;gt;`: "<p>x</p>",
		`1 &amp;lt; 2`:         "1 &lt; 2",
		`&lt;p&gt;x&lt;/p&gt;`: "<p>x</p>",
	} {
		if got := turbo(t, "", "<turbo:content>"+in+"</turbo:content>").Items[0].Content; got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestTheGoalsOfTurboAreKept(t *testing.T) {
	const goal = `<turbo:goal type="yandex" turbo-goal-id="call" name="Call us" id="5"/>`
	want := []courant.Goal{{Type: "yandex", ID: "5", Name: "Call us", Key: "call"}}
	if r := turbo(t, goal, goal); !reflect.DeepEqual(r.Feed.Goals, want) || !reflect.DeepEqual(r.Items[0].Goals, want) {
		t.Errorf("%+v, %+v", r.Feed.Goals, r.Items[0].Goals)
	}
}

func TestTheFirstOfTwoTurboPagesWins(t *testing.T) {
	i := turbo(t, "", `<turbo:content>&lt;header>&lt;h1>One&lt;/h1>&lt;/header>a</turbo:content><turbo:content>&lt;header>&lt;h1>Two&lt;/h1>&lt;/header>b</turbo:content>`).Items[0]
	if i.Title != "One" || i.Content != "<div></div>a" {
		t.Errorf("%q, %q", i.Title, i.Content)
	}
}

func turboFile(t *testing.T, name string) *courant.Reading {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata/turbo", name))
	if err != nil {
		t.Fatal(err)
	}
	r, err := feed.Read(body, feed.Options{})
	if err != nil || r.Format != "turbo" {
		t.Fatalf("%s: %s, %v", name, r.Format, err)
	}
	return r
}

func TestThePicturesOfAllBlocksOfATurboPageAreThoseOfTheItem(t *testing.T) {
	r := turboFile(t, "whole.xml")
	i := r.Items[0]
	var names []string
	for _, url := range i.Images {
		names = append(names, strings.TrimPrefix(url, "https://mayak.example/"))
	}
	if got := strings.Join(names, " "); got != "cover.jpg a.jpg snippet.jpg thumb.jpg icon.png face.jpg" {
		t.Errorf("pictures %s", got)
	}
	if i.Title != "Первая новость" || strings.Contains(i.Content, "style") || !i.Endless || len(i.Breadcrumbs) != 1 || i.ReportTitle != "Тема" || len(warned(r)) > 0 {
		t.Errorf("%+v, %v", i, r.Warnings)
	}
	if len(r.Feed.Analytics) != 2 || r.Feed.Ads[0].Code != `<div id="box"></div><script>run({a: 'b'})</script>` {
		t.Errorf("%+v", r.Feed)
	}
}

func TestAFileWithoutPrologAndNamespacesIsTurbo(t *testing.T) {
	r := turboFile(t, "bare.xml")
	if len(r.Items) != 2 || r.Items[0].Turbo != nil || r.Items[0].Title != "Лодки на день" || !strings.Contains(r.Items[0].Content, `<h1>Прокат лодок</h1><img src="https://lodki.example/lodka.jpg" alt="Лодка">`) ||
		r.Items[1].Content != "<div></div><p>На неделю.</p>" {
		t.Errorf("%+v", r.Items)
	}
	if got := strings.Join(warned(r), " "); got != "undeclared-prefix unknown-element shared-link" {
		t.Error(got)
	}
}

func TestAnItemWithTurboFalseWithdrawsItsPage(t *testing.T) {
	r := turboFile(t, "withdrawn.xml")
	i := r.Items[0]
	if !i.Withdrawn || i.Link != "https://kurs.example/crm/" || len(r.Warnings) > 0 || i.Published.UTC().Format("2006-01-02") != "2018-10-20" ||
		!reflect.DeepEqual(i.Related, []courant.RelatedLink{{URL: "https://kurs.example/index.php", Title: "Курсы", Image: "https://kurs.example/og.jpg"}}) {
		t.Errorf("%+v, %v", i, r.Warnings)
	}
}

func TestPagesThatAreEscapedOnceAndTwiceAreRead(t *testing.T) {
	r := turboFile(t, "escaped.xml")
	if a, b := r.Items[0], r.Items[1]; !strings.Contains(a.Content, "<p><strong>Василий</strong> – внук Орла.</p>") || b.Title != "Пётр" || b.Content != "<div></div><p>Текст</p>" {
		t.Errorf("%q, %q", a.Content, b.Content)
	}
	if got := strings.Join(warned(r), " "); got != "escaped-twice" {
		t.Error(got)
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

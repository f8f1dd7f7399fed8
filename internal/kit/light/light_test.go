package light_test

import (
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/light"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/markup"
)

const address = "https://a.example/1"

func render(t *testing.T, d courant.Document, pictures ...string) (html, picture string) {
	t.Helper()
	p := light.Page{Document: d, SourceName: "a", Pictures: light.Pictures{}}
	for i, url := range pictures {
		p.Pictures[link.Digest(url)] = light.Kept{Full: courant.Picture{File: strings.Repeat(string(rune('a'+i)), 64) + "/100.png", Width: 100, Height: 50}}
	}
	var out strings.Builder
	picture, err := light.Render(&out, p)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), picture
}

func article(content string) courant.Document {
	c := markup.Cleaner{Base: address}
	return courant.Document{URL: address, Item: courant.Item{Link: address, Title: "T", Content: c.Clean(content), Summary: "s"}}
}

func TestWidgetsAreControlsWithoutScript(t *testing.T) {
	for in, want := range map[string]string{
		`<div data-block="gallery" data-title="G"><p>x</p></div>`:                                                                                                         `<p class="wt">G</p><div class="strip"><p>x</p></div>`,
		`<div data-block="slider" data-view="portrait"><p>x</p></div>`:                                                                                                    `<div class="strip portrait"><p>x</p></div>`,
		`<div data-block="accordion"><div data-block="item" data-title="A &amp; b" data-expanded="true"><div>x</div></div></div>`:                                         `<div class="accordion"><details open><summary>A &amp; b</summary><div>x</div></details></div>`,
		`<div data-block="fold"><p>x</p></div>`:                                                                                                                           `<details><summary>Show more</summary><p>x</p></details>`,
		`<div data-block="cards"><div data-block="card"><p>x</p></div></div>`:                                                                                             `<div class="cards"><div class="card"><p>x</p></div></div>`,
		`<div data-block="carousel"><div data-block="snippet" data-title="S" data-url="/u"></div></div>`:                                                                  `<div class="strip"><div class="snippet"><a href="https://a.example/u">S</a></div></div>`,
		`<div data-block="feed" data-layout="horizontal" data-title="F"><div data-block="feed-item" data-title="I" data-href="/u" data-thumb-position="top"></div></div>`: `<p class="wt">F</p><div class="feed horizontal"><div class="feed-item top"><a href="https://a.example/u">I</a></div></div>`,
		`<div data-block="comments"><div data-block="comment" data-author="Ann" data-subtitle="today"><p>x</p></div></div>`:                                               `<div class="comments"><div class="comment"><p class="by"><b>Ann</b> today</p><p>x</p></div></div>`,
		`<div itemtype="http://schema.org/Rating"><meta itemprop="ratingValue" content="4"><meta itemprop="bestRating" content="5"></div>`:                                `<div class="rating"><span class="stars">★★★★☆</span> 4 / 5</div>`,
		`<div data-block="histogram"><div data-block="histogram-item" data-title="H" data-value="8" data-height="80"></div></div>`:                                        `<div class="histogram"><div class="bar-row"><meter min="0" max="100" value="80"></meter> H: 8</div></div>`,
		`<div data-block="share" data-network="telegram"></div>`:                                                                                                          `<div class="btns"><a class="btn" href="https://t.me/share/url?url=https%3A%2F%2Fa.example%2F1" rel="noopener">Telegram</a></div>`,
		`<div data-block="widget-feedback" data-title="Ask"><div data-type="call" data-url="+7"></div></div>`:                                                             `<p class="wt">Ask</p><div class="btns"><a class="btn" href="tel:+7" rel="noopener">Call</a></div>`,
		`<form data-type="callback" data-send-to="a@b.example" data-agreement-company="C"></form>`:                                                                        `<p class="box"><a class="btn" href="mailto:a@b.example">Write to a@b.example</a> C</p>`,
		`<form data-type="dynamic-form"><span type="input" label="Name" required="true"></span><button type="submit" text="Send"></button></form>`:                        `<div class="field input"><span>Name *</span><i></i></div><div class="btn off">Send</div></div>`,
		`<form action="https://a.example/search?q={text}"><input name="q"></form>`:                                                                                        `<p><a class="btn" href="https://a.example/search" rel="noopener">Search at a.example</a></p>`,
		`<button formaction="/x" data-background-color="#00aa00">Go</button>`:                                                                                             `<a class="btn c-green" href="https://a.example/x" rel="noopener">Go</a>`,
		`<button formaction="/x" disabled>Go</button>`:                                                                                                                    `<span class="btn off">Go</span>`,
		`<figure data-turbo-ad-id="1"></figure>`:                                                                                                                          `<div class="ad">Advertisement</div>`,
		`<video src="/v.mp4"></video>`:                                                                                                                                    `<a class="btn play" href="https://a.example/v.mp4" rel="noopener">Video at a.example</a>`,
		`<audio src="/v.mp3"></audio>`:                                                                                                                                    `<a class="btn play" href="https://a.example/v.mp3" rel="noopener">Audio at a.example</a>`,
		`<div data-block="breadcrumblist"><a href="/">Home</a></div>`:                                                                                                     `<div class="crumbs"><a href="https://a.example/">Home</a></div>`,
		`<menu><a href="/1">One</a></menu>`:                                                                                                                               `<div class="menu"><a href="https://a.example/1">One</a></div>`,
		`<div data-block="comments" data-url="/c"><div data-block="comment" data-author="A"><div data-block="content">x</div><div data-block="comments"><div data-block="comment" data-author="B"></div></div></div></div>`: `<div class="comments"><a href="https://a.example/c">All comments</a><div class="comment"><p class="by"><b>A</b></p><div>x</div><div class="comments"><div class="comment"><p class="by"><b>B</b></p></div></div></div></div>`,
		`<div itemtype="http://schema.org/Rating"><meta itemprop="ratingValue" content="4.5"><meta itemprop="bestRating" content="5"></div>`:                                                                                `<span class="stars">★★★★½</span> 4.5 / 5</div>`,
		`<div data-block="share" data-network="vkontakte vkontakte nobody vkontakte"></div>`:                                                                                                                                `<p>before</p><div class="btns"><a class="btn" href="https://vk.com/share.php?url=https%3A%2F%2Fa.example%2F1" rel="noopener">VK</a></div><p>after</p>`,
		`<div data-block="gallery" data-title="No picture is here"><figure><img src="/1.png"></figure></div>`:                                                                                                               `<p>before</p><p>after</p>`,
		`<div data-block="cards"><div data-block="card"> </div></div>`:                                                                                                                                                      `<p>before</p><p>after</p>`,
		`<form data-type="callback" data-agreement-company="C" data-agreement-link="/t"></form>`:                                                                                                                            `<p class="box">Request a call at <a href="https://a.example/1" rel="noopener">a.example</a> · C · <a href="https://a.example/t" rel="noopener">Terms</a></p>`,
		`<iframe src="https://player.example/1"></iframe>`:                                                                                                                                                                  `<div class="box"><a href="https://player.example/1" rel="noopener">Embedded page at player.example</a></div>`,
		`<iframe src="https://player.example/1" title="A map"></iframe>`:                                                                                                                                                    `<div class="box"><a href="https://player.example/1" rel="noopener">A map</a></div>`,
		`<iframe src="https://www.youtube.com/embed/dQw4w9WgXcQ?rel=0&amp;start=5"></iframe>`:                                                                                                                               `<div class="box"><a class="btn play" href="https://www.youtube.com/watch?v=dQw4w9WgXcQ" rel="noopener">Video at youtube.com</a></div>`,
		`<iframe src="//player.vimeo.com/video/123" title="A film"></iframe>`:                                                                                                                                               `<a class="btn play" href="https://vimeo.com/123" rel="noopener">A film</a>`,
		`<iframe src="https://rutube.ru/play/embed/0a1b"></iframe>`:                                                                                                                                                         `<a class="btn play" href="https://rutube.ru/video/0a1b" rel="noopener">Video at rutube.ru</a>`,
		`<iframe src="https://vk.com/video_ext.php?oid=-1&id=2"></iframe>`:                                                                                                                                                  `<a class="btn play" href="https://vk.com/video_ext.php?oid=-1&amp;id=2" rel="noopener">Video at vk.com</a>`,
		`<iframe src="https://youtube.com.evil.example/embed/1"></iframe>`:                                                                                                                                                  `>Embedded page at youtube.com.evil.example</a>`,
		`<div data-block="widget-feedback"><div data-type="whatsapp" data-url="https://wa.me/7"></div></div>`:                                                                                                               `<a class="btn" href="https://wa.me/7" rel="noopener">WhatsApp</a>`,
		`<div data-block="histogram"><div data-block="histogram-item" data-title="H" data-color="red" data-height="5%"></div></div>`:                                                                                        `<div class="bar-row c-red"><meter min="0" max="100" value="5"></meter> H</div>`,
		`<form data-type="dynamic-form"><span type="input" label="Age" placeholder="10 &quot;&lt;" input-type="number"></span><span type="checkbox" content="News"></span><span type="radio" label="Way"><span type="option" label="Post" checked="1"></span></span></form>`: `<div class="field number"><span>Age</span><i>10 &#34;&lt;</i></div><div class="field checkbox"><span>News</span></div><div class="field radio"><span>Way</span><div class="opt true">Post</div></div></div>`,
	} {
		html, _ := render(t, article("<p>before</p>"+in+"<p>after</p>"))
		if !strings.Contains(html, want) || !strings.Contains(html, "<p>after</p>\n") || strings.Contains(html, "data-widget") {
			t.Errorf("%s: want %s in\n%s", in, want, html[strings.Index(html, "<article"):])
		}
		if strings.Count(html, "<div") != strings.Count(html, "</div>") || strings.Contains(html, "<script") || strings.Contains(html, "<form") || strings.Contains(html, " style=") {
			t.Errorf("%s: %s", in, html)
		}
	}
}

func TestPicturesOfWidgetsAreOurs(t *testing.T) {
	html, _ := render(t, article(`<div data-block="gallery"><figure><img src="/1.png"></figure><figure><img src="/2.png"></figure></div>`), "https://a.example/1.png")
	if !strings.Contains(html, `<div class="strip"><figure><img src="/media/aaa`) || strings.Contains(html, "/2.png") {
		t.Error(html)
	}
}

func TestManyWidgetsDoNotMakeALongPage(t *testing.T) {
	for _, in := range []string{`<div data-block="share" data-network="vkontakte telegram facebook"></div>`, `<form></form>`, `<form data-type="callback"></form>`, `<div data-block="fold">`} {
		d := article(strings.Repeat(in, 2000))
		d.URL = address + "?" + strings.Repeat("x", 2000)
		if html, _ := render(t, d); len(html) > 500_000 {
			t.Errorf("%s: %d bytes", in, len(html))
		}
	}
}

func TestASummaryLeadsToTheWholeArticle(t *testing.T) {
	for _, c := range []struct {
		content, summary string
		leads            bool
	}{{"<p>x</p>", "", false}, {"<p>x</p>", "y", false}, {"<p>x</p>", "<p>x</p>", true}, {"", "<p>x</p>", true}} {
		html, _ := render(t, courant.Document{URL: address, Item: courant.Item{Link: address, Title: "T", Content: c.content, Summary: c.summary}})
		if !strings.Contains(html, "<p>x</p>") || strings.Contains(html, "Read the whole article at a.example") != c.leads {
			t.Errorf("%q, %q: %s", c.content, c.summary, html)
		}
	}
}

func TestATitleIsNotSaidTwice(t *testing.T) {
	for content, h1 := range map[string]int{"<header><h1>T</h1><h2>S</h2></header><p>x</p>": 1, " <h1> <b>T</b></h1>": 1, "<p>x</p><h1>T</h1>": 2, "<h1>Other</h1>": 2, "<h1>T": 1, "T": 1} {
		if html, _ := render(t, article(content)); strings.Count(html, "<h1") != h1 {
			t.Errorf("%s: %s", content, html[strings.Index(html, "<article"):])
		}
	}
}

func TestOnlyPagesWithControlsHaveTheirStyle(t *testing.T) {
	if html, _ := render(t, article("<p>x</p>")); strings.Count(html, "<style>") != 1 {
		t.Error("an article has two style sheets")
	}
	if html, _ := render(t, article(`<div data-block="fold">x</div>`)); strings.Count(html, "<style>") != 2 {
		t.Error("a page with controls has no style for them")
	}
}

func TestRelatedPagesAndTheWayToAnArticleAreShown(t *testing.T) {
	d := article("<p>x</p>")
	d.Item.Related = []courant.RelatedLink{{URL: "https://a.example/2", Title: "Two"}, {URL: "https://a.example/3"}}
	d.Item.Breadcrumbs = []courant.Crumb{{URL: "https://a.example/", Text: "Home"}}
	html, _ := render(t, d)
	own := article(`<div data-block="breadcrumblist"><a href="/">Own</a></div>`)
	own.Item.Breadcrumbs = d.Item.Breadcrumbs
	if html, _ := render(t, own); strings.Contains(html, "Home") || !strings.Contains(html, "Own") {
		t.Errorf("the way is shown twice: %s", html)
	}
	for _, want := range []string{`<li><a href="https://a.example/2" rel="noopener">Two</a></li><li><a href="https://a.example/3" rel="noopener">https://a.example/3</a></li>`, `<div class="crumbs"><a href="https://a.example/" rel="noopener">Home</a></div>`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in %s", want, html)
		}
	}
}

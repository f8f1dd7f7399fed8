package markup_test

import (
	"os"
	"strings"
	"testing"

	"github.com/courant-platform/courant/internal/kit/markup"
)

func TestWidgetsOfTurboPagesBecomeInert(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`<div data-block="gallery"><header>T</header><img src="/1.jpg"></div>`, `<div data-widget="gallery" data-title="T"><figure><img src="https://a.example/1.jpg"></figure></div>`},
		{`<div data-block="slider" data-view="Portrait" data-item-view="contain"><figure><img src="/1.jpg"></figure></div>`, `<div data-widget="slider" data-view="portrait"><figure><img src="https://a.example/1.jpg"></figure></div>`},
		{`<div data-block="accordion"><div data-block="item" data-title="A &quot;b&quot;" data-expanded="true"><p>x</p></div></div>`,
			`<div data-widget="accordion"><div data-widget="item" data-title="A &#34;b&#34;" data-expanded="true"><p>x</p></div></div>`},
		{`<div data-block="cards"><div data-block="card"><h2>H</h2><footer><a data-block="button" href="/x">Go</a></footer><div data-block="more"><a href="/y">More</a></div></div></div>`,
			`<div data-widget="cards"><div data-widget="card"><h2>H</h2><div><a href="https://a.example/x" data-widget="button">Go</a></div><div><a href="https://a.example/y">More</a></div></div></div>`},
		{`<div data-block="carousel"><div data-block="snippet" data-title="T" data-img="/i.jpg" data-url="/u"></div></div>`,
			`<div data-widget="carousel"><div data-widget="snippet"><a href="https://a.example/u"><img src="https://a.example/i.jpg" alt="">T</a></div></div>`},
		{`<div data-block="slider"><figure><header>A &amp; <b>b</b></header><img src="/1.jpg"></figure></div><header>H</header>`, `<div data-widget="slider" data-title="A &amp; b"><figure><img src="https://a.example/1.jpg"></figure></div><div>H</div>`},
		{`<DIV DATA-BLOCK=" Gallery "><img src="/1.jpg"><header class="c">T <b>b</b></header></DIV>`, `<div data-widget="gallery" data-title="T b"><figure><img src="https://a.example/1.jpg"></figure></div>`},
		{`<div data-block="fold"><p>x</p></div>`, `<div data-widget="fold"><p>x</p></div>`},
		{`<div data-block="feed" data-layout="vertical" data-title="Read"><div data-block="feed-item" data-title="T" data-description="D" data-href="/u" data-thumb="/i.jpg" data-thumb-position="right" data-thumb-ratio="1x1"></div></div>`,
			`<div data-widget="feed" data-layout="vertical" data-title="Read"><div data-widget="feed-item" data-thumb="right"><a href="https://a.example/u"><img src="https://a.example/i.jpg" alt="">T</a><p>D</p></div></div>`},
		{`<div data-block="comments" data-url="/c"><div data-block="comment" data-author="A" data-avatar-url="/a.jpg" data-subtitle="S"><div data-block="content"><p>x</p></div><div data-block="comments"><div data-block="comment" data-author="B"></div></div></div></div>`,
			`<div data-widget="comments"><a href="https://a.example/c">https://a.example/c</a><div data-widget="comment" data-author="A" data-subtitle="S"><img src="https://a.example/a.jpg" alt=""><div><p>x</p></div><div data-widget="comments"><div data-widget="comment" data-author="B"></div></div></div></div>`},
		{`<div itemscope itemtype="http://schema.org/Rating"><meta itemprop="ratingValue" content="4.5"><meta itemprop="bestRating" content="5"></div>`, `<div data-widget="rating" data-value="4.5" data-best="5">4.5 / 5</div>`},
		{`<div data-block="histogram"><div data-block="histogram-item" data-title="T" data-value="12" data-height="80" data-color="#0A0" data-icon="/i.png"></div></div>`,
			`<div data-widget="histogram"><div data-widget="bar" data-height="80" data-color="#0a0"><img src="https://a.example/i.png" alt="">T: 12</div></div>`},
		{`<div data-block="share" data-network="vkontakte, telegram"></div>`, `<div data-widget="share" data-network="vkontakte telegram"></div>`},
		{`<div data-block="widget-feedback" data-title="Ask" data-stick="left"><div data-type="call" data-url="+7 495"></div><div data-block="chat" data-type="telegram" data-url="https://t.me/x"></div><div data-type="mail" data-url="a@b.example"></div><div data-type="callback" data-send-to="a@b.example" data-agreement-company="C"></div></div>`,
			`<div data-widget="feedback" data-title="Ask"><a href="tel:+7495" data-widget="contact" data-type="call">call</a><a href="https://t.me/x" data-widget="contact" data-type="telegram">telegram</a><a href="mailto:a@b.example" data-widget="contact" data-type="mail">mail</a><div data-widget="callback" data-to="a@b.example" data-company="C"></div></div>`},
		{`<form data-type="callback" data-send-to="a@b.example" data-agreement-company="C" data-agreement-link="/terms"></form>`, `<div data-widget="callback" data-to="a@b.example" data-company="C" data-agreement="https://a.example/terms"></div>`},
		{`<form data-type="dynamic-form" end_point="/x"><div type="input-block"><span type="input" name="n" label="Name" required="true"></span><span type="select" name="s"><span type="option" text="One"></span><span type="option" text="Two"></span></span><span type="textarea" placeholder="Text"></span><button type="submit" text="Send"></button></div></form>`,
			`<div data-widget="form" data-action="https://a.example/x"><div data-widget="field" data-type="input" data-name="n" data-label="Name" data-required="true"></div><div data-widget="field" data-type="select" data-name="s"><div data-widget="option">One</div><div data-widget="option">Two</div></div><div data-widget="field" data-type="textarea" data-label="Text"></div><div data-widget="submit">Send</div></div>`},
		{`<form data-type="dynamic-form" end_point="javascript:x"><span type="input" label="Age" placeholder="10" input-type="number"></span><span type="checkbox" name="c" value="yes" content="News &lt;b&gt;"></span><span type="radio" label="Way"><span type="option" label="Post" meta="today" checked="1"></span><span type="option" label="Foot" checked="0"></span></span><div type="result-block"><span type="text" field="f"></span></div></form>`,
			`<div data-widget="form"><div data-widget="field" data-type="number" data-label="Age" data-hint="10"></div><div data-widget="field" data-type="checkbox" data-name="c" data-label="News &lt;b&gt;"></div><div data-widget="field" data-type="radio" data-label="Way"><div data-widget="option" data-checked="true">Post (today)</div><div data-widget="option">Foot</div></div></div>`},
		{`<form method="GET" action="/search?q={text}"><input type="search" name="text" placeholder="Find"></form>`, `<div data-widget="search" data-action="https://a.example/search?q={text}" data-name="text" data-placeholder="Find"></div>`},
		{`<form action="/x"><p>Text</p><input name="a"></form>`, `<div data-widget="form"><p>Text</p></div>`},
		{`<button formaction="tel:+7(495)7" data-background-color="#222" data-color="White" data-primary="true" data-turbo="false">Call <b>us</b></button>`, `<a href="tel:+7(495)7" data-widget="button" data-color="white" data-background="#222" data-primary="true">Call us</a>`},
		{`<button formaction="https://b.example/" disabled>No</button>`, `<span data-widget="button">No</span>`},
		{`<button data-send-to="a@b.example">Mail</button>`, `<a href="mailto:a@b.example" data-widget="button">Mail</a>`},
		{`<button onclick="x()">Script</button><p>y</p>`, `<p>y</p>`},
		{`<figure data-turbo-ad-id="12" data-platform-mobile="true"><script>x</script></figure>`, `<div data-widget="ad" data-slot="12"></div>`},
		{`<figure inpage="true"data-turbo-ad-id="12"data-turbo-inpage-ad-id="6"></figure>`, `<div data-widget="ad" data-slot="12"></div>`},
		{`<div data-block="audio" src="/a.mp3"></div><p>x</p>`, `<audio src="https://a.example/a.mp3" controls="" preload="none"></audio><p>x</p>`},
		{`<menu><a href="/1">One</a> <a href="/2">Two</a></menu><p>x</p>`, `<div data-widget="menu"><a href="https://a.example/1">One</a> <a href="https://a.example/2">Two</a></div><p>x</p>`},
		{`<menu><li>One</li></menu>`, `<ul><li>One</li></ul>`},
		{`<div data-block="breadcrumblist"><a href="/1">One</a></div>`, `<div data-widget="breadcrumbs"><a href="https://a.example/1">One</a></div>`},
		{`<div data-block="unknown"><p>x</p></div>`, `<div><p>x</p></div>`},
		{`<p>text<div data-block="share" data-network="x"></div>`, `<p>text</p><div data-widget="share" data-network="x"></div>`},
	} {
		cl := markup.Cleaner{Base: "https://a.example/"}
		got := cl.Clean(c.in)
		if got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.in, got, c.want)
		}
		if twice := cl.Clean(got); twice != got {
			t.Errorf("%s\nonce  %s\ntwice %s", c.in, got, twice)
		}
	}
}

func TestBlocksInOtherSpellingsLoseNothing(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`<div data-block="feed"><div data-block="feed-item" data-title="A" data-href="/a"/><div data-block="feed-item" data-title="B" data-href='/b'/></div><p>x</p>`,
			`<div data-widget="feed"><div data-widget="feed-item"><a href="https://a.example/a">A</a></div><div data-widget="feed-item"><a href="https://a.example/b">B</a></div></div><p>x</p>`},
		{`<figure data-turbo-ad-id="1" /><p>x</p><figure><img src="/1.jpg"></figure>`, `<div data-widget="ad" data-slot="1"></div><p>x</p><figure><img src="https://a.example/1.jpg"></figure>`},
		{`<div data-block="widget-feedback"><div data-type="call" data-url="+7"/><div data-type="mail" data-url="a@b.example" /></div><p>x</p>`,
			`<div data-widget="feedback"><a href="tel:+7" data-widget="contact" data-type="call">call</a><a href="mailto:a@b.example" data-widget="contact" data-type="mail">mail</a></div><p>x</p>`},
		{`<div data-block="accordion"><div data-block="item" data-title="A"/><div data-block="item" data-title="B">b</div></div>x`,
			`<div data-widget="accordion"><div data-widget="item" data-title="A"></div><div data-widget="item" data-title="B">b</div></div>x`},
		{`<form data-type="callback" data-send-to="a@b.example" /><p>x</p><form action="/y">z</form>`, `<div data-widget="callback" data-to="a@b.example"></div><p>x</p><div data-widget="form">z</div>`},
		{`<div data-block="slider"><figure><header>One</header><img src="/1.jpg"></figure><figure><header>Two</header><img src="/2.jpg"></figure></div>`,
			`<div data-widget="slider" data-title="One"><figure><img src="https://a.example/1.jpg"></figure><figure><div>Two</div><img src="https://a.example/2.jpg"></figure></div>`},
		{`<div data-block="slider"><picture><source srcset="/1.webp"></picture><a href="/a"><img src="/2.jpg"></a></div>`,
			`<div data-widget="slider"><figure><img src="https://a.example/1.webp"></figure><a href="https://a.example/a"><img src="https://a.example/2.jpg"></a></div>`},
		{`<div data-block="carousel"><div data-block="snippet" data-url="/a"><p>own</p></div></div>`, `<div data-widget="carousel"><div data-widget="snippet"><p>own</p></div></div>`},
		{`<div itemscope itemtype="http://schema.org/Rating"><span itemprop="ratingValue">4</span> of <b>5</b></div>`, `<div>4 of <b>5</b></div>`},
		{`<div itemtype="https://schema.org/Rating"> <meta itemprop="bestRating" content="5"/> <meta itemprop="ratingValue" content="4,50"/> </div>`, `<div data-widget="rating" data-value="4.5" data-best="5">4.5 / 5</div>`},
		{`<a href="/x">l<div data-block="snippet" data-title="T" data-url="/u"></div></a>`, `<a href="https://a.example/x">l</a><div data-widget="snippet"><a href="https://a.example/u">T</a></div>`},
		{`<a href="/x">l<div data-block="comments" data-url="/u"></div></a>`, `<a href="https://a.example/x">l</a><div data-widget="comments"><a href="https://a.example/u">https://a.example/u</a></div>`},
		{`<img src="/1.jpg" alt=" "><img src="/2.jpg">`, `<img src="https://a.example/1.jpg" alt=""><img src="https://a.example/2.jpg">`},
	} {
		cl := markup.Cleaner{Base: "https://a.example/"}
		got := cl.Clean(c.in)
		if got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.in, got, c.want)
		}
		if twice := cl.Clean(got); twice != got {
			t.Errorf("%s\nonce  %s\ntwice %s", c.in, got, twice)
		}
	}
}

func TestTheCallbacksSeeThePicturesAndLinksOfWidgets(t *testing.T) {
	var links, images []string
	c := markup.Cleaner{
		Base: "https://a.example/",
		Image: func(im *markup.Image) bool {
			images = append(images, im.URL)
			return im.URL != "https://a.example/gone"
		},
		Link: func(href string) string { links = append(links, href); return "https://seen.example/" },
	}
	out, found := c.Append(nil, `<div data-block="gallery"><img src="/gone"><img src="/1"></div><div data-block="snippet" data-title="T" data-img="/2" data-url="/a"></div>
<div data-block="feed-item" data-title="T" data-thumb="/3" data-href="/b"></div><div data-block="comments" data-url="/c"><div data-block="comment" data-avatar-url="/4"></div></div>
<div data-block="histogram-item" data-title="T" data-icon="/5"></div><button formaction="tel:+7">B</button><div data-block="widget-feedback"><div data-type="mail" data-url="a@b.example"></div></div>`)
	if got := strings.Join(images, " "); got != "https://a.example/gone https://a.example/1 https://a.example/2 https://a.example/3 https://a.example/4 https://a.example/5" || len(found.Images) != 6 {
		t.Errorf("pictures %s", got)
	}
	if got := strings.Join(links, " "); got != "https://a.example/a https://a.example/b https://a.example/c tel:+7 mailto:a@b.example" {
		t.Errorf("links %s", got)
	}
	if strings.Count(string(out), "https://seen.example/") != 5 || !strings.Contains(string(out), `<div data-widget="gallery"><figure><img src="https://a.example/1"></figure></div>`) {
		t.Errorf("%s", out)
	}
}

func TestNothingActiveHidesInAWidget(t *testing.T) {
	evil := []string{`javascript:alert(1)`, `data:text/html,<script>x</script>`, `"><script>x</script>`, `vbscript:x`, `#fff;background:url(x)`, `expression(x)`, " ", "\x00"}
	for _, block := range hostile() {
		for _, e := range evil {
			for _, quote := range []string{e, strings.ReplaceAll(strings.ReplaceAll(e, `"`, "&quot;"), "<", "&lt;")} {
				c := markup.Cleaner{Base: "https://a.example/"}
				got := c.Clean(strings.ReplaceAll(block, "%s", quote))
				if bad := active(t, got); bad != "" {
					t.Errorf("%s with %q: %s in %s", block, e, bad, got)
				}
				if twice := c.Clean(got); twice != got {
					t.Errorf("%s with %q: %s", block, e, got)
				}
			}
		}
	}
}

// hostile holds the blocks with a placeholder for an attack in each of their values.
func hostile() []string {
	return []string{
		`<div data-block="%s">x</div>`, `<div data-block="snippet" data-title="%s" data-img="%s" data-url="%s"></div>`, `<div data-block="item" data-title="%s"></div>`,
		`<div data-block="feed-item" data-title="%s" data-description="%s" data-href="%s" data-thumb="%s"></div>`, `<div data-block="comment" data-author="%s" data-avatar-url="%s"></div>`,
		`<div data-block="histogram-item" data-title="%s" data-color="%s" data-height="%s" data-icon="%s"></div>`, `<div data-block="share" data-network="%s"></div>`,
		`<div data-block="widget-feedback" data-title="%s"><div data-type="%s" data-url="%s"></div><div data-type="mail" data-url="%s"></div></div>`,
		`<form data-type="callback" data-send-to="%s" data-agreement-link="%s"></form>`, `<form data-type="dynamic-form"><span type="input" name="%s" label="%s"></span></form>`,
		`<form action="%s{text}"><input name="%s"></form>`, `<button formaction="%s" data-color="%s" data-background-color="%s">%s</button>`, `<a data-block="button" href="%s">x</a>`,
		`<figure data-turbo-ad-id="%s"></figure>`, `<div data-block="audio" src="%s"></div>`, `<div itemtype="http://schema.org/Rating"><meta itemprop="ratingValue" content="%s"></div>`,
		`<div data-block="gallery"><header>%s</header><img src="%s" alt="%s"></div>`, `<div data-block="slider" data-view="%s" data-title="%s"><figure data-turbo-ad-id="%s"></figure></div>`,
		`<div data-block="feed" data-layout="%s" data-title="%s"></div>`, `<div data-block="comments" data-url="%s"></div>`, `<menu><a href="%s">x</a></menu>`, `<iframe src="%s" title="%s"></iframe>`,
		`<form data-type="dynamic-form" end_point="%s"><span type="input" label="%s" placeholder="%s" input-type="%s"></span><span type="checkbox" content="%s"></span><span type="radio"><span type="option" label="%s" meta="%s" checked="%s"></span></span><button type="submit" text="%s"></button></form>`,
		`<div data-widget="form" data-action="%s"><div data-widget="field" data-hint="%s" data-type="%s"></div><div data-widget="option" data-checked="%s"></div></div>`,
		`<button data-send-to="%s" data-agreement-link="%s">x</button>`, `<figure><video poster="%s"><source src="%s" data-title="%s"></video><img src="%s"></figure>`,
		`<div data-widget="%s" data-title="%s" onclick="%s" style="%s">x</div>`, `<a href="%s" data-widget="button" data-color="%s">x</a>`, `<span data-widget="button" data-background="%s" onclick="%s">x</span>`,
		`<div data-widget="search" data-action="%s{text}"></div>`, `<div data-widget="callback" data-to="%s" data-agreement="%s"></div>`,
	}
}

func TestTheTextOfWidgets(t *testing.T) {
	for in, want := range map[string]string{
		`<div data-widget="accordion"><div data-widget="item" data-title="A &amp; b"><p>x</p></div></div>`:                                                                    "A & b\n\nx",
		`<p>a</p><div data-widget="ad" data-slot="1"></div><div data-widget="form"><div data-widget="submit">Send</div></div><p>b</p>`:                                        "a\n\nb",
		`<div data-widget="comment" data-author="Ann"><div><p>Hello</p></div></div>`:                                                                                          "Ann\n\nHello",
		`<div data-widget="comments"><a href="https://a.example/c">https://a.example/c</a><div data-widget="comment" data-author="Bob">x</div></div>`:                         "Bob\n\nx",
		`<div data-widget="feedback" data-title="Ask"><a href="tel:+7" data-widget="contact" data-type="call">call</a></div><p>x</p>`:                                         "x",
		`<div data-widget="share" data-network="telegram"></div><div data-widget="cards"><div data-widget="card"><h2>H</h2><p>x</p></div></div>`:                              "H\n\nx",
		`<div data-widget="feed" data-title="Read"><div data-widget="feed-item"><a href="https://a.example/"><img src="https://a.example/1" alt="">T</a><p>D</p></div></div>`: "Read\n\nT\n\nD",
	} {
		if got := markup.Text(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestTheExamplesOfTheManualAreKept(t *testing.T) {
	manual, err := os.ReadFile("../../../docs/turbo.md")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"histogram-item": "bar", "widget-feedback": "feedback", "breadcrumblist": "breadcrumbs", "content": "", "more": "", "audio": ""}
	examples := strings.Split(string(manual), "```html\n")[1:]
	for _, example := range examples {
		example, _, _ = strings.Cut(example, "```")
		c := markup.Cleaner{Base: "https://a.example/"}
		got, found := c.Append(nil, example)
		for _, part := range strings.Split(example, `data-block="`)[1:] {
			block, _, _ := strings.Cut(part, `"`)
			name, other := names[block]
			if !other {
				name = block
			}
			if name != "" && !strings.Contains(string(got), `data-widget="`+name+`"`) {
				t.Errorf("no %s in %s", name, got)
			}
		}
		if pictures := strings.Count(example, ".jpg") + strings.Count(example, ".png"); len(found.Images) != pictures {
			t.Errorf("%d pictures of %d in %s", len(found.Images), pictures, got)
		}
	}
	if len(examples) < 10 {
		t.Errorf("%d examples", len(examples))
	}
}

func TestTheSamplesOfTurboPages(t *testing.T) {
	body, err := os.ReadFile("../../../../shared/samples/turbo/viktorgvozdikov_all_widgets.xml")
	if err != nil {
		t.Skip("the samples are not here")
	}
	text := string(body)
	text = text[strings.Index(text, "<header>"):strings.Index(text, "]]>\n\t\t\t</turbo:content>")]
	c := markup.Cleaner{Base: "https://gvozdikov.net/"}
	got := c.Clean(text)
	for _, kind := range []string{"gallery", "slider", "accordion", "cards", "carousel", "fold", "feed", "comments", "rating", "histogram", "share", "feedback", "callback", "form", "search", "button", "ad", "menu", "breadcrumbs"} {
		if !strings.Contains(got, `data-widget="`+kind+`"`) {
			t.Errorf("no %s", kind)
		}
	}
	if twice := c.Clean(got); twice != got {
		t.Error("a second cleaning changes it")
	}
}

func TestAButtonReachesOneAddressAndNoMore(t *testing.T) {
	for to, want := range map[string]string{
		"mailto:a@b.example":                                "mailto:a@b.example",
		"MAILTO: a@b.example":                               "",
		"mailto:a@b.example?bcc=c@d.example":                "",
		"mailto:a@b.example&cc=c@d.example":                 "",
		"mailto:a@b.example,c@d.example":                    "",
		"mailto:a@b.example%2Cc@d.example":                  "",
		"mailto:mailto:a@b.example":                         "",
		"mailto:javascript:a@b.example":                     "",
		"mailto:a":                                          "",
		"mailto:@b.example":                                 "",
		"mailto:" + strings.Repeat("a", 300) + "@b.example": "",
		"tel:+7 (495) 123-45-67":                            "tel:+7(495)123-45-67",
		"tel:*21*123%23":                                    "",
		"tel:+7;ext=1":                                      "",
		"tel:+7?x":                                          "",
		"tel:":                                              "",
		"tel:--":                                            "",
		"sms:+7":                                            "",
	} {
		href := ` href="` + want + `"`
		button, again := clean(`<button formaction="`+to+`">B</button>`), clean(`<a href="`+to+`" data-widget="button">B</a>`)
		if got := strings.Contains(button, href); got != (want != "") || want == "" && strings.Contains(button+again, "href") {
			t.Errorf("%s: %s, %s", to, button, again)
		}
		mail, ok := strings.CutPrefix(to, "mailto:")
		if got := clean(`<button data-send-to="` + mail + `">B</button>`); ok && strings.Contains(got, "href") != (want != "") {
			t.Errorf("send to %s: %s", mail, got)
		}
		if got := clean(`<form data-type="callback" data-send-to="` + mail + `"></form>`); ok && strings.Contains(got, "data-to") != (want != "") {
			t.Errorf("call back %s: %s", mail, got)
		}
	}
	if got := clean(`<a href="mailto:a@b.example?subject=x">B</a>`); !strings.Contains(got, "subject=x") {
		t.Errorf("a link of the text: %s", got)
	}
}

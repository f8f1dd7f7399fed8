package markup_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/courant-platform/courant/internal/kit/markup"
)

const base = "https://site.example/a/b.html"

func clean(html string) string {
	c := markup.Cleaner{Base: base}
	return c.Clean(html)
}

func TestCleanKeepsWhatIsAllowedAndBalancesIt(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain & simple <3 > 2", "plain &amp; simple &lt;3 &gt; 2"},
		{"<P CLASS=x>One<p>Two<div>Three", "<p>One</p><p>Two</p><div>Three</div>"},
		{"<b><i>x</b>y</i>z", "<b><i>x</i></b>yz"},
		{"</p></div>x", "x"},
		{"<ul><li>1<li>2<ul><li>3</ul><li>4</ul>", "<ul><li>1</li><li>2<ul><li>3</li></ul></li><li>4</li></ul>"},
		{"<dl><dt>a<dd>b<dt>c</dl>", "<dl><dt>a</dt><dd>b</dd><dt>c</dt></dl>"},
		{"<table><tr><td>1<td>2<tr><td>3</table>x", "<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>x"},
		{"<td>x</td><tr>y", "xy"},
		{"<table><tr><td></div></p>x</table>", "<table><tr><td>x</td></tr></table>"},
		{"<table><tr><td colspan=2 rowspan=x bgcolor=red>x", `<table><tr><td colspan="2">x</td></tr></table>`},
		{"a<br/>b</br>c<hr>", "a<br>b<br>c<hr>"},
		{"<h1>a<h2>b", "<h1>a</h1><h2>b</h2>"}, {"<h1>a<p>b<h2>c", "<h1>a<p>b</p></h1><h2>c</h2>"},
		{`<a href="/x">1<a href="y">2`, `<a href="https://site.example/x">1</a><a href="https://site.example/a/y">2</a>`},
		{`<a name=x>1</a><a href="mailto:a@b.example">2</a><a href="tel:+7">3</a>`, `1<a href="mailto:a@b.example">2</a><a href="tel:+7">3</a>`},
		{"<span>a<span lang=ru>b<span>c</span>d</span>e</span>", `a<span lang="ru">bcd</span>e`},
		{"<section><header><h1>x</h1></header></section>", "<div><div><h1>x</h1></div></div>"},
		{"<font color=red><o:p>x</o:p></font><unknown>y</unknown>", "xy"},
		{"x<!-- a --><!--> b --><!---->c<!-- d --!>e<?php f ?>g<!doctype html>h</ x>i", "x b --&gt;ceghi"},
		{"<pre>a\r\n  b</pre>", "<pre>a\n  b</pre>"},
		{"<![CDATA[a <b>]]>c", "a &lt;b&gt;c"},
		{"1/2 a! b? <i>3/4</i>", "1/2 a! b? <i>3/4</i>"},
		{"a <!' <b>x</b>", "a &lt;!' <b>x</b>"}, {"<!DOCTYPE", "&lt;!DOCTYPE"}, {"a <!-- never ends", "a &lt;!-- never ends"}, {"a<!doctype html>b<?php x ?>c", "abc"},
		{"&lt;b&gt; &amp;amp; &nbsp;&laquo;&hellip;&#8217;&#1;&copy 1", "&lt;b&gt; &amp;amp; \u00a0«…’© 1"},
		{`<ol type=a start=3 reversed><li value=7>x</ol>`, `<ol type="a" start="3" reversed=""><li value="7">x</li></ol>`},
		{`<time datetime="2024-01-02" title='a "q"'>x`, `<time datetime="2024-01-02" title="a &#34;q&#34;">x</time>`},
		{"<strike>a</strike><tt>b</tt><acronym>c</acronym><menu><li>d</menu>", "<s>a</s><code>b</code><abbr>c</abbr><ul><li>d</li></ul>"},
		{"cut off <a href=\"x", "cut off "},
		{"<noscript>a <b>b</b></noscript>c", "a <b>b</b>c"}, {"<noscript>a", "a"},
		{"<details open><summary>a</summary>b</details>", `<details open=""><summary>a</summary>b</details>`},
	} {
		if got := clean(c.in); got != c.want {
			t.Errorf("Clean(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
		if got := clean(c.want); got != c.want {
			t.Errorf("cleaning again: %q becomes %q", c.want, got)
		}
	}
}

func TestTheBestVersionOfAPictureIsKept(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`<img src=i.png alt="a&quot;" width=640 height=50%>`, `<img src="https://site.example/a/i.png" alt="a&#34;" width="640">`},
		{`<img src="//cdn.example/i.png" />`, `<img src="https://cdn.example/i.png">`},
		{`<img class=lazy src="data:image/gif;base64,R0" data-src="/i.png">`, `<img src="https://site.example/i.png">`},
		{`<img src="s.jpg" srcset="s.jpg 320w, l.jpg 960w" sizes=100vw>`, `<img src="https://site.example/a/l.jpg">`},
		{`<img src=blank.gif data-srcset="s.jpg 1x,l.jpg 2x">`, `<img src="https://site.example/a/l.jpg">`},
		{`<picture><source media="(max-width: 480px)" srcset="s.jpg"><img src="l.jpg"></picture>`, `<img src="https://site.example/a/l.jpg">`},
		{`<picture><source srcset="m.webp 800w, l.webp 1600w" type="image/webp"><img src="s.jpg"></picture>`, `<img src="https://site.example/a/l.webp">`},
		{`<picture><source srcset="m.webp"></picture>`, `<img src="https://site.example/a/m.webp">`},
		{`<img src="t.gif" width="1" height="1"><img src=t.gif width=0><img src=t.gif style="width: 1px"><img src=t.gif style="display:none">`, ``},
		{`<noscript><img src="/only.jpg" onload=x></noscript>`, `<img src="https://site.example/only.jpg">`},
		{`<img class=lazy data-src="/a.jpg"> <noscript><img src="/a.jpg"></noscript><img src="/b.jpg">`, `<img src="https://site.example/a.jpg"> <img src="https://site.example/b.jpg">`},
		{`<img src=p.gif data-srcset="/s.jpg 300w, /l.jpg 900w"><noscript><img src="/s.jpg"></noscript><noscript><img src="/c.jpg"></noscript>`,
			`<img src="https://site.example/l.jpg"><img src="https://site.example/c.jpg">`},
		{`<picture><img data-src="/a.jpg"></picture><noscript><img src="/a-small.jpg"></noscript>`, `<img src="https://site.example/a.jpg">`},
		{`<img data-src="/a.jpg">text<noscript><img src="/b.jpg"></noscript>`, `<img src="https://site.example/a.jpg">text<img src="https://site.example/b.jpg">`},
		{`<img data-src="/a.jpg"><noscript><img src="/b.jpg">`, `<img src="https://site.example/a.jpg"><img src="https://site.example/b.jpg">`},
		{`<img src="/a.jpg"><img src="/a.jpg">`, `<img src="https://site.example/a.jpg"><img src="https://site.example/a.jpg">`},
		{`<img src="data:image/gif;base64,R0"><noscript><img src="/real.jpg"></noscript>`, `<img src="https://site.example/real.jpg">`},
		{`<amp-img src="/a.jpg" width=4 height=3 layout=responsive><amp-img placeholder src="/blur.jpg"></amp-img><noscript><img src="/a.jpg"></noscript></amp-img>`,
			`<img src="https://site.example/a.jpg" width="4" height="3">`},
		{`<amp-anim src=a.gif alt=x></amp-anim><amp-img srcset="s.jpg 1x, l.jpg 2x"></amp-img>`, `<img src="https://site.example/a/a.gif" alt="x"><img src="https://site.example/a/l.jpg">`},
		{`<amp-video src=v.mp4 poster=p.jpg><div fallback>no</div></amp-video>`, `<video src="https://site.example/a/v.mp4" poster="https://site.example/a/p.jpg" controls="" preload="none"></video>`},
		{`<amp-youtube data-videoid="abc"></amp-youtube>x`, `<div data-widget="frame"><a href="https://www.youtube.com/watch?v=abc">https://www.youtube.com/watch?v=abc</a></div>x`},
		{`<iframe src="//t.example/ns" height="0" width="0" style="display:none"></iframe>`, ``},
		{`<img data-original=1.jpg><img src=s.gif data-lazy-src=2.jpg><img src=s.gif data-cfsrc=3.jpg><img src=s.gif data-actualsrc=4.jpg><img src=5.jpg data-lazy=true><img lazy-src=6.jpg><img data-src=7>`,
			`<img src="https://site.example/a/1.jpg"><img src="https://site.example/a/2.jpg"><img src="https://site.example/a/3.jpg"><img src="https://site.example/a/4.jpg"><img src="https://site.example/a/5.jpg"><img src="https://site.example/a/6.jpg"><img src="https://site.example/a/7">`},
		{`<picture><source data-lazy-srcset="/l.webp 900w"><img src="data:image/gif;base64,R0"></picture>`, `<img src="https://site.example/l.webp">`},
		{`<img><img src=""><img src="javascript:x"><img src="data:image/png;base64,x">`, ``},
		{`<img src="x" onerror="alert(1)" id=y style=z>`, `<img src="https://site.example/a/x">`},
		{`<video controls width=640 poster=p.jpg><source src="v.webm"><source src="v.mp4" type="video/mp4">old browser</video>x`,
			`<video src="https://site.example/a/v.mp4" poster="https://site.example/a/p.jpg" width="640" controls="" preload="none"></video>x`},
		{`<audio src=s.mp3 autoplay></audio>`, `<audio src="https://site.example/a/s.mp3" controls="" preload="none"></audio>`},
		{`<p>a<iframe src="//v.example/embed/1" title="A film" srcdoc="x"><b>no</b></iframe>b`,
			`<p>a</p><div data-widget="frame"><a href="https://v.example/embed/1">A film</a></div>b`},
	} {
		if got := clean(c.in); got != c.want {
			t.Errorf("Clean(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
		if got := clean(c.want); got != c.want {
			t.Errorf("cleaning again: %q becomes %q", c.want, got)
		}
	}
}

func TestCallbacksMayRewriteAndRefuse(t *testing.T) {
	c := markup.Cleaner{
		Base: base,
		Image: func(im *markup.Image) bool {
			im.URL, im.Srcset, im.Loading, im.Width, im.Height = "/media/1", "/media/1 1x", "lazy", 4, 3
			return im.Alt != "no"
		},
		Video: func(v *markup.Video) bool { v.URL = "/media/2"; return true },
		Link:  func(href string) string { return strings.TrimPrefix(href, "https://site.example") },
	}
	out, found := c.Append([]byte("x"), `<a href="/l">l</a><a href=https://site.example>m</a><img src=i alt=a><img src=j alt=no><video src=v></video><iframe src=f></iframe>`)
	const want = `x<a href="/l">l</a><a href="/">m</a><img src="/media/1" alt="a" width="4" height="3" srcset="/media/1 1x" loading="lazy">` +
		`<video src="/media/2" controls="" preload="none"></video><div data-widget="frame"><a href="/a/f">https://site.example/a/f</a></div>`
	if string(out) != want {
		t.Errorf("got  %s\nwant %s", out, want)
	}
	if !reflect.DeepEqual(found, markup.Found{
		Images: []markup.Image{{URL: "https://site.example/a/i", Alt: "a"}, {URL: "https://site.example/a/j", Alt: "no"}},
		Videos: []markup.Video{{URL: "https://site.example/a/v"}},
		Frames: []string{"https://site.example/a/f"},
	}) {
		t.Errorf("found %+v", found)
	}
}

func TestTextIsWhatAReaderSees(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"<p>One <b>t</b>wo</p>\n<p> Three&nbsp;&amp;\n four</p>", "One two\n\nThree\u00a0& four"},
		{"a<br>b<ul><li>c</li> <li>d</li></ul>e", "a\nb\n\nc\nd\n\ne"},
		{"<table><tr><th>a</th><th>b</th></tr><tr><td>c</td><td>d</td></tr></table>", "a\tb\nc\td"},
		{"<figure><img src=x alt=no><figcaption>cap</figcaption></figure><div data-widget=\"frame\"><a href=x>no</a></div>", "cap"},
		{"<script>no</script>x<style>no</style><video>no</video><svg><text>no</text></svg>y", "xy"},
		{"<pre>a\n  b</pre>c", "a\n  b\n\nc"},
		{"no markup < here", "no markup < here"},
		{"", ""},
	} {
		if got := markup.Text(c.in); got != c.want {
			t.Errorf("Text(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestTitlesBecomePlainText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{" A  title\n&amp; more ", "A title & more"}, {"1 < 2 and <3", "1 < 2 and <3"}, {"vector<int> or <T>", "vector<int> or <T>"},
		{"<b>Bold</b> move<script>alert(1)</script>", "Bold move"}, {"a<br>b", "a b"}, {"&lt;b&gt; stays", "<b> stays"},
		{"a <img src=x", "a <img src=x"}, {"x<svg onload=y><b>z</b></svg>", "x"}, {"e\u0301", "é"}, {"AT&T", "AT&T"}, {"a<!-- b -->c", "ac"},
		{"a\u00a0b\x00", "a b"},
		{"How to use <video> tags", "How to use <video> tags"}, {"The <b> and <i> tags", "The <b> and <i> tags"}, {"Never write <script> in a title", "Never write <script> in a title"},
		{"What <title> is for", "What <title> is for"}, {"Styling <P>", "Styling <P>"}, {"<p>A paragraph", "A paragraph"}, {"a <br> b", "a <br> b"}, {"a<br>b<BR/>c", "a b c"},
		{"Map<A> and <noscript>", "Map<A> and <noscript>"}, {"</b>a</i>", "a"}, {"<div>", ""}, {"<section><h1>a", "a"}, {"Why <div> again", "Why <div> again"}, {"<b>a</b> <b>", "a <b>"}, {"a <select> b", "a <select> b"}, {"<em class=x>a", "a"},
		{"<style>x</style>a <textarea> b", "a <textarea> b"},
	} {
		if got := markup.Plain(c.in); got != c.want {
			t.Errorf("Plain(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestHostileMarkupCostsLinearTime(t *testing.T) {
	for name, in := range map[string]string{
		"deep":       strings.Repeat("<div>", 1e6/4),
		"inline":     strings.Repeat("<b><p>", 3e5/4),
		"links":      strings.Repeat("<a href=x>", 3e5/4),
		"tables":     strings.Repeat("<table><tr><td>", 1e5/4) + strings.Repeat("</tr>", 1e5/4),
		"body":       strings.Repeat("<body a1 a2 a3>", 1e5/4),
		"attributes": "<p " + strings.Repeat("a ", 2e6/4) + ">x",
		"breaks":     strings.Repeat("<br>", 2e6/4),
		"open":       strings.Repeat("<", 4e6/4),
		"comments":   strings.Repeat("<!--", 1e6/4),
		"quotes":     strings.Repeat(`<a "`, 1e6/4),
		"titles":     strings.Repeat("<title></tit", 4e5/4),
		"svg":        strings.Repeat("<svg><p>", 4e5/4),
		"objects":    strings.Repeat("<object>", 5e5/4) + strings.Repeat("<video>", 5e5/4),
		"srcset":     `<img srcset="` + strings.Repeat("a,", 2e6/4) + `">`,
		"references": strings.Repeat("&a", 2e6/4),
		"galleries":  strings.Repeat(`<div data-block="gallery">`, 1e6/4/8) + "</div>",
		"headers":    strings.Repeat(`<div data-block="slider"><header>`, 1e6/4/8) + "</header></div>",
		"widgets":    strings.Repeat(`<div data-block="share">`, 1e6/4/8) + strings.Repeat(`<form data-type="dynamic-form">`, 1e6/4/8) + "</form></div>",
		"ratings":    strings.Repeat(`<div itemtype="http://schema.org/Rating"><button formaction="x">`, 1e6/4/8) + "</button></div>",
		"dashes":     "<!--" + strings.Repeat("-", 4e6/4),
	} {
		if out := clean(in); len(out) > 4*len(in)+1024 {
			t.Errorf("%s: %d bytes become %d", name, len(in), len(out))
		}
		markup.Text(in)
		markup.Plain(in[:min(len(in), 1<<20)])
	}
}

// suite returns the path of a public suite, or skips.
func suite(t *testing.T, name string) string {
	shared := os.Getenv("COURANT_SHARED")
	if shared == "" {
		shared = "../../../../shared"
	}
	path := filepath.Join(shared, "suites", name)
	if _, err := os.Stat(path); err != nil {
		t.Skip("the public suites are not here; COURANT_SHARED names their folder")
	}
	return path
}

func TestSrcsetIsReadAsTheStandardSays(t *testing.T) {
	raw, err := os.ReadFile(suite(t, "bugcases/html/H03-srcset.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Srcset string
		URLs   []string
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if got := markup.SrcsetURLs(c.Srcset); len(got)+len(c.URLs) > 0 && !reflect.DeepEqual(got, c.URLs) {
			t.Errorf("srcset %q gives %q, want %q", c.Srcset, got, c.URLs)
		}
	}
}

func TestFormulasBecomeText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"<math><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>", "E=mc^2"},
		{"a <math><mfrac><mrow><mi>a</mi>\n<mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac></math> b", "a (a+b)/2 b"},
		{"<math><msqrt><mi>x</mi></msqrt><mroot><mi>y</mi><mn>3</mn></mroot></math>", "√(x)√(y; 3)"},
		{"<math><msubsup><mo>∫</mo><mn>0</mn><mn>1</mn></msubsup><mi>x</mi><msub><mi>d</mi><mi>i</mi></msub></math>", "∫_0^1xd_i"},
		{"<math><mfenced><mi>a</mi><mi>b</mi></mfenced><mo>&lt;</mo><mn>3</mn></math>", "(a, b)&lt;3"},
		{"<math><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd></mtr></mtable></math>", "1, 2; 3"},
		{"<math><semantics><mi>x</mi><annotation encoding='application/x-tex'>\\x</annotation><annotation-xml><ci>x</ci></annotation-xml></semantics></math>", "x"},
		{"<math><semantics><annotation encoding='application/x-tex'>a&lt;b</annotation></semantics></math>", "a&lt;b"},
		{"<math alttext='x+1'><mglyph src=y></mglyph></math>z", "x+1z"},
		{"<math><mtext>if <b>not</b></mtext></math>", "ifnot"},
		{"<math><mi>x<p>y</p>", "x<p>y</p>"}, {"<math/>a", "a"}, {"<math>", ""}, {"</math>a", "a"},
		{"<m:math><m:mi>x</m:mi></m:math>", "x"},
		{"<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">", "<table></table>"},
	} {
		if got := clean(c.in); got != c.want || clean(got) != got {
			t.Errorf("Clean(%q) = %q, want %q; again %q", c.in, got, c.want, clean(got))
		}
	}
}

func TestWhatIsLeftOutIsNamed(t *testing.T) {
	big := strings.Repeat("QUJD", 200)
	for _, c := range []struct {
		in, dropped string
		inline      int
	}{
		{"<script>a</script><b>b</b><style>c</style><script>d</script>", "script style", 0},
		{"<svg><text>x</text></svg><object><embed></object><select><option>a</select>", "svg object select", 0},
		{"<math><script>x</script><img src=/a></math>", "script img", 0},
		{`<img src="data:image/png;base64,` + big + `"><img src=" DATA:image/png;base64,` + big + `"><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">`, "", 2},
		{`<img src="data:image/png;base64,` + big + `" data-src="/a.jpg"><p>b</p>`, "", 0},
	} {
		cl := markup.Cleaner{Base: base}
		_, found := cl.Append(nil, c.in)
		if got := strings.Join(found.Dropped, " "); got != c.dropped || found.Inline != c.inline {
			t.Errorf("%.80q: dropped %q, %d inline; want %q, %d", c.in, got, found.Inline, c.dropped, c.inline)
		}
	}
}

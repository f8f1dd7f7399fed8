package markup_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/courant-platform/courant/internal/kit/markup"
)

// vectors holds known attacks; nothing of them may stay active.
func vectors() []string {
	return []string{
		`<script>alert(1)</script>`, `<p onclick="alert(5)" style="background:url(javascript:alert(6))">x</p>`,
		`<img src=x onerror=alert(7)>`, `<a href="javascript:alert(8)">x</a>`, `<a href=" java&#10;script:alert(8)">x</a>`,
		`<a href="&#106;avascript:alert(1)">x</a>`, `<a href="JaVaScRiPt&colon;alert(1)">x</a>`, `<a href="vbscript:x">x</a>`,
		`<a href="data:text/html;base64,PHNj">x</a>`, `<svg onload=alert(10)><script>alert(11)</script></svg>`,
		`<iframe srcdoc="&lt;script&gt;alert(12)&lt;/script&gt;"></iframe>`, `<iframe src="javascript:alert(4)">`,
		`<object data="javascript:alert(13)"></object><embed src="javascript:alert(14)">`,
		`<style>@import 'javascript:alert(15)';</style><base href="http://evil.example/">`,
		`<form action="javascript:alert(16)"><input autofocus onfocus="alert(17)"><button formaction=javascript:x>y</button></form>`,
		`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">`,
		`<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">`, `<noscript><p title="</noscript><img src=x onerror=alert(1)>">`,
		`<textarea><p title="</textarea><img src onerror=alert(1)>">`, `<title><a title="</title><img src onerror=alert(1)>">`,
		`<xmp><p title="</xmp><svg/onload=alert(1)>">`, `<template><script>alert(1)</script></template>`,
		`<!--><img src=x onerror=alert(1)>-->`, `<!--[if gte IE 4]><script>alert(1)</script><![endif]-->`,
		"<img src=`javascript:alert(1)`>", `<img """><script>alert("x")</script>">`, `<<script>alert(1)//<</script>`,
		`<a href="//evil.example" target=_blank id=getElementById name=body>x</a>`, `<div style="width:expression(alert(1))">x`,
		`<meta http-equiv=refresh content="0;url=javascript:x"><link rel=stylesheet href=javascript:x>`,
		`<select><style></select><img src=x onerror=alert(1)></style>`, `<table background=javascript:x><td background=javascript:x>y`,
		`<video><source onerror=alert(1)></video><audio src=javascript:x>`, `<img srcset="javascript:x 1x, data:x 2x" src=x:x>`,
		`<svg><foreignObject><iframe src=x></foreignObject></svg>`, `<math href=javascript:x>CLICK</math>`, `<isindex type=image src=1 onerror=x>`,
		`<a href="jav&#x09;ascript:x">x</a>`, "<a href=\"\x01javascript:x\">x</a>", `<a/onclick=x href=/>x`, `<p/onclick=alert(1)>x`,
		`<img alt="<script>" title="'><script>x</script>" src=/x>`, `<plaintext><script>`, "<scr\x00ipt>x</scr\x00ipt>",
		`<math><annotation-xml encoding="text/html"><style><img src=x onerror=alert(1)></style></annotation-xml></math>`, `<math><mi xlink:href="javascript:x" href=javascript:x>a</mi><maction actiontype="statusline#http://x" xlink:href=javascript:x>b</maction></math>`,
		`<math><mtext><mglyph><malignmark><textarea><math><style><img title="</textarea>&lt;img src onerror=alert(1)>">`, `<math><mi>&lt;script>alert(1)&lt;/script></mi><mo><img src=x onerror=alert(1)></mo></math>`,
		`<noscript><style></noscript><img src=x onerror=alert(1)></style>`, `<noscript><img src=x onerror=alert(1)><noscript></noscript></noscript>`, `<amp-img src="javascript:x" onerror=y on="tap:x"></amp-img>`,
		`<amp-iframe src="javascript:x" srcdoc="<script>"></amp-iframe><amp-youtube data-videoid='"><script>'></amp-youtube>`, `<math alttext="<script>alert(1)</script>"></math>`,
		`<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>`, `<a href=https://x.example/"onclick=x>y</a>`,
	}
}

func TestNothingActiveSurvives(t *testing.T) {
	for _, v := range vectors() {
		out := clean("<p>before</p>" + v + "<p>after</p>")
		if fault := active(t, out); fault != "" {
			t.Errorf("%q became %q: %s", v, out, fault)
		}
	}
}

// active parses HTML three times with another parser and returns what is active.
func active(t *testing.T, out string) string {
	for range 3 {
		doc, err := html.Parse(strings.NewReader(out))
		if err != nil {
			return "" // deeper than that parser goes
		}
		if fault := inspect(doc); fault != "" {
			return fault
		}
		var b strings.Builder
		if err := html.Render(&b, doc); err != nil {
			t.Fatal(err)
		}
		out = b.String()
	}
	return ""
}

func inspect(n *html.Node) string {
	if n.Type == html.ElementNode {
		if strings.Contains(" script style iframe object embed form input button base meta link svg math template noscript textarea select title xmp ",
			" "+n.Data+" ") && n.Namespace+n.Data != "" {
			return "element " + n.Data
		}
		for _, a := range n.Attr {
			if fault := inspectAttr(a); fault != "" {
				return n.Data + " " + fault
			}
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if fault := inspect(c); fault != "" {
			return fault
		}
	}
	return ""
}

func inspectAttr(a html.Attribute) string {
	switch a.Key {
	case "href", "src", "poster":
		for _, ok := range []string{"http://", "https://", "mailto:", "tel:"} {
			if strings.HasPrefix(strings.ToLower(a.Val), ok) {
				return ""
			}
		}
		return a.Key + "=" + a.Val
	case "alt", "title", "width", "height", "lang", "dir", "colspan", "rowspan", "span", "start", "type", "reversed", "value",
		"datetime", "open", "data-widget", "controls", "preload":
		return ""
	case "data-action", "data-agreement":
		if strings.HasPrefix(a.Val, "https://") || strings.HasPrefix(a.Val, "http://") {
			return ""
		}
	case "data-color", "data-background":
		if strings.Trim(a.Val, "#0123456789abcdefghijklmnopqrstuvwxyz-") == "" {
			return ""
		}
	case "data-title", "data-view", "data-expanded", "data-layout", "data-thumb", "data-author", "data-subtitle", "data-value", "data-best",
		"data-height", "data-network", "data-to", "data-company", "data-type", "data-name", "data-label", "data-required", "data-placeholder",
		"data-slot", "data-primary", "data-hint", "data-checked":
		return "" // inert text
	}
	return "attribute " + a.Key
}

// unbalanced checks the nesting of tags with another tokenizer.
func unbalanced(out string) string {
	z := html.NewTokenizer(strings.NewReader(out))
	var open []string
	for {
		switch z.Next() {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) || len(open) > 0 {
				return "open: " + strings.Join(open, " ")
			}
			return ""
		case html.StartTagToken:
			n, _ := z.TagName()
			if name := string(n); !strings.Contains(" br hr img wbr col ", " "+name+" ") {
				open = append(open, name)
			}
		case html.EndTagToken:
			n, _ := z.TagName()
			if len(open) == 0 || open[len(open)-1] != string(n) {
				return "closed: " + string(n)
			}
			open = open[:len(open)-1]
		case html.CommentToken, html.DoctypeToken:
			return "comment"
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, v := range vectors() {
		f.Add(v)
	}
	for _, v := range []string{
		"<table><tr><td><p>a<table>b<tr>c</table><li>d<ul><li>e</ul></div>", "<a href=/><div><a href=x><iframe src=y>", "<b><p>x</b>y</p>",
		"<picture><source srcset='a 900w'><video><img></video></picture><img src=b>", "<h1><b><h2><table><caption><h3>", "a\r\nb\x00&#0;&amp;lt;<![CDATA[<b>]]>",
		"<ol><blockquote><li><dl><dd><div><dt></ol>x", "<span lang=x><span><p><span></span></span>", "<div data-widget=frame><form><div data-widget=form>",
	} {
		f.Add(v)
	}
	for i, block := range hostile() {
		f.Add(strings.ReplaceAll(block, "%s", vectors()[i]))
		f.Add("<p>" + strings.ReplaceAll(block, "%s", "/a"))
		f.Add("<a href=/x>" + strings.ReplaceAll(strings.ReplaceAll(block, "%s", "/a"), "></", "/><"))
	}
	f.Fuzz(func(t *testing.T, in string) {
		once := clean(in)
		if twice := clean(once); twice != once {
			t.Errorf("%q\nonce  %q\ntwice %q", in, once, twice)
		}
		if fault := active(t, once); fault != "" {
			t.Errorf("%q became %q: %s", in, once, fault)
		}
		if fault := unbalanced(once); fault != "" {
			t.Errorf("%q became %q: %s", in, once, fault)
		}
		plain := markup.Plain(in)
		if again := markup.Line(plain); again != plain {
			t.Errorf("Plain(%q) = %q, on one line %q", in, plain, again)
		}
		markup.Text(in)
	})
}

// article is an ordinary body of 12 KB.
func article() string {
	return strings.Repeat(`<p>The city council voted on Tuesday to approve a new budget that, according to its authors, will <b>reduce spending</b> on roads by 12&nbsp;% and raise it on schools. &laquo;It is a compromise,&raquo; said the mayor, who had <a href="https://news.example/2024/05/17/earlier">opposed</a> it.</p>
<figure><img class="lazy" src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP" data-src="/img/1234.jpg" alt="The council" /><figcaption>The council in session</figcaption></figure>
<p>Город принял бюджет, который, по словам его авторов, сократит расходы на дороги и увеличит расходы на школы. Это компромисс, сказал мэр.</p>
<ul><li>Roads: 12 million</li><li>Schools: 30 million</li></ul>
`, 16)
}

func BenchmarkClean(b *testing.B) {
	in := article()
	c := markup.Cleaner{Base: base}
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		_ = c.Clean(in)
	}
}

func BenchmarkText(b *testing.B) {
	in := article()
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		_ = markup.Text(in)
	}
}

// BenchmarkCleanPages needs the public pages.
func BenchmarkCleanPages(b *testing.B) {
	raw, err := os.ReadFile(os.Getenv("COURANT_PAGE"))
	if err != nil {
		b.Skip("COURANT_PAGE names no HTML file")
	}
	c := markup.Cleaner{Base: base}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		_ = c.Clean(string(raw))
	}
}

package xmlscan_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// trace writes the tokens of a document on one line, and the codes of its faults.
func trace(src string) (tokens, faults string) {
	var b, f strings.Builder
	s := xmlscan.Scanner{Source: src, Report: func(x xmlscan.Fault) { fmt.Fprintf(&f, "%s@%d ", x.Code, x.Offset) }}
	for {
		switch s.Next() {
		case xmlscan.EOF:
			return strings.TrimSpace(b.String()), strings.TrimSpace(f.String())
		case xmlscan.Start:
			fmt.Fprintf(&b, "%d<%s|%s", s.Depth(), s.Name.Space, s.Name.Local)
			for _, a := range s.Attrs {
				fmt.Fprintf(&b, " %s=%q", a.Name, a.Value)
			}
			b.WriteString("> ")
		case xmlscan.End:
			fmt.Fprintf(&b, "%d</%s> ", s.Depth(), s.Name.Local)
		case xmlscan.Text:
			fmt.Fprintf(&b, "%q ", s.Text)
		}
	}
}

func TestDocumentsBecomeTokensAndFaultsAreHealed(t *testing.T) {
	for _, c := range []struct{ in, want, faults string }{
		{`<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "]>">]><a b='1' c="&lt;"><!-- x -->t<d/></a >`,
			`0<|a b="1" c="&lt;"> "t" 1<|d> 1</d> 0</a>`, ""},
		{`<a>1 < 2 <3 & x</a>`, `0<|a> "1 < 2 <3 & x" 0</a>`, "stray-markup@5 stray-markup@9"},
		{`<a><b>x</a>`, `0<|a> 1<|b> "x" 1</b> 0</a>`, "missing-end-tag@7"},
		{`<a>x</b></a>`, `0<|a> "x" 0</a>`, "stray-end-tag@4"},
		{`<A>x</a>`, `0<|a> "x" 0</a>`, "bad-tag@4"},
		{`<a><b>x`, `0<|a> 1<|b> "x" 1</b> 0</a>`, "truncated@7"},
		{`<a><b c="x`, `0<|a> 0</a>`, "bad-attribute@8 truncated@3"},
		{`<a b=1 c d = 'x'>`, `0<|a b="1" c="" d="x"> 0</a>`, "bad-attribute@5 bad-attribute@7 truncated@17"},
		{`<a b="x>y</a><c d="z">`, `0<|a b="x"> "y" 0</a> 0<|c d="z"> 0</c>`, "bad-attribute@5 bad-attribute@5 truncated@22"},
		{`<a b="x<y>z" c="1"/>`, `0<|a b="x<y>z" c="1"> 0</a>`, "bad-attribute@5"},
		{`<p:a xmlns:p=" u "><q:b/><p:c xmlns:p="v"/></p:a>`, `0<p|a xmlns:p=" u "> 1<q|b> 1</b> 1<p|c xmlns:p="v"> 1</c> 0</a>`, "undeclared-prefix@19"},
		{`<a><![CDATA[<b>]]]]><![CDATA[>]]></a>`, `0<|a> "<b>]]" ">" 0</a>`, ""},
		{`<a><![CDATA[x`, `0<|a> "x" 0</a>`, "truncated@3"},
		{`<?xml version="1.0"><a/>`, `0<|a> 0</a>`, "bad-tag@0"},
		{`<?p a<b?><a/>`, `0<|a> 0</a>`, ""},
		{`<a><b</a>`, `0<|a> 1<|b> 1</b> 0</a>`, "bad-tag@3 missing-end-tag@5"},
		{`<a>x</a`, `0<|a> "x" 0</a>`, "bad-tag@4"},
		{`<!-- a`, ``, "truncated@0"}, {``, ``, ``}, {`<`, `"<"`, "stray-markup@0"},
	} {
		got, faults := trace(c.in)
		if got != c.want || faults != c.faults {
			t.Errorf("%s\n got %s %s\nwant %s %s", c.in, got, faults, c.want, c.faults)
		}
	}
}

func TestDeclaredEntitiesAreExpanded(t *testing.T) {
	const dtd = `<!DOCTYPE a [ <!-- x --> <!ENTITY n "5 &lt; 6 &#233;"><!ENTITY n "second"><!ENTITY b '&n;&n;'><!ENTITY % p "q"><!ENTITY x SYSTEM "file:///etc/passwd"> ]>`
	for _, c := range []struct{ in, html, xhtml string }{
		{`<a>[&n;]</a>`, `[5 < 6 é]`, `[5 &lt; 6 é]`},
		{`<a>&b;</a>`, `5 < 6 é5 < 6 é`, `5 &lt; 6 é5 &lt; 6 é`},
		{`<a>&x;&p;&amp;n;</a>`, `&x;&p;&n;`, `&x;&p;&amp;n;`},
		{`<a><![CDATA[&n;]]></a>`, `&n;`, `&amp;n;`},
		{`<a>` + strings.Repeat(`&n;`, 100) + `</a>`, strings.Repeat(`5 < 6 é`, 57) + strings.Repeat(`&n;`, 43), ``},
	} {
		s := xmlscan.Scanner{Source: dtd + c.in}
		s.Next()
		if got := s.Inner(nil); got != c.html {
			t.Errorf("%s is %q, want %q", c.in, got, c.html)
		}
		s = xmlscan.Scanner{Source: dtd + c.in}
		s.Next()
		if got := s.InnerXHTML(nil); got != c.xhtml && c.xhtml != "" {
			t.Errorf("%s is %q as XHTML, want %q", c.in, got, c.xhtml)
		}
	}
	s := xmlscan.Scanner{Source: dtd + `<a b="&n;"/>`}
	if s.Next(); s.Attr("b") != "5 < 6 é" {
		t.Errorf("attribute %q", s.Attr("b"))
	}
}

func TestEntitiesInEntitiesAreExpandedWithinBounds(t *testing.T) {
	bomb := `<!ENTITY l0 "lol">`
	for i := range 30 {
		bomb += fmt.Sprintf(`<!ENTITY l%d "%s">`, i+1, strings.Repeat(fmt.Sprintf("&l%d;", i), 10))
	}
	chain := `<!ENTITY c0 "x">`
	for i := range 100 {
		chain += fmt.Sprintf(`<!ENTITY c%d "&c%d;">`, i+1, i)
	}
	for _, c := range []struct{ dtd, in, want, faults string }{
		{`<!ENTITY co "Acme"><!ENTITY name "&co; Ltd">`, `&name;`, `Acme Ltd`, ""},
		{`<!ENTITY name "&co; Ltd"><!ENTITY co "A&amp;B &#169; &lt;"><!ENTITY all "[&name;|&name;]">`, `&all;`, `[A&B © < Ltd|A&B © < Ltd]`, ""},
		{`<!ENTITY a "1&b;"><!ENTITY b "2&a;">`, `&a;&b;`, `&a;&b;`, "too-many-entities"},
		{`<!ENTITY a "&a;">`, `&a;`, `&a;`, "too-many-entities"},
		{`<!ENTITY a "x&no;y">`, `&a;`, `x&no;y`, "undeclared-entity"},
		{`<!ENTITY a "x">`, `&a;&no;`, `x&no;`, "undeclared-entity"},
		{`<!ENTITY a "x & y &nbsp;z">`, `&a;`, "x & y \u00a0z", ""},
		{`<!ENTITY e SYSTEM "file:///etc/passwd"><!ENTITY a "x&e;">`, `&a;`, `x&e;`, ""},
		{bomb, `&l30;`, `&l30;`, "too-many-entities"},
		{bomb, `&l2;`, strings.Repeat("lol", 100), ""},
		{chain, `&c10;`, `x`, ""},
		{chain, `&c100;`, `&c100;`, "too-many-entities"},
	} {
		var codes []string
		s := xmlscan.Scanner{Source: `<!DOCTYPE a [` + c.dtd + `]><a>` + c.in + `</a>`, Report: func(f xmlscan.Fault) { codes = append(codes, f.Code) }}
		s.Next()
		got := s.Inner(nil)
		if faults := strings.Join(slices.Compact(codes), " "); got != c.want || faults != c.faults {
			t.Errorf("%.80s %s: %.200q, %q; want %.200q, %q", c.dtd, c.in, got, faults, c.want, c.faults)
		}
	}
}

func TestContentsBecomeHTML(t *testing.T) {
	for _, c := range []struct{ in, html, xhtml string }{
		{`<a>x</a>`, `x`, `x`},
		{`<a>one <![CDATA[<b>two</b>]]> three</a>`, `one <b>two</b> three`, `one &lt;b>two&lt;/b> three`},
		{`<a>&lt;p&gt;&amp;amp; &#8217; &nbsp;&x &lol9;</a>`, "<p>&amp; ’ \u00a0&x &lol9;", `&lt;p&gt;&amp;amp; &#8217; &nbsp;&x &lol9;`},
		{`<a><x:p xmlns:x="h" class='"'>1<x:br/>2<script/></x:p></a>`, `<p class='"'>1<br>2<script></script></p>`, `<p class='"'>1<br>2<script></script></p>`},
		{`<a>x<b>y`, `x<b>y</b>`, `x<b>y</b>`},
	} {
		s := xmlscan.Scanner{Source: c.in}
		s.Next()
		if got := s.Inner(nil); got != c.html {
			t.Errorf("%s is %q, want %q", c.in, got, c.html)
		}
		s = xmlscan.Scanner{Source: c.in}
		s.Next()
		if got := s.InnerXHTML(nil); got != c.xhtml {
			t.Errorf("%s is %q as XHTML, want %q", c.in, got, c.xhtml)
		}
	}
}

func TestAnElementEndsWhereTheNextOfItsKindBegins(t *testing.T) {
	s := xmlscan.Scanner{Source: `<r><t>x<l>y</l></r>`}
	s.Next()
	s.Next()
	if got := s.Inner(func(n xmlscan.Name) bool { return n.Local == "l" }); got != "x" {
		t.Errorf("got %q", got)
	}
	if s.Next() != xmlscan.Start || s.Name.Local != "l" || s.Depth() != 1 {
		t.Errorf("then comes %v at depth %d", s.Name, s.Depth())
	}
}

func TestANameMeansWhatTheNamespaceAroundItSays(t *testing.T) {
	s := xmlscan.Scanner{Source: `<r xmlns="a"><b/><c xmlns="x"><b/></c><b/><p:b xmlns:p="y"/><p:b/></r>`, Space: func(uri, prefix string) string { return uri + prefix }}
	var got []string
	for k := s.Next(); k != xmlscan.EOF; k = s.Next() {
		if k == xmlscan.Start && s.Name.Local == "b" {
			got = append(got, s.Name.Space)
		}
	}
	if want := "a x a yp p"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func FuzzScanner(f *testing.F) {
	for _, s := range []string{
		`<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "]>">]><a b='1' c="&lt;"><!-- x -->t<d/></a >`, `<a b="x>y</a><c d="z">`,
		`<p:a xmlns:p="u"><q:b/><p:c xmlns:p="v"/></p:a>`, `<a><![CDATA[x]]>&amp;&x;<b</a`, `<a><b><c></a></b>`, "<a x='<'y",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		s := xmlscan.Scanner{Source: src, Report: func(x xmlscan.Fault) {
			if x.Offset < 0 || x.Offset > len(src) {
				t.Errorf("fault %v of %q", x, src)
			}
		}}
		depth, limit := 0, 4*len(src)+16
		for k := s.Next(); k != xmlscan.EOF; k = s.Next() {
			switch {
			case k == xmlscan.Start && s.Depth() == depth:
				depth++
			case k == xmlscan.End && s.Depth() == depth-1:
				depth--
			case k == xmlscan.Text && s.Depth() == depth:
			default:
				t.Fatalf("%q: token %d at depth %d, want %d", src, k, s.Depth(), depth)
			}
			if limit--; limit < 0 {
				t.Fatalf("%q: no end", src)
			}
		}
		if depth != 0 {
			t.Errorf("%q: %d elements stay open", src, depth)
		}
		strictly(t, src)
		s = xmlscan.Scanner{Source: src}
		stop := func(n xmlscan.Name) bool { return n.Local == "b" }
		for k := s.Next(); k != xmlscan.EOF; k = s.Next() {
			if k == xmlscan.Start && s.Depth() == 1 {
				s.Inner(stop)
			}
		}
	})
}

// strictly compares the elements of well-formed documents with those of encoding/xml.
func strictly(t *testing.T, src string) {
	var want []string
	for d := xml.NewDecoder(strings.NewReader(src)); ; {
		tok, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if _, special := tok.(xml.Directive); err != nil || special {
			return
		}
		switch e := tok.(type) {
		case xml.StartElement:
			want = append(want, rawName(e.Name))
		case xml.EndElement:
			want = append(want, "/"+rawName(e.Name))
		}
	}
	var got []string
	faults := false
	s := xmlscan.Scanner{Source: src, Report: func(xmlscan.Fault) { faults = true }}
	for k := s.Next(); k != xmlscan.EOF; k = s.Next() {
		switch k {
		case xmlscan.Start:
			got = append(got, s.Raw)
		case xmlscan.End:
			got = append(got, "/"+s.Raw)
		}
	}
	if !faults && strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%q: elements %q, the standard library says %q", src, got, want)
	}
}

func rawName(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

func BenchmarkScan(b *testing.B) {
	src := "<r>" + strings.Repeat(`<item><title>A headline of ordinary length</title><link>https://site.example/news/12345</link>`+
		`<guid isPermaLink="false">12345</guid><pubDate>Mon, 02 Jan 2006 15:04:05 -0700</pubDate><description>`+
		strings.Repeat("Some words of an ordinary summary. ", 10)+`</description></item>`, 200) + "</r>"
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		s := xmlscan.Scanner{Source: src}
		for s.Next() != xmlscan.EOF {
		}
	}
}

func TestAttributesThatNobodyAskedForAreReported(t *testing.T) {
	var got []string
	s := xmlscan.Scanner{Source: `<a xmlns:x="y" b="1" c="2"><d e="3"/><f g="4"><h i="5"/></f><j k="6"><l m="7">t</l></j><n o="8"/></a>`}
	s.Ignored = func(attr string) { got = append(got, s.Raw+"/"+attr) }
	for kind := s.Next(); kind != xmlscan.EOF; kind = s.Next() {
		if kind != xmlscan.Start {
			continue
		}
		switch s.Raw {
		case "a":
			s.Attr("B")
		case "f":
			s.Inner(nil)
		case "j":
			s.Skip(nil)
		case "n":
			s.MarkRead()
		}
	}
	if all := strings.Join(got, " "); all != "a/c d/e f/g j/k" {
		t.Errorf("reported %s", all)
	}
}

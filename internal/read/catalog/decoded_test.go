package catalog_test

import (
	"strings"
	"testing"
)

// Text escaped twice, or escaped inside CDATA, is decoded in both formats.
func TestTextEscapedTwiceIsDecodedOnce(t *testing.T) {
	for text, want := range map[string]string{
		"Tom &amp;amp; Jerry": "Tom & Jerry", "<![CDATA[Tom &amp; Jerry]]>": "Tom & Jerry", "Tom &amp; Jerry": "Tom & Jerry", "<![CDATA[Tom & Jerry]]>": "Tom & Jerry", "Tom & Jerry": "Tom & Jerry",
		"&amp;laquo;Tea&amp;raquo;": "«Tea»", "<![CDATA[&laquo;Tea&raquo;]]>": "«Tea»", "<![CDATA[O&#39;Neil&nbsp;&quot;X&quot;]]>": `O'Neil "X"`, "5&amp;#34; disk": `5" disk`,
		"<![CDATA[AT&T &amp; Co]]>": "AT&T &amp; Co", "<![CDATA[R&D;]]>": "R&D;", "&amp;amp;amp;": "&amp;", "a &amp;lt; b": "a < b", "<![CDATA[M&M]]>": "M&M",
	} {
		c := read(t, yml(`<offer id="1"><categoryId>1</categoryId><name>`+text+`</name><vendor>`+text+`</vendor><model>`+text+`</model><sales_notes>`+text+`</sales_notes><param name="P">`+text+`</param></offer>`))
		o := c.Offers[0]
		if o.Name != want || o.Vendor != want || o.Model != want || o.SalesNotes != want || o.Params[0].Value != want {
			t.Errorf("yml %s: %q %q %q %q %q, want %q", text, o.Name, o.Vendor, o.Model, o.SalesNotes, o.Params[0].Value, want)
		}
		m := read(t, merchant(`<g:brand>`+text+`</g:brand><g:color>`+text+`</g:color><g:product_type>`+text+`</g:product_type>`)).Offers[0]
		if m.Vendor != want || m.Params[0].Value != want || m.Category[0] != want && !strings.Contains(want, ">") {
			t.Errorf("merchant %s: %q %q %q, want %q", text, m.Vendor, m.Params[0].Value, m.Category, want)
		}
	}
	c := read(t, `<yml_catalog><shop><name>A &amp;amp; B</name><company><![CDATA[A &amp; B]]></company><categories><category id="1">Tea &amp;amp; coffee</category></categories><offers>`+
		`<offer id="1"><name>N</name><categoryId>1</categoryId><param name="Size &amp;amp; colour" unit="&amp;quot;">1</param></offer></offers></shop></yml_catalog>`)
	if p := c.Offers[0].Params[0]; c.Feed.Title != "A & B" || c.Shop.Company != "A & B" || c.Categories[0].Name != "Tea & coffee" || c.Offers[0].Category[0] != "Tea & coffee" || p.Name != "Size & colour" || p.Unit != `"` {
		t.Errorf("got %+v", c)
	}
}

func TestAnAddressEscapedTwiceIsDecoded(t *testing.T) {
	for text, want := range map[string]string{
		"https://shop.example/i?a=1&amp;amp;b=2": "https://shop.example/i?a=1&b=2", "https://shop.example/i?a=1&amp;amp;amp;b=2": "https://shop.example/i?a=1&b=2",
		"<![CDATA[https://shop.example/i?a=1&amp;b=2]]>": "https://shop.example/i?a=1&b=2", "https://shop.example/i?a=1&amp;#38;b=2": "https://shop.example/i?a=1&b=2",
		"https://shop.example/i?a=1&amp;b=2": "https://shop.example/i?a=1&b=2", "https://shop.example/i?a=1&copy=2;3": "https://shop.example/i?a=1&copy=2;3",
		"http%3A%2F%2Fshop.example%2Fi%2Fa%20b.jpg": "http://shop.example/i/a%20b.jpg", "https%3a%2f%2fshop.example%2fi": "https://shop.example/i", "HTTPS%3A//shop.example/i": "https://shop.example/i",
		"http%253A%252F%252Fshop.example%252Fi": "http://shop.example/i", "https:%2F%2Fshop.example%2Fi": "https://shop.example/i",
		"https://shop.example/i?u=http%3A%2F%2Fother.example%2F": "https://shop.example/i?u=http%3A%2F%2Fother.example%2F", "/i?a=1&amp;amp;b=2": "https://shop.example/i?a=1&b=2",
	} {
		o := one(t, `<offer id="1"><categoryId>1</categoryId><name>N</name><url>`+text+`</url><picture>`+text+`</picture></offer>`)
		m := read(t, merchantHead+`<item><g:id>1</g:id><g:price>5 USD</g:price><g:link>`+text+`</g:link><g:image_link>`+text+`</g:image_link></item></channel></rss>`).Offers[0]
		if o.URL != want || o.Pictures[0] != want || m.URL != want || m.Pictures[0] != want {
			t.Errorf("%s: %q %q %q %q, want %q", text, o.URL, o.Pictures, m.URL, m.Pictures, want)
		}
	}
}

func TestADescriptionKeepsItsLines(t *testing.T) {
	for text, want := range map[string]string{
		"One\nTwo": "One<br>Two", "One\r\nTwo": "One<br>Two", "One\rTwo": "One<br>Two", "One\n\nTwo": "One<br><br>Two", "One&#10;Two": "One<br>Two", "<![CDATA[One\nTwo]]>": "One<br>Two",
		"<![CDATA[One <b>bold</b>\nTwo]]>": "One <b>bold</b><br>Two", "<![CDATA[size < 5 mm\nTwo]]>": "size &lt; 5 mm<br>Two", "<![CDATA[<a\nhref=\"https://a.example/\">x</a>\ny]]>": `<a href="https://a.example/">x</a><br>y`,
		"<![CDATA[<p>One\ntwo</p>]]>": "<p>One\ntwo</p>", "<![CDATA[One<br/>\nTwo]]>": "One<br>\nTwo", "<![CDATA[<ul>\n<li>x</li></ul>]]>": "<ul>\n<li>x</li></ul>",
		"&lt;p&gt;x&lt;/p&gt;": "<p>x</p>", "&amp;lt;p&amp;gt;x&amp;lt;/p&amp;gt;": "<p>x</p>", "<![CDATA[&lt;p&gt;x&lt;/p&gt;]]>": "<p>x</p>", "<![CDATA[&lt;b&gt;x&lt;/b&gt;\ny]]>": "<b>x</b><br>y",
		"<![CDATA[<p>write &lt;br&gt;</p>]]>": "<p>write &lt;br&gt;</p>", "<![CDATA[a &lt; b &gt; c]]>": "a &lt; b &gt; c", "Tea&amp;amp;nbsp;cup": "Tea\u00a0cup", "<![CDATA[Tea &amp;laquo;x&amp;raquo;]]>": "Tea «x»",
		"<![CDATA[A &amp; B]]>": "A &amp; B", "A &amp;amp; B": "A &amp; B", "A &amp;amp;amp; B": "A &amp; B",
	} {
		o := one(t, `<offer id="1"><categoryId>1</categoryId><name>N</name><description>`+text+`</description></offer>`)
		m := read(t, merchant(`<g:price>5 USD</g:price><g:description>`+text+`</g:description>`)).Offers[0]
		if o.Description != want || m.Description != want {
			t.Errorf("%q: %q and %q, want %q", text, o.Description, m.Description, want)
		}
	}
}

package feed_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/microcosm-cc/bluemonday"
	"github.com/mmcdole/gofeed"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
	"github.com/courant-platform/courant/internal/read/catalog"
	"github.com/courant-platform/courant/internal/read/feed"
)

// prose is the body of item i as HTML, about 3 KB, in two scripts.
func prose(i int) string {
	return strings.Repeat(fmt.Sprintf(`<p>The city council voted on Tuesday to approve budget %d that, according to its authors, will <b>reduce spending</b> on roads by 12&nbsp;%% and raise it on schools. «It is a compromise,» said the mayor, who had <a href="/2024/05/17/earlier">opposed</a> it.</p>
<figure><img src="/img/%d.jpg" alt="The council"><figcaption>The council in session</figcaption></figure>
<p>Город принял бюджет, который, по словам его авторов, сократит расходы на дороги и увеличит расходы на школы.</p>
`, i, i), 4)
}

// feeds are the same hundred items in every dialect.
func feeds() map[string]string {
	esc := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	var cdata, escaped, atom, rdf, json strings.Builder
	cdata.WriteString(`<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>News</title><link>https://site.example/</link><description>d</description>`)
	escaped.WriteString(cdata.String())
	atom.WriteString(`<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><id>urn:feed</id><updated>2026-01-02T03:04:05Z</updated><link rel="alternate" href="https://site.example/"/>`)
	rdf.WriteString(`<?xml version="1.0" encoding="UTF-8"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="https://site.example/"><title>News</title><link>https://site.example/</link><description>d</description></channel>`)
	json.WriteString(`{"version":"https://jsonfeed.org/version/1.1","title":"News","home_page_url":"https://site.example/","items":[`)
	for i := range 100 {
		at := time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC)
		rss := fmt.Sprintf(`<item><title>Item %[1]d &amp; more</title><link>https://site.example/a/%[1]d</link><guid isPermaLink="false">id-%[1]d</guid><pubDate>%[2]s</pubDate><dc:creator>Ann Example</dc:creator><category>City</category><category>Money</category>`, i, at.Format(time.RFC1123Z))
		cdata.WriteString(rss + "<content:encoded><![CDATA[" + prose(i) + "]]></content:encoded></item>")
		escaped.WriteString(rss + "<description>" + esc(prose(i)) + "</description></item>")
		fmt.Fprintf(&atom, `<entry><title>Item %[1]d &amp; more</title><id>urn:%[1]d</id><link href="https://site.example/a/%[1]d"/><updated>%[2]s</updated><published>%[2]s</published><author><name>Ann Example</name></author><category term="City"/><content type="html">%[3]s</content></entry>`, i, at.Format(time.RFC3339), esc(prose(i)))
		fmt.Fprintf(&rdf, `<item rdf:about="https://site.example/a/%[1]d"><title>Item %[1]d</title><link>https://site.example/a/%[1]d</link><dc:date>%[2]s</dc:date><dc:creator>Ann Example</dc:creator><description>Short</description><content:encoded><![CDATA[%[3]s]]></content:encoded></item>`, i, at.Format(time.RFC3339), prose(i))
		if i > 0 {
			json.WriteByte(',')
		}
		fmt.Fprintf(&json, `{"id":"id-%[1]d","url":"https://site.example/a/%[1]d","title":"Item %[1]d","date_published":"%[2]s","authors":[{"name":"Ann Example"}],"tags":["City"],"content_html":%[3]q}`, i, at.Format(time.RFC3339), strings.ToValidUTF8(prose(i), ""))
	}
	cdata.WriteString("</channel></rss>")
	escaped.WriteString("</channel></rss>")
	atom.WriteString("</feed>")
	rdf.WriteString("</rdf:RDF>")
	json.WriteString("]}")
	return map[string]string{"rss-cdata": cdata.String(), "rss-escaped": escaped.String(), "atom": atom.String(), "rdf": rdf.String(), "json": json.String()}
}

// BenchmarkRead reads the same feeds by this reader (whole, and with the cleaning
// of HTML left out), by gofeed, and by the tokens of encoding/xml alone. Metric
// "x" is how many times faster than gofeed this reader is: the peer runs within
// the same benchmark.
func BenchmarkRead(b *testing.B) {
	for name, text := range feeds() {
		body := []byte(text)
		ours := func(raw bool) func() {
			return func() {
				read := feed.Read
				if raw {
					read = feed.ReadRaw
				}
				r, err := read(body, feed.Options{URL: "https://site.example/feed"})
				if err != nil || len(r.Items) != 100 || r.Items[99].Content == "" || r.Items[7].Published.IsZero() {
					b.Fatal(err, len(r.Items))
				}
			}
		}
		peer := func() {
			f, err := gofeed.NewParser().Parse(bytes.NewReader(body))
			if err != nil || len(f.Items) != 100 {
				b.Fatal(err)
			}
		}
		b.Run(name+"/cleaned", func(b *testing.B) { against(b, len(body), ours(false), peer) })
		b.Run(name+"/raw", func(b *testing.B) { against(b, len(body), ours(true), peer) })
		if name != "json" {
			b.Run(name+"/tokens", func(b *testing.B) { against(b, len(body), func() { scan(b, text) }, func() { rawTokens(b, body) }) })
		}
	}
}

// against measures f, and how many times faster it is than the peer, which runs in
// turns with it.
func against(b *testing.B, size int, f, peer func()) {
	b.SetBytes(int64(size))
	b.ReportAllocs()
	var theirs time.Duration
	runs := 0
	for b.Loop() {
		f()
		if runs%8 == 0 {
			b.StopTimer()
			start := time.Now()
			peer()
			theirs += time.Since(start)
			b.StartTimer()
		}
		runs++
	}
	each := theirs / time.Duration((runs+7)/8)
	b.ReportMetric(float64(each)/(float64(b.Elapsed())/float64(runs)), "x")
	b.ReportMetric(float64(size)/each.Seconds()/1e6, "peer-MB/s")
}

func scan(b *testing.B, text string) {
	n := 0
	s := xmlscan.Scanner{Source: text}
	for s.Next() != xmlscan.EOF {
		n++
	}
	if n < 1000 {
		b.Fatal(n)
	}
}

// rawTokens reads all tokens of encoding/xml, which every reader over it has to.
func rawTokens(b *testing.B, body []byte) {
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict = false
	for {
		if _, err := d.RawToken(); err == io.EOF {
			return
		} else if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCatalog reads a catalogue of 20,000 offers, against the tokens of
// encoding/xml.
func BenchmarkCatalog(b *testing.B) {
	const offers = 20_000
	var t strings.Builder
	t.WriteString(`<?xml version="1.0" encoding="UTF-8"?><yml_catalog date="2026-01-02 03:04"><shop><name>S</name><categories><category id="1">Phones</category></categories><offers>`)
	for i := range offers {
		fmt.Fprintf(&t, `<offer id="%[1]d" available="true" group_id="%[2]d"><url>http://shop.example/offer/%[1]d</url><price>%[1]d.50</price><oldprice>99999</oldprice><currencyId>RUR</currencyId><categoryId>1</categoryId><picture>http://shop.example/i/%[1]d.jpg</picture><name>Смартфон Acme %[1]d</name><vendor>Acme</vendor><model>M %[1]d</model><description><![CDATA[<p>Хороший <b>смартфон</b>.</p><p>Большой экран, долгая работа.</p>]]></description><param name="Цвет">чёрный</param><param name="Память" unit="ГБ">128</param></offer>`, i, i/4)
	}
	t.WriteString(`</offers></shop></yml_catalog>`)
	text := t.String()
	against(b, len(text), func() {
		n := 0
		if _, err := catalog.Read(strings.NewReader(text), catalog.Options{Offer: func(*courant.Offer) error { n++; return nil }}); err != nil || n != offers {
			b.Fatal(err, n)
		}
	}, func() { rawTokens(b, []byte(text)) })
	b.ReportMetric(float64(offers)*float64(b.N)/b.Elapsed().Seconds(), "offers/s")
}

// BenchmarkUnchanged is what a feed of a hundred items costs that says the same as
// before in other bytes: reading, and the hash of each item.
func BenchmarkUnchanged(b *testing.B) {
	body := []byte(feeds()["rss-cdata"])
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	seen := map[string]bool{}
	for b.Loop() {
		r, err := feed.Read(body, feed.Options{URL: "https://site.example/feed"})
		if err != nil {
			b.Fatal(err)
		}
		for _, i := range r.Items {
			seen[i.Hash] = true
		}
	}
	if len(seen) != 100 {
		b.Fatal(len(seen))
	}
}

// BenchmarkClean cleans an article, against bluemonday with its rules for what
// users send.
func BenchmarkClean(b *testing.B) {
	text := strings.Repeat(prose(1), 3)
	policy := bluemonday.UGCPolicy()
	c := markup.Cleaner{Base: "https://site.example/"}
	var out []byte
	against(b, len(text), func() { out, _ = c.Append(out[:0], text) }, func() { policy.Sanitize(text) })
}

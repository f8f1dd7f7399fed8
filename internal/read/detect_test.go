package read_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/read"
)

func readText(text string, opt read.Options) (read.Result, error) {
	return read.Read(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }, opt)
}

// product is an item of a product feed in the namespace g.
const product = `<item><title>T</title><link>https://a.example/1</link><g:id>1</g:id><g:price>5 USD</g:price><g:image_link>https://a.example/1.jpg</g:image_link></item>`

func rss(attrs, items string) string {
	return `<rss version="2.0" ` + attrs + `><channel><title>S</title><link>https://a.example/</link>` + items + `</channel></rss>`
}

const (
	ns   = `xmlns:g="http://base.google.com/ns/1.0"`
	post = `<item><title>T</title><link>https://a.example/p</link><guid>p</guid><description>text</description></item>`
)

func TestAProductFeedIsKnownByItsFields(t *testing.T) {
	long := "<description>" + strings.Repeat("long text ", 30_000) + "</description>"
	plain := strings.ReplaceAll(product, "g:", "")
	for name, text := range map[string]string{
		"the usual prefix":                 rss(ns, product),
		"id, title, link and price":        rss(ns, `<item><g:id>1</g:id><g:title>T</g:title><g:link>https://a.example/1</g:link><g:price>5.00 USD</g:price></item>`),
		"an attribute in the price":        rss(ns, strings.Replace(product, "<g:price>", `<g:price currency="USD">`, 1)),
		"a blank in the tags":              rss(ns, strings.ReplaceAll(strings.ReplaceAll(product, "g:price>", "g:price >"), "g:id>", "g:id\n>")),
		"another prefix":                   rss(`xmlns:p="http://base.google.com/ns/1.0"`, strings.ReplaceAll(product, "g:", "p:")),
		"a prefix that is not declared":    rss("", product),
		"an unknown prefix and namespace":  rss(`xmlns:s="https://shop.example/ns"`, strings.ReplaceAll(product, "g:", "s:")),
		"an unknown undeclared prefix":     rss("", strings.ReplaceAll(product, "g:", "s:")),
		"https in the namespace":           rss(`xmlns:q="https://base.google.com/ns/1.0/"`, strings.ReplaceAll(product, "g:", "q:")),
		"no prefix":                        rss("", plain),
		"the default namespace":            rss(`xmlns="http://base.google.com/ns/1.0"`, plain),
		"upper case":                       rss(ns, strings.ReplaceAll(strings.ReplaceAll(product, "g:price", "g:PRICE"), "g:id", "g:ID")),
		"a long first description":         rss(ns, strings.Replace(product, "<item>", "<item>"+long, 1)),
		"a long description of the shop":   rss(ns, long+product),
		"a first item that is no product":  rss(ns, post+strings.Repeat(product, 3)),
		"a price without g, an id with it": rss(ns, strings.ReplaceAll(product, "g:price", "price")),
		"a price in an attribute":          rss(ns, strings.Replace(product, "<g:price>5 USD", `<g:price value="5" currency="USD">`, 1)),
		"Atom": `<feed xmlns="http://www.w3.org/2005/Atom" ` + ns + `><title>S</title>` +
			strings.ReplaceAll(strings.ReplaceAll(product, "item>", "entry>"), "<link>https://a.example/1</link>", `<link href="https://a.example/1"/>`) + `</feed>`,
		"Atom in a prefix": `<a:feed xmlns:a="http://www.w3.org/2005/Atom" ` + ns + `><a:entry><a:title>T</a:title><g:id>1</g:id><g:price>5 USD</g:price></a:entry></a:feed>`,
		"RDF": `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" ` + ns +
			`><channel rdf:about="https://a.example/"><title>S</title></channel>` + product + `</rdf:RDF>`,
		"a channel alone": `<channel>` + product + `</channel>`,
		"items alone":     product,
		"cut off":         rss(ns, product+product)[:len(rss(ns, product))-4],
	} {
		r, err := readText(text, read.Options{})
		if err != nil || r.Format != "merchant" || len(r.Offers) == 0 || r.Offers[len(r.Offers)-1].ID != "1" || r.Offers[0].Name != "T" {
			t.Errorf("%s: format %s, %+v, %v", name, r.Format, r.Offers, err)
		}
	}
}

func TestABlogIsNoProductFeed(t *testing.T) {
	for name, text := range map[string]string{
		"the namespace alone":         rss(ns, post+post),
		"prices in CDATA":             rss(ns, strings.Replace(post, "text", `<![CDATA[`+product+`]]>`, 1)),
		"prices that are escaped":     rss(ns, strings.Replace(post, "text", strings.ReplaceAll(product, "<", "&lt;"), 1)),
		"prices in a comment":         rss(ns, "<!-- "+product+" -->"+post),
		"one post with a price":       rss(ns, post+product+post+post),
		"a price alone":               rss("", strings.ReplaceAll(post, "<guid>", "<price>5</price><guid>")),
		"a price without digits":      rss(ns, strings.ReplaceAll(product, "5 USD", "on request")),
		"prices of Media RSS":         rss(`xmlns:media="http://search.yahoo.com/mrss/"`, strings.ReplaceAll(post, "<guid>", `<media:content><media:price>5</media:price></media:content><media:price>5</media:price><guid>`)),
		"a podcast":                   rss(ns+` xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"`, strings.ReplaceAll(post, "<guid>", `<itunes:duration>5</itunes:duration><guid>`)),
		"Atom with an id and a price": `<feed xmlns="http://www.w3.org/2005/Atom"><title>S</title><entry><id>urn:1</id><title>T</title><price>5</price></entry></feed>`,
		"an unknown prefix, one mark": rss(`xmlns:s="https://shop.example/ns"`, strings.ReplaceAll(post, "<guid>", "<s:price>5</s:price><s:brand>B</s:brand><guid>")),
	} {
		r, err := readText(text, read.Options{})
		if err != nil || r.Catalog() || len(r.Items) == 0 {
			t.Errorf("%s: format %s, %v", name, r.Format, err)
		}
	}
}

func TestTheKindOfTheSourceDecides(t *testing.T) {
	for text, want := range map[string]string{
		rss("", post): "merchant",
		`<feed xmlns="http://www.w3.org/2005/Atom"><title>S</title><entry><id>urn:1</id><title>T</title></entry></feed>`: "merchant",
		`<yml_catalog><shop><offers><offer id="1"><name>N</name></offer></offers></shop></yml_catalog>`:                  "yml",
		`<shop><offers><offer id="1"><name>N</name></offer></offers></shop>`:                                             "yml",
	} {
		r, err := readText(text, read.Options{Kind: courant.KindCatalog})
		if err != nil || r.Format != want || len(r.Offers) != 1 {
			t.Errorf("%s: format %s, %+v, %v", text, r.Format, r.Offers, err)
		}
	}
	for text, want := range map[string]string{
		`<urlset><url><loc>https://a.example/</loc></url></urlset>`:                          "not_a_feed: the source is of kind catalog, but this is a sitemap",
		`<opml version="2.0"><body><outline xmlUrl="https://a.example/feed"/></body></opml>`: "not_a_feed: the source is of kind catalog, but this is a list of feeds",
		`{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[]}`:              "not_a_feed: the source is of kind catalog, but this is JSON",
		`<html><head></head><body>x</body></html>`:                                           "not_a_feed: this is an HTML page",
		`hello`: "not_a_feed: the document is not a catalogue", ` `: "empty:", `<a><b>x</b></a>`: "not_a_feed: the document is not a catalogue",
	} {
		r, err := readText(text, read.Options{Kind: courant.KindCatalog})
		if !errors.Is(err, courant.Invalid) || !strings.HasPrefix(err.Error(), want) || r.WellFormed {
			t.Errorf("%s: well formed %v, %v", text, r.WellFormed, err)
		}
	}
}

// What is read to detect the format must reach the reader too, and the error of the
// storage with it.
func TestALongHeadIsReadOnce(t *testing.T) {
	long := strings.Repeat("word ", 100_000)
	failed := errors.New("input/output error")
	for _, text := range []string{rss(ns, strings.Replace(product, "<item>", "<item><description>"+long+"</description>", 1)), rss("", "<description>"+long+"</description>"+post)} {
		for _, end := range []error{nil, failed} {
			var src io.Reader = strings.NewReader(text)
			if end != nil {
				src = io.MultiReader(src, brokenReader{end})
			}
			r, err := read.Read(func() (io.ReadCloser, error) { return io.NopCloser(src), nil }, read.Options{})
			if err != nil || len(r.Items)+len(r.Offers) != 1 || r.WellFormed != (end == nil) {
				t.Errorf("%s: %d items, %d offers, well formed %v, %v", r.Format, len(r.Items), len(r.Offers), r.WellFormed, err)
			}
		}
	}
}

type brokenReader struct{ err error }

func (b brokenReader) Read([]byte) (int, error) { return 0, b.err }

func TestAnUnknownEncodingIsNamed(t *testing.T) {
	yml := `<yml_catalog><shop><offers><offer id="1"><name>N</name></offer></offers></shop></yml_catalog>`
	sitemap := `<urlset><url><loc>https://a.example/</loc></url></urlset>`
	for _, document := range []string{yml, sitemap, rss(ns, product)} {
		for declaration, want := range map[string]string{
			``: "", `<?xml version="1.0" encoding="UTF-8"?>`: "", `<?xml version="1.0" encoding="utf8"?>`: "", `<?xml version='1.0' encoding='windows-9999' standalone='yes'?>`: "windows-9999",
			`<?xml version="1.0" encoding = "x-shop"?>`: "x-shop",
		} {
			r, err := readText(declaration+document, read.Options{URL: "https://a.example/"})
			told := len(r.Warnings) > 0 && r.Warnings[0].Code == "encoding" && strings.Contains(r.Warnings[0].Text, want)
			if err != nil || told != (want != "") || r.WellFormed == told {
				t.Errorf("%s: %s: %+v, %v", r.Format, declaration, r.Warnings, err)
			}
		}
		if r, err := readText(document, read.Options{ContentType: "text/xml; charset=x-shop"}); err != nil || len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0].Text, "x-shop") {
			t.Errorf("%s: %+v, %v", r.Format, r.Warnings, err)
		}
	}
}

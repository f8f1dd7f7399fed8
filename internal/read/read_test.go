package read_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"compress/gzip"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/read"
)

func gz(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

func TestTheFormatIsDetectedFromTheBytes(t *testing.T) {
	const offer = `<g:id>1</g:id><title>T</title><g:price>5 USD</g:price><g:condition>new</g:condition>`
	for text, want := range map[string]string{
		`<rss version="2.0"><channel><title>T</title><item><link>https://a.example/</link></item></channel></rss>`:                                                      "rss20",
		`<rss version="2.0"><channel><item><link>https://a.example/</link><description>&lt;urlset> <![CDATA[<yml_catalog <opml]]></description></item></channel></rss>`: "rss20",
		`<yml_catalog><shop><offers><offer id="1"><name>N</name></offer></offers></shop></yml_catalog>`:                                                                 "yml",
		"\ufeff<?xml version=\"1.0\"?>\n<!-- <rss -->" + `<yml_catalog><shop><offers><offer id="1"><name>N</name></offer></offers></shop></yml_catalog>`:                "yml",
		`<rss xmlns:g="http://base.google.com/ns/1.0"><channel><item>` + offer + `</item></channel></rss>`:                                                              "merchant",
		`<rss xmlns:p="http://base.google.com/ns/1.0"><channel><item>` + strings.ReplaceAll(offer, "g:", "p:") + `</item></channel></rss>`:                              "merchant",
		`<rss xmlns:g="http://base.google.com/ns/1.0"><channel><item><title>T</title><link>https://a.example/</link></item></channel></rss>`:                            "rss20",
		`<urlset><url><loc>https://a.example/</loc></url></urlset>`:                                                                                                     "sitemap",
		`<sitemapindex><sitemap><loc>https://a.example/</loc></sitemap></sitemapindex>`:                                                                                 "sitemapindex",
		"https://a.example/\nhttps://a.example/b\n":                                                                                                                     "sitemap",
		`<opml version="2.0"><body><outline text="T" xmlUrl="https://a.example/feed"/></body></opml>`:                                                                   "opml",
	} {
		for _, body := range []string{text, gz(text), gz(gz(text))} {
			r, err := read.Read(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }, read.Options{})
			if err != nil || r.Format != want || !r.Complete {
				t.Errorf("%.60q: %s, complete %v, %v", text, r.Format, r.Complete, err)
			}
		}
	}
}

func TestUnreadableDocumentsSayWhy(t *testing.T) {
	for text, want := range map[string]string{"": "empty", "hello": "not_a_feed", "<html><body>x</body></html>": "not_a_feed", "\x1f\x8b\x00": "malformed", gz(""): "empty"} {
		_, err := read.Read(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }, read.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), want+":") {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func TestAnArchiveThatIsCutOffGivesWhatIsThere(t *testing.T) {
	packed := gz(`<rss version="2.0"><channel><title>T</title>` + strings.Repeat("<item><link>https://a.example/</link><title>T</title></item>", 500) + `</channel></rss>`)
	r, err := read.Read(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(packed[:len(packed)-8])), nil }, read.Options{})
	if err != nil || r.WellFormed || len(r.Items) == 0 || r.Warnings[len(r.Warnings)-1].Code != "truncated" {
		t.Errorf("%d items, %+v, %v", len(r.Items), r.Warnings, err)
	}
}

func TestADamagedArchiveIsNotATruncatedDocument(t *testing.T) {
	item := `<item><link>https://a.example/</link><title>T</title></item>`
	for format, text := range map[string]string{
		"rss20": `<rss version="2.0"><channel>` + item + `</channel></rss>`,
		"yml":   `<yml_catalog><shop><categories><category id="1">C</category></categories><offers><offer id="1"><name>N</name><categoryId>1</categoryId></offer></offers></shop></yml_catalog>`,
	} {
		packed := gz(text)
		damaged := []byte(packed)
		damaged[len(damaged)-8] ^= 1
		for body, want := range map[string]string{packed: "", packed + "junk": "bad-archive", string(damaged): "bad-archive", packed[:len(packed)-4]: "truncated"} {
			r, err := read.Read(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }, read.Options{})
			var codes []string
			for _, w := range r.Warnings {
				codes = append(codes, w.Code)
			}
			if got := strings.Join(codes, " "); err != nil || r.Format != format || got != want || len(r.Items)+len(r.Offers) != 1 {
				t.Errorf("%s: %q, want %q; %v", format, got, want, err)
			}
		}
	}
}

func TestAFeedOverTheRobotsLimitGivesAWarning(t *testing.T) {
	text := `<rss version="2.0"><channel>` + strings.Repeat(" ", read.UsualFeed) + `<item><link>https://a.example/</link><title>T</title></item></channel></rss>`
	r, err := read.Read(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }, read.Options{})
	if err != nil || len(r.Items) != 1 || len(r.Warnings) != 1 || r.Warnings[0].Code != "large-feed" || !r.WellFormed {
		t.Errorf("%+v, %v", r.Warnings, err)
	}
}

func TestAFeedMayHaveASmallerLimit(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	fmt.Fprintf(z, `<rss version="2.0"><channel><item><title>%s</title></item></channel></rss>`, strings.Repeat("a", 5000))
	z.Close()
	for most, want := range map[int64]string{0: "", 10_000: "", 5000: "too_large: the feed is larger than 5000 bytes", 1 << 40: ""} {
		_, err := read.Read(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil }, read.Options{MaxFeed: most})
		if got := fmt.Sprint(err); (err != nil || want != "") && got != want {
			t.Errorf("at most %d bytes: %v", most, err)
		}
	}
}

// Files of unknown origin use the addresses that they have for themselves.
func TestRelativeAddressesOfAFileAreBelowItsSite(t *testing.T) {
	const site = "https://a.example/blog/"
	for name, text := range map[string]string{
		"RSS":       `<rss version="2.0"><channel><link>` + site + `</link><item><link>one</link><description>a</description></item></channel></rss>`,
		"Atom":      `<feed xmlns="http://www.w3.org/2005/Atom"><link href="` + site + `"/><entry><link href="one"/><title>a</title></entry></feed>`,
		"Atom self": `<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="` + site + `feed"/><entry><link href="one"/><title>a</title></entry></feed>`,
		"JSON":      `{"version":"https://jsonfeed.org/version/1","home_page_url":"` + site + `","items":[{"id":"1","url":"one","content_text":"a"}]}`,
		"YML": `<yml_catalog><shop><url>` + site + `</url><currencies><currency id="RUB" rate="1"/></currencies><offers><offer id="1"><name>a</name><price>1</price>
			<currencyId>RUB</currencyId><url>one</url></offer></offers></shop></yml_catalog>`,
		"Merchant": `<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel><link>` + site + `</link>
			<item><g:id>1</g:id><g:title>a</g:title><g:price>1 RUB</g:price><g:link>one</g:link></item></channel></rss>`,
	} {
		r, err := read.Read(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }, read.Options{})
		got := ""
		for _, it := range r.Items {
			got += it.Link
		}
		for _, o := range r.Offers {
			got += o.URL
		}
		if err != nil || got != site+"one" {
			t.Errorf("%s: %q, %v, %+v", name, got, err, r.Warnings)
		}
	}
}

func TestAListOffersOnlyAddresses(t *testing.T) {
	text := `<opml version="2.0"><body><outline text="A" xmlUrl="http://a.example/"/><outline text="B" xmlUrl="javascript:alert(1)"/></body></opml>`
	r, err := read.Read(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }, read.Options{})
	if err != nil || len(r.Links) != 1 || len(r.Warnings) != 1 || r.Warnings[0].Code != "bad-link" {
		t.Errorf("%+v, %+v, %v", r.Links, r.Warnings, err)
	}
}

// A server that compresses while it writes may send any beginning of a file. Where
// nothing can be read of it, that is an error of the file, not of the storage.
func TestAnArchiveCutOffAnywhereIsReadOrRefused(t *testing.T) {
	for name, packed := range map[string]string{
		"gzip of a feed":      gz(`<rss version="2.0"><channel><title>` + strings.Repeat("T ", 200) + `</title></channel></rss>`),
		"gzip of a catalogue": gz(`<yml_catalog><shop><offers>` + strings.Repeat(`<offer id="1"><name>N</name></offer>`, 50) + `</offers></shop></yml_catalog>`),
		"zstd":                string(pack.Bytes([]byte(`<rss version="2.0"><channel><title>` + strings.Repeat("T ", 200) + `</title></channel></rss>`))),
	} {
		for cut := range len(packed) {
			_, err := read.Read(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(packed[:cut])), nil }, read.Options{Offer: func(*courant.Offer) error { return nil }})
			if err != nil && !errors.Is(err, courant.Invalid) {
				t.Fatalf("%s cut at %d: %v", name, cut, err)
			}
		}
	}
}

func TestAStorageThatFailsIsNotABadFile(t *testing.T) {
	failed := errors.New("input/output error")
	_, err := read.Read(func() (io.ReadCloser, error) { return io.NopCloser(iotest.ErrReader(failed)), nil }, read.Options{})
	if !errors.Is(err, failed) || errors.Is(err, courant.Invalid) {
		t.Errorf("got %v", err)
	}
}

package sitemap_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/read/sitemap"
)

const ns = `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`

func read(t *testing.T, text string) *courant.Reading {
	t.Helper()
	r, err := sitemap.Read(strings.NewReader(text), sitemap.Options{URL: "https://site.example/sitemap.xml"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func locs(r *courant.Reading) (out []string) {
	for _, u := range r.URLs {
		out = append(out, u.Loc)
	}
	return out
}

func TestEveryFormIsRead(t *testing.T) {
	for text, want := range map[string]struct {
		format string
		locs   []string
	}{
		`<urlset ` + ns + `><url><loc> https://site.example/a?x=1&amp;y=2 </loc></url><url><loc><![CDATA[https://site.example/b?x=1&y=2]]></loc></url></urlset>`:                                                             {"sitemap", []string{"https://site.example/a?x=1&y=2", "https://site.example/b?x=1&y=2"}},
		`<sitemapindex ` + ns + `><sitemap><loc>https://other.example/s.xml.gz</loc></sitemap></sitemapindex>`:                                                                                                               {"sitemapindex", []string{"https://other.example/s.xml.gz"}},
		"https://site.example/a\r\n\nhttps://site.example/b\n":                                                                                                                                                               {"sitemap", []string{"https://site.example/a", "https://site.example/b"}},
		`<urlset><url><loc>/relative</loc></url></urlset>`:                                                                                                                                                                   {"sitemap", []string{"https://site.example/relative"}},
		`<s:urlset xmlns:s="http://www.google.com/schemas/sitemap/0.84"><s:url><s:loc>https://site.example/a</s:loc></s:url></s:urlset>`:                                                                                     {"sitemap", []string{"https://site.example/a"}},
		`<urlset ` + ns + ` xmlns:image="http://www.google.com/schemas/sitemap-image/9.9"><url><image:image><image:loc>https://site.example/i.jpg</image:loc></image:image><loc>https://site.example/e</loc></url></urlset>`: {"sitemap", []string{"https://site.example/e"}},
		`<urlset ` + ns + `><url><loc>https://site.example/a</loc><url><loc>https://site.example/b</loc></url></urlset>`:                                                                                                     {"sitemap", []string{"https://site.example/a", "https://site.example/b"}},
		`<urlset ` + ns + `><url><loc>https://site.example/a</loc></url><url><loc>https://site.exam`:                                                                                                                         {"sitemap", []string{"https://site.example/a"}},
		`<urlset ` + ns + `><url><loc>javascript:x</loc></url><url><loc>https://foreign.example/</loc></url><url><loc>https://www.site.example/</loc></url><url></url></urlset>`:                                             {"sitemap", []string{"https://www.site.example/"}},
	} {
		if r := read(t, text); r.Format != want.format || !reflect.DeepEqual(locs(r), want.locs) {
			t.Errorf("%s\n%s %q, want %s %q", text, r.Format, locs(r), want.format, want.locs)
		}
	}
}

func TestTheExtensionsAreRead(t *testing.T) {
	r := read(t, `<urlset `+ns+` xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
		xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"><url><loc>https://site.example/a</loc><lastmod>2026-01-02</lastmod><changefreq>Daily</changefreq><priority>0.8</priority>
		<news:news><news:publication><news:name>Paper</news:name><news:language>en</news:language></news:publication><news:publication_date>2026-01-02T03:04:05+03:00</news:publication_date>
		<news:title>Title &amp; more</news:title></news:news><image:image><image:loc>/1.jpg</image:loc></image:image><image:image><image:loc>/2.jpg</image:loc></image:image>
		<video:video><video:title>V</video:title><video:content_loc>/v.mp4</video:content_loc></video:video></url></urlset>`)
	u := r.URLs[0]
	if r.Format != "newssitemap" || u.Title != "Title & more" || u.Name != "Paper" || u.Language != "en" || u.Published.Format("15:04Z07") != "00:04Z" && u.Published.UTC().Hour() != 0 ||
		u.Modified.Format("2006-01-02") != "2026-01-02" || u.Changes != "daily" || u.Priority != "0.8" ||
		!reflect.DeepEqual(u.Images, []string{"https://site.example/1.jpg", "https://site.example/2.jpg"}) || !reflect.DeepEqual(u.Videos, []string{"https://site.example/v.mp4"}) {
		t.Errorf("got %+v", r)
	}
}

func TestWhatIsLeftOutIsSaid(t *testing.T) {
	for text, want := range map[string]string{
		`<urlset><url><lastmod>2026-01-02</lastmod></url></urlset>`:                              "entry-without-loc",
		`<urlset><url><loc>mailto:x</loc></url></urlset>`:                                        "bad-link",
		`<urlset><url><loc>https://foreign.example/</loc></url></urlset>`:                        "foreign-url",
		`<urlset><url><loc>/a</loc><lastmod>yesterday</lastmod></url></urlset>`:                  "bad-date",
		`<urlset><url><loc>/a</loc></url>`:                                                       "truncated",
		`<urlset>` + strings.Repeat(`<url><loc>/a</loc></url>`, sitemap.MaxURLs+1) + `</urlset>`: "too-many-urls",
	} {
		r := read(t, text)
		if len(r.Warnings) == 0 || r.Warnings[0].Code != want || len(r.URLs) > sitemap.MaxURLs {
			t.Errorf("%.80s: %+v", text, r.Warnings)
		}
	}
	if _, err := sitemap.Read(strings.NewReader(" "), sitemap.Options{}); !errors.Is(err, courant.Invalid) || !strings.HasPrefix(err.Error(), "empty:") {
		t.Errorf("empty: %v", err)
	}
}

func TestTextIsASitemapIfItsLinesAreAddresses(t *testing.T) {
	for text, want := range map[string]bool{"https://a.example/\nhttps://b.example/": true, "https://a.example/": true, "https://a.example/ text": false, "<a>": false, "": false,
		"see https://a.example/": false, "https://a.example/\nhttps://b.exa": true} {
		if got := sitemap.Text(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestWhatStandsBeforeASitemapIsTold(t *testing.T) {
	document := `<urlset ` + ns + `><url><loc>https://site.example/a</loc></url></urlset>`
	for before, junk := range map[string]bool{
		"": false, `<?xml version="1.0"?>`: false, "\n<!-- x -->": false, "\n" + `<?xml version="1.0"?>`: true, "text ": true, "<b>Notice</b> in <b>y.php<br>\n": true, "<html><body>": true, strings.Repeat("<br>x\n", 300): true,
	} {
		r := read(t, before+document)
		if got := len(r.Warnings) > 0 && r.Warnings[0].Code == "junk-before"; got != junk || r.WellFormed == junk || len(r.URLs) != 1 {
			t.Errorf("after %q: %+v, well formed %v, %d addresses", before, r.Warnings, r.WellFormed, len(r.URLs))
		}
	}
}

func TestWhatIsIgnoredIsNamedOnce(t *testing.T) {
	entry := `<url><loc>https://site.example/a?x=1&amp;amp;y=2</loc><rank>1</rank><image:image><image:loc>/1.jpg</image:loc><image:caption>C</image:caption><image:title/></image:image>` +
		`<video:video><video:title>V</video:title><video:content_loc>/v.mp4</video:content_loc></video:video><xhtml:link rel="alternate" href="/de"/><priority>0.5</priority><priority>0.6</priority><lastmod/></url>`
	r := read(t, `<urlset `+ns+` xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml">`+entry+entry+`</urlset>`)
	var names []string
	for _, w := range r.Warnings {
		if w.Code != "ignored" || w.Level != courant.LevelInfo || !strings.Contains(w.Text, w.Element) {
			t.Errorf("got %+v", w)
		}
		names = append(names, w.Element)
	}
	if got := strings.Join(names, " "); got != "rank image:caption video:title xhtml:link priority" || r.URLs[0].Loc != "https://site.example/a?x=1&y=2" || r.URLs[1].Priority != "0.5" {
		t.Errorf("%s, %+v", got, r.URLs)
	}
	if many := read(t, `<urlset `+ns+` xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><url><loc>/a</loc>`+strings.Repeat(`<image:image><image:loc>/1.jpg</image:loc></image:image>`, 1001)+
		`</url><url><loc>/b</loc><image:image><image:loc>mailto:x</image:loc></image:image></url></urlset>`); len(many.Warnings) != 2 || many.Warnings[0].Code != "too-many" || many.Warnings[1].Code != "bad-link" {
		t.Errorf("%+v", many.Warnings)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`<urlset><url><loc>https://site.example/</loc><lastmod>2026</lastmod></url></urlset>`)
	f.Add("https://site.example/\nhttps://site.example/b")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := sitemap.Read(strings.NewReader(text), sitemap.Options{URL: "https://site.example/s.xml"})
		if err != nil && !errors.Is(err, courant.Invalid) {
			t.Fatal(err)
		}
		for _, u := range r.URLs {
			if !strings.HasPrefix(u.Loc, "http") {
				t.Fatalf("%+v", u)
			}
		}
	})
}

package feed_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/courant-platform/courant/internal/read/feed"
)

// suite returns the path of a public suite, or skips.
func suite(t testing.TB, name string) string {
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

// files calls f for every file below a folder.
func files(t testing.TB, root string, f func(path string, body []byte)) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		if err == nil {
			f(path, body)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheWellFormedFeedsOfFeedparserAreFeeds(t *testing.T) {
	root := suite(t, "feedparser/tests/wellformed")
	for _, group := range []string{"atom", "atom10", "rss", "rdf", "namespace", "sanitize", "cdf"} {
		files(t, filepath.Join(root, group), func(path string, body []byte) {
			if _, err := feed.Read(body, feed.Options{URL: url}); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		})
	}
}

func TestEveryFileOfTheSuitesIsReadWithoutAPanic(t *testing.T) {
	for _, name := range []string{"feedvalidator", "feedparser", "gofeed", "bugcases"} {
		files(t, suite(t, name), func(path string, body []byte) {
			_, _ = feed.Read(body, feed.Options{URL: url})
		})
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"rss.xml", "atom.xml", "off-spec.json"} {
		body, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	for _, s := range []string{
		rss("<item><title>a<link>b<item><guid>c"), "<rdf:RDF><item rdf:about='x'><dc:date>2024", "<feed><entry><title type='xhtml'><div>a<content mode='base64'>YQ==",
		"<feed><at:deleted-entry ref='x'><entry><author>a<source><author><name>b", "junk<rss><channel><image><url>x<item><media:group><media:content url='x'><item>",
		`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":1,"content_text":"a\n\nb","authors":{"name":"x"}},{"url":"/a","attachments":[{"url":"/b.mp3"}]`,
		"{\"items\":[{\"title\":\"a\nb\",},3,[],{\"content_html\":\"<script>\"}]}", `<!DOCTYPE rss [<!ENTITY a "b&c;">]><rss><item><title>&a;<link>x http://y/ z`,
		"<service><collection href='/x'><atom:title>t", "<CHANNEL HREF='/x'><ITEM HREF='/y' LASTMOD='2024-01-02'><LOGO HREF='/z'>",
		"<html><link rel=alternate type=application/rss+xml href=x>", "\xff\xfe<\x00r\x00s\x00s\x00>\x00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := feed.Read(body, feed.Options{URL: url})
		if r == nil || err == nil && r.Format == "unknown" && len(r.Links) == 0 && !bytes.Contains(bytes.ToLower(body), []byte("service")) {
			t.Fatalf("%q: %+v, %v", body, r, err)
		}
		for _, it := range r.Items {
			if it.ID == "" || len(it.Hash) != 32 || strings.Contains(it.Content, "<script") || it.Link != "" && !strings.HasPrefix(it.Link, "http") {
				t.Errorf("%q: %+v", body, it)
			}
		}
		again, _ := feed.Read(bytes.Clone(body), feed.Options{URL: url})
		for i, it := range again.Items {
			if it.Hash != r.Items[i].Hash {
				t.Errorf("%q: the hash of item %d changes", body, i)
			}
		}
	})
}

// large is a feed of 100 full articles, in CDATA or escaped.
func large(escaped bool) []byte {
	body := strings.Repeat(`<p>The city council voted on Tuesday to approve a new budget that, according to its authors, will <b>reduce spending</b> on roads by 12&nbsp;% and raise it on schools, which had <a href="https://news.example/2024/05/17/earlier">waited</a>.</p>
<figure><img src="/img/1234.jpg" alt="The council" /><figcaption>The council in session</figcaption></figure>
<p>Город принял бюджет, который, по словам его авторов, сократит расходы на дороги.</p>
`, 6)
	text := "<![CDATA[" + body + "]]>"
	if escaped {
		text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(body)
	}
	return []byte(rss(numbered(`<item><title>A headline of ordinary length &amp; weight</title><link>https://site.example/news/%d</link>
<guid isPermaLink="false">%d</guid><pubDate>Mon, 02 Jan 2006 15:04:05 -0700</pubDate><dc:creator xmlns:dc="http://purl.org/dc/elements/1.1/">Ann Author</dc:creator>
<description>Some words of an ordinary summary, not very long.</description><content:encoded xmlns:content="http://purl.org/rss/1.0/modules/content/">`+
		text+`</content:encoded></item>
`, 100)))
}

func benchmark(b *testing.B, body []byte) {
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := feed.Read(body, feed.Options{URL: url}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadOfCDATA(b *testing.B) { benchmark(b, large(false)) }

func BenchmarkReadOfEscapedText(b *testing.B) { benchmark(b, large(true)) }

// BenchmarkReadOfAFile reads the file that COURANT_FEED names.
func BenchmarkReadOfAFile(b *testing.B) {
	body, err := os.ReadFile(os.Getenv("COURANT_FEED"))
	if err != nil {
		b.Skip("COURANT_FEED names no file")
	}
	benchmark(b, body)
}

//go:build unix && peers

// Package reader compares the reader of feeds and catalogues with gofeed and with
// encoding/xml, and the cleaner with bluemonday.
//
// It is a separate module, so that Courant depends on neither.
package reader

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
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

// BenchmarkRead reads the same 100 items in each dialect. "raw" leaves HTML as it is,
// as gofeed does; "cleaned" is the whole reader against gofeed, which does not clean;
// "both" is the whole reader against gofeed followed by bluemonday; "tokens" is the
// scanner alone against encoding/xml's RawToken, the lower bound of every reader that
// uses it.
func BenchmarkRead(b *testing.B) {
	texts := dialects()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		body := []byte(text)
		b.Run(name+"/raw", func(b *testing.B) { against(b, len(body), ours(b, body, feed.ReadRaw), theirs(b, body, nil)) })
		b.Run(name+"/cleaned", func(b *testing.B) { against(b, len(body), ours(b, body, feed.Read), theirs(b, body, nil)) })
		b.Run(name+"/both", func(b *testing.B) {
			against(b, len(body), ours(b, body, feed.Read), theirs(b, body, bluemonday.UGCPolicy()))
		})
		if name != "json" {
			b.Run(name+"/tokens", func(b *testing.B) { against(b, len(body), func() { scan(b, text) }, func() { rawTokens(b, body) }) })
		}
	}
}

// ours reads a feed of dialects.
func ours(b *testing.B, body []byte, read func([]byte, feed.Options) (*courant.Reading, error)) func() {
	return func() {
		r, err := read(body, feed.Options{URL: "https://site.example/feed"})
		if err != nil || len(r.Items) != 100 || r.Items[99].Content == "" || r.Items[7].Published.IsZero() {
			b.Fatal(err, len(r.Items))
		}
	}
}

// theirs reads the same with gofeed, and cleans it if there is a policy.
func theirs(b *testing.B, body []byte, policy *bluemonday.Policy) func() {
	return func() {
		f, err := gofeed.NewParser().Parse(bytes.NewReader(body))
		if err != nil || len(f.Items) != 100 || f.Items[99].Content+f.Items[99].Description == "" || f.Items[7].PublishedParsed == nil {
			b.Fatal(err)
		}
		if policy == nil {
			return
		}
		for _, it := range f.Items {
			it.Description, it.Content = policy.Sanitize(it.Description), policy.Sanitize(it.Content)
		}
	}
}

// BenchmarkPublicFeeds reads, without cleaning, the files of public suites and samples
// that both readers accept as feeds.
func BenchmarkPublicFeeds(b *testing.B) {
	for _, name := range []string{"gofeed", "../samples"} {
		var bodies [][]byte
		size := 0
		files(b, suite(b, name), func(path string, body []byte) {
			if ext := filepath.Ext(path); ext != ".xml" && ext != ".json" {
				return
			}
			_, err := feed.Read(body, feed.Options{})
			if _, failed := gofeed.NewParser().Parse(bytes.NewReader(body)); err == nil && failed == nil {
				bodies = append(bodies, body)
				size += len(body)
			}
		})
		b.Run(filepath.Base(name), func(b *testing.B) {
			against(b, size, func() {
				for _, body := range bodies {
					_, _ = feed.ReadRaw(body, feed.Options{URL: "https://site.example/feed"})
				}
			}, func() {
				for _, body := range bodies {
					_, _ = gofeed.NewParser().Parse(bytes.NewReader(body))
				}
			})
			b.ReportMetric(float64(len(bodies)), "files")
		})
	}
}

// suite returns the path of a public suite, or skips.
func suite(b *testing.B, name string) string {
	shared := os.Getenv("COURANT_SHARED")
	if shared == "" {
		shared = "../../../../../shared"
	}
	path := filepath.Join(shared, "suites", name)
	if _, err := os.Stat(path); err != nil {
		b.Skipf("%s does not exist: set COURANT_SHARED to the folder that has suites", path)
	}
	return path
}

// files calls f for every file below a folder.
func files(b *testing.B, root string, f func(path string, body []byte)) {
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
		b.Fatal(err)
	}
}

// rounds is how often two sides are compared; odd, for the median.
const rounds = 7

// against measures f as usual, and then f and its peer alternately: metric "x" is the
// peer's CPU time divided by f's, the median of the rounds; the other metrics are of the
// best round. Other load on the machine hardly changes them. It returns the best CPU
// time of f.
func against(b *testing.B, size int, f, peer func()) time.Duration {
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
	var each, their [rounds]time.Duration
	var times [rounds]float64
	var allocs float64
	for i := range rounds {
		each[i], _ = cost(b, f)
		their[i], allocs = cost(b, peer)
		times[i] = float64(their[i]) / float64(each[i])
	}
	slices.Sort(times[:])
	best := slices.Min(each[:])
	b.ReportMetric(times[rounds/2], "x")
	b.ReportMetric(float64(size)/best.Seconds()/1e6, "MB/cpu-s")
	b.ReportMetric(float64(size)/slices.Min(their[:]).Seconds()/1e6, "peer-MB/cpu-s")
	b.ReportMetric(allocs, "peer-allocs/op")
	return best
}

// cost returns the CPU time of one call of f, including garbage collection, and its
// number of allocations.
func cost(b *testing.B, f func()) (each time.Duration, allocs float64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n, start, spent := 0, cpu(b), time.Duration(0)
	for ; spent < 50*time.Millisecond; spent = cpu(b) - start {
		f()
		n++
	}
	runtime.ReadMemStats(&after)
	return spent / time.Duration(n), float64(after.Mallocs-before.Mallocs) / float64(n)
}

// cpu is the CPU time of this process.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
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

// rawTokens reads all tokens with encoding/xml.
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

// BenchmarkCatalog reads a catalogue of 20,000 offers, against encoding/xml's RawToken.
func BenchmarkCatalog(b *testing.B) {
	const offers = 20_000
	var t strings.Builder
	t.WriteString(`<?xml version="1.0" encoding="UTF-8"?><yml_catalog date="2026-01-02 03:04"><shop><name>S</name><categories><category id="1">Phones</category></categories><offers>`)
	for i := range offers {
		fmt.Fprintf(&t, `<offer id="%[1]d" available="true" group_id="%[2]d"><url>http://shop.example/offer/%[1]d</url><price>%[1]d.50</price><oldprice>99999</oldprice><currencyId>RUR</currencyId><categoryId>1</categoryId><picture>http://shop.example/i/%[1]d.jpg</picture><name>Смартфон Acme %[1]d</name><vendor>Acme</vendor><model>M %[1]d</model><description><![CDATA[<p>Хороший <b>смартфон</b>.</p><p>Большой экран, долгая работа.</p>]]></description><param name="Цвет">чёрный</param><param name="Память" unit="ГБ">128</param></offer>`, i, i/4)
	}
	t.WriteString(`</offers></shop></yml_catalog>`)
	text := t.String()
	each := against(b, len(text), func() {
		n := 0
		if _, err := catalog.Read(strings.NewReader(text), catalog.Options{Offer: func(*courant.Offer) error { n++; return nil }}); err != nil || n != offers {
			b.Fatal(err, n)
		}
	}, func() { rawTokens(b, []byte(text)) })
	b.ReportMetric(offers/each.Seconds(), "offers/cpu-s")
}

// BenchmarkUnchanged measures the cost of a feed of 100 items with the same content as
// before in other bytes: reading it and hashing each item.
func BenchmarkUnchanged(b *testing.B) {
	body := []byte(dialects()["rss-cdata"])
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	seen := map[string]bool{}
	again := func() {
		r, err := feed.Read(body, feed.Options{URL: "https://site.example/feed"})
		if err != nil {
			b.Fatal(err)
		}
		for _, i := range r.Items {
			seen[i.Hash] = true
		}
	}
	for b.Loop() {
		again()
	}
	each, _ := cost(b, again)
	for range rounds - 1 {
		next, _ := cost(b, again)
		each = min(each, next)
	}
	b.ReportMetric(float64(each.Nanoseconds())/100/1000, "cpu-µs/item")
	if len(seen) != 100 {
		b.Fatal(len(seen))
	}
}

// BenchmarkClean cleans an article, against bluemonday's UGCPolicy.
func BenchmarkClean(b *testing.B) {
	text := strings.Repeat(prose(1), 3)
	policy := bluemonday.UGCPolicy()
	c := markup.Cleaner{Base: "https://site.example/"}
	var out []byte
	against(b, len(text), func() { out, _ = c.Append(out[:0], text) }, func() { policy.Sanitize(text) })
}

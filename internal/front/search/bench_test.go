package search

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/gbdt"
	"github.com/courant-platform/courant/internal/read/catalog"
	"github.com/courant-platform/courant/internal/search/index"
	"github.com/courant-platform/courant/internal/search/shard"
)

// The benchmarks read catalogues and queries that mkshop makes:
//
//	COURANT_CATALOGS='/data/*.yml.gz' COURANT_QUERIES=/data/queries.jsonl go test -run '^$' -bench . -timeout 1h ./internal/front/search
//
// COURANT_SYNONYMS and COURANT_MODEL name files as the configuration does.

// filled is a search with all offers of the catalogues.
func filled(b *testing.B) (*Search, *index.Index) {
	files, err := filepath.Glob(os.Getenv("COURANT_CATALOGS"))
	if err != nil || len(files) == 0 {
		b.Skip("COURANT_CATALOGS names no files")
	}
	c := Defaults()
	c.Synonyms = os.Getenv("COURANT_SYNONYMS")
	x := &index.Index{Config: index.Defaults(), RegionParam: "Regions"}
	x.Config.Model = os.Getenv("COURANT_MODEL")
	s := &Search{Config: c, Index: x.Config, Backend: x}
	if err := errors.Join(x.Open(), s.Open()); err != nil {
		b.Fatal(err)
	}
	var next, ids, spent atomic.Int64
	var all sync.WaitGroup
	before := heap()
	began := time.Now()
	for range 2 {
		all.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(files); i = next.Add(1) - 1 {
				if err := fill(x, files[i], &ids, &spent); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	put := time.Now()
	x.Sort()
	n := ids.Load()
	texts := x.Texts()
	b.Logf("%d offers: %.0f s with reading the files, of which %.0f s of indexing; %.1f s to sort all again", n, put.Sub(began).Seconds(),
		time.Duration(spent.Load()).Seconds(), time.Since(put).Seconds())
	b.Logf("%.0f bytes an offer, of them %.0f of texts; kernel %s", float64(heap()-before)/float64(n), float64(texts)/float64(n), gbdt.Kernel())
	return s, x
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// fill puts a catalogue into the index; one at a time changes it.
func fill(x *index.Index, path string, ids, spent *atomic.Int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := gzip.NewReader(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	var docs []shard.Doc
	flush := func() {
		loading.Lock()
		began := time.Now()
		x.Put(docs, nil, 1)
		docs = docs[:0]
		spent.Add(int64(time.Since(began)))
		loading.Unlock()
	}
	_, err = catalog.Read(r, catalog.Options{URL: "http://shop.example/", Offer: func(o *courant.Offer) error {
		d := shard.Doc{ID: ids.Add(1), Source: name, URL: o.URL, Title: o.Name, Pictures: len(o.Pictures), Published: time.Unix(1.7e9, 0)}
		x.Offer(&d, o)
		if docs = append(docs, d); len(docs) >= 16000 {
			flush()
		}
		return nil
	}})
	flush()
	return err
}

// loading has one goroutine at a time put documents in.
var loading sync.Mutex

// askedOf is a query of a log with its class.
type askedOf struct {
	request
	id, class string
}

func (s *Search) queries(b *testing.B) (all []askedOf) {
	f, err := os.Open(os.Getenv("COURANT_QUERIES"))
	if err != nil {
		b.Skip("COURANT_QUERIES names no file")
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var q struct {
			ID, Class, Text, Category string
			Filters                   struct {
				PriceMin  float64 `json:"price_min"`
				PriceMax  float64 `json:"price_max"`
				Vendor    []string
				Param     map[string][]string
				Available bool
				Region    int
			}
			User struct{ Segment, Budget, Thrift, Haste float32 }
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			b.Fatal(err)
		}
		a := askedOf{id: q.ID, class: q.Class}
		a.Query = shard.Query{Words: s.wordsOf(q.Text), Exact: true, Category: q.Category, Vendors: q.Filters.Vendor, Available: q.Filters.Available,
			Region: q.Filters.Region, PriceMin: int64(math.Round(100 * q.Filters.PriceMin)), PriceMax: int64(math.Round(100 * q.Filters.PriceMax)),
			Top: 48, Share: 1, Person: shard.Person{Segment: int(q.User.Segment), Budget: q.User.Budget, Thrift: q.User.Thrift, Haste: q.User.Haste}}
		for name, values := range q.Filters.Param {
			f := shard.Filter{Name: name}
			for _, v := range values {
				f.Values = append(f.Values, valueOf(v))
			}
			a.Params = append(a.Params, f)
		}
		all = append(all, a)
	}
	return all
}

// BenchmarkQuery measures the CPU time of queries over all shards: by
// class, and the largest category without a filter.
func BenchmarkQuery(b *testing.B) {
	s, x := filled(b)
	byClass := map[string][]askedOf{}
	for _, q := range s.queries(b) {
		byClass[q.class] = append(byClass[q.class], q)
		if len(q.Params)+len(q.Vendors) > 0 && q.class == "category" {
			byClass["category filtered"] = append(byClass["category filtered"], q)
		}
	}
	whole := shard.Query{Exact: true, Category: "1000", Top: 48, Share: 1, Person: shard.Person{Segment: 3, Budget: 0.5, Thrift: 0.2, Haste: 0.4}}
	for _, share := range []float64{1, 0.5, 0.1} {
		q := askedOf{}
		q.Query = whole
		q.Share = share
		byClass[fmt.Sprintf("category 1000, share %v", share)] = []askedOf{q}
	}
	for _, class := range slices.Sorted(func(yield func(string) bool) {
		for c := range byClass {
			if !yield(c) {
				return
			}
		}
	}) {
		qs := byClass[class]
		b.Run(class, func(b *testing.B) {
			var took []time.Duration
			matched, scored, n := 0, 0, 0
			for b.Loop() {
				q := &qs[n%len(qs)].Query
				n++
				p, err := x.Ask(b.Context(), &index.Ask{Query: *q})
				if err != nil {
					b.Fatal(err)
				}
				for _, r := range p.Shards {
					matched += r.Matched
					scored += r.Scored
				}
				took = append(took, p.CPU)
			}
			slices.Sort(took)
			b.ReportMetric(float64(matched)/float64(n), "matched")
			b.ReportMetric(float64(scored)/float64(n), "scored")
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// BenchmarkLog asks each query of the log twice and writes to COURANT_RESULTS what the
// second time took and found, a line each: what test/bench/peers compares. It does so
// for each of COURANT_SHARES ("0.7 0.5"), which is added to the name then. COURANT_TOP
// hits are written, 48 unless set.
func BenchmarkLog(b *testing.B) {
	path := os.Getenv("COURANT_RESULTS")
	if path == "" {
		b.Skip("COURANT_RESULTS names no file")
	}
	s, x := filled(b)
	queries := s.queries(b)
	if top, err := strconv.Atoi(os.Getenv("COURANT_TOP")); err == nil {
		for i := range queries {
			queries[i].Top = top
		}
	}
	logOf(b, x, queries, path)
	for _, text := range strings.Fields(os.Getenv("COURANT_SHARES")) {
		share, err := strconv.ParseFloat(text, 64)
		if err != nil {
			b.Fatal(err)
		}
		for i := range queries {
			queries[i].Share = share
		}
		logOf(b, x, queries, path+"-"+text)
	}
}

func logOf(b *testing.B, x *index.Index, queries []askedOf, path string) {
	out, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	w := json.NewEncoder(out)
	for turn := range 2 {
		for i := range queries {
			q := &queries[i]
			p, err := x.Ask(b.Context(), &index.Ask{Query: q.Query})
			if err != nil {
				b.Fatal(err)
			}
			offers := []string{}
			for _, h := range p.Hits {
				offers = append(offers, strings.TrimPrefix(h.Source, "shop")+"/"+h.Offer)
			}
			if turn == 0 {
				continue
			}
			if err := w.Encode(map[string]any{"id": q.id, "total": p.Total, "ms": float64(p.CPU.Microseconds()) / 1000, "offers": offers}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

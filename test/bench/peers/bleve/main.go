// Command bleve indexes the offers that export.py wrote with bleve and runs its queries.
//
// It is a separate module, so that Courant does not depend on this bleve.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/whitespace"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search/query"
)

type offer struct {
	ID        string   `json:"id"`
	Words     string   `json:"words"`
	Cats      []string `json:"cats"`
	Vendor    string   `json:"vendor"`
	Price     int64    `json:"price"`
	Available bool     `json:"available"`
	Regions   []int    `json:"regions"`
	Params    []string `json:"params"`
}

type ask struct {
	ID, Class, Category string
	Words, Params       [][]string
	Vendors             []string
	Min, Max            int64
	Available           bool
	Region              int
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: bleve DATA INDEX OUT")
	}
	began := cpu()
	x, err := build(os.Args[1], os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("{\"indexed\": %.1f}\n", (cpu() - began).Seconds())
	if err := run(x, os.Args[1], os.Args[3]); err != nil {
		log.Fatal(err)
	}
	var size int64
	filepath.Walk(os.Args[2], func(_ string, i os.FileInfo, err error) error {
		if err == nil && !i.IsDir() {
			size += i.Size()
		}
		return nil
	})
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	fmt.Printf("{\"disk\": %d, \"rss\": %d}\n", size, u.Maxrss*1024)
}

func fields() mapping.IndexMapping {
	m := bleve.NewIndexMapping()
	if err := m.AddCustomAnalyzer("words", map[string]any{"type": custom.Name, "tokenizer": whitespace.Name}); err != nil {
		log.Fatal(err)
	}
	doc := bleve.NewDocumentStaticMapping()
	text := func(analyzer string) *mapping.FieldMapping {
		f := bleve.NewTextFieldMapping()
		f.Analyzer, f.Store, f.IncludeTermVectors, f.IncludeInAll, f.DocValues = analyzer, false, false, false, false
		return f
	}
	doc.AddFieldMappingsAt("words", text("words"))
	for _, name := range []string{"cats", "vendor", "params", "regions", "available"} {
		doc.AddFieldMappingsAt(name, text(keyword.Name))
	}
	price := bleve.NewNumericFieldMapping()
	price.Store, price.IncludeInAll = false, false
	doc.AddFieldMappingsAt("price", price)
	m.DefaultMapping = doc
	return m
}

func build(data, path string) (bleve.Index, error) {
	x, err := bleve.NewUsing(path, fields(), "scorch", "scorch", nil)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(data, "offers.jsonl"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	b := x.NewBatch()
	for lines.Scan() {
		var o offer
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return nil, err
		}
		var regions []string
		for _, r := range o.Regions {
			regions = append(regions, strconv.Itoa(r))
		}
		if err := b.Index(o.ID, map[string]any{"words": o.Words, "cats": o.Cats, "vendor": o.Vendor, "params": o.Params, "regions": regions,
			"available": strconv.FormatBool(o.Available), "price": float64(o.Price)}); err != nil {
			return nil, err
		}
		if b.Size() >= 10_000 {
			if err := x.Batch(b); err != nil {
				return nil, err
			}
			b = x.NewBatch()
		}
	}
	return x, x.Batch(b)
}

func run(x bleve.Index, data, to string) error {
	text, err := os.ReadFile(filepath.Join(data, "queries.jsonl"))
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	for turn := range 2 { // the first warms the caches
		for line := range strings.Lines(string(text)) {
			var a ask
			if err := json.Unmarshal([]byte(line), &a); err != nil {
				return err
			}
			r := bleve.NewSearchRequestOptions(a.query(), 48, 0, false)
			began := cpu()
			found, err := x.Search(r)
			if err != nil {
				return err
			}
			took := cpu() - began
			if turn == 0 {
				continue
			}
			var ids []string
			for _, h := range found.Hits {
				ids = append(ids, h.ID)
			}
			line, err := json.Marshal(map[string]any{"id": a.ID, "total": found.Total, "ms": float64(took.Microseconds()) / 1000, "offers": ids})
			if err != nil {
				return err
			}
			if _, err := out.Write(append(line, '\n')); err != nil {
				return err
			}
		}
	}
	return nil
}

func term(field, value string) query.Query {
	q := bleve.NewTermQuery(value)
	q.SetField(field)
	return q
}

func anyOf(field string, values []string) query.Query {
	if len(values) == 1 {
		return term(field, values[0])
	}
	var all []query.Query
	for _, v := range values {
		all = append(all, term(field, v))
	}
	return bleve.NewDisjunctionQuery(all...)
}

func (a *ask) query() query.Query {
	var must []query.Query
	for _, group := range a.Words {
		must = append(must, anyOf("words", group))
	}
	if a.Category != "" {
		must = append(must, term("cats", a.Category))
	}
	if len(a.Vendors) > 0 {
		must = append(must, anyOf("vendor", a.Vendors))
	}
	for _, values := range a.Params {
		must = append(must, anyOf("params", values))
	}
	if a.Min > 0 || a.Max > 0 {
		lo, hi, yes := float64(max(a.Min, 1)), float64(a.Max), true
		var high *float64
		if a.Max > 0 {
			high = &hi
		}
		q := bleve.NewNumericRangeInclusiveQuery(&lo, high, &yes, &yes)
		q.SetField("price")
		must = append(must, q)
	}
	if a.Available {
		must = append(must, term("available", "true"))
	}
	if a.Region > 0 {
		must = append(must, term("regions", strconv.Itoa(a.Region)))
	}
	return bleve.NewConjunctionQuery(must...)
}

func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

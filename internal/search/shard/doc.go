// Package shard is one shard of the search index, in memory: documents in the order of
// category and prior, the words and properties by which they are found, and the ranking
// of those that match.
//
// Matching documents are counted exactly, whatever share of them is ranked. The package
// does no I/O.
package shard

import (
	"strings"
	"time"
)

// Doc is a document as the index takes it.
type Doc struct {
	ID     int64  // of the page
	Source string // short name
	Offer  string // id of the offer within its source; "" for a page without an offer
	URL    string
	Title  string
	Words  string // the text by which it is found
	// Category is the path from the root: ids, and their names.
	Category, CategoryNames []string
	Vendor, Group           string
	Language, Currency      string
	Price, OldPrice         int64 // hundredths; 0 for none
	Available               bool
	Regions                 Regions
	Published               time.Time
	Params                  []Param
	// Signals are in the order of Config.Signals; NaN if it does not have one.
	Signals []float32
	// Pictures is their number; Length is that of the text in bytes.
	Pictures, Length int
}

// Param is a property to filter by.
type Param struct{ Name, Value string }

// same is a digest of everything that an update in place cannot change.
func (d *Doc) same() uint64 {
	h := uint64(fnvStart)
	put := func(texts ...string) {
		for _, t := range texts {
			h = fnv(h, t) * fnvPrime // between texts
		}
		h = fnv(h, "\x01") // after a list
	}
	put(d.Source, d.Offer, d.URL, d.Title, d.Words, d.Vendor, d.Group, d.Language, d.Currency, d.Regions.String())
	put(d.Category...)
	put(d.CategoryNames...)
	for _, p := range d.Params {
		put(p.Name, p.Value)
	}
	return h
}

// FNV-1a, because it is the same in every process.
const (
	fnvPrime = 1099511628211
	fnvStart = 14695981039346656037
)

func fnv(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * fnvPrime
	}
	return h
}

// record appends the texts that an answer shows, each ended by a zero byte.
func (d *Doc) record(dst []byte) []byte {
	for _, t := range []string{d.Offer, d.URL, d.Title} {
		dst = append(append(dst, strings.ReplaceAll(t, "\x00", " ")...), 0)
	}
	return dst
}

package shard

import (
	"math"
	"strings"
	"time"
)

// Query is what is asked of a shard.
type Query struct {
	Words []Word // all must match; without any, everything that passes the filters does
	Exact bool   // words as written and their synonyms, without stemming
	Near  bool   // fuzzy: also words with typos

	Category  string // an id; includes the categories below it
	Source    string
	Language  string
	Vendors   []string // any of them
	Params    []Filter // all of them
	PriceMin  int64    // hundredths; 0 for no bound, as in PriceMax
	PriceMax  int64
	Available bool
	Region    int // 0 for no filter
	Kind      Kind

	Sort    Sort
	Top     int     // number of hits wanted
	Grouped bool    // only the best offer of each model
	Share   float64 // of the matching documents to rank
	Person  Person
	Explain bool // hits with their features
}

// Word is a word of a query, folded, with its synonyms.
type Word struct {
	Text     string
	Synonyms []string
}

// Filter passes documents with one of the values of a property.
type Filter struct {
	Name   string
	Values []Value
}

// Value is a text or a range of numbers, both ends included.
type Value struct {
	Text   string
	Range  bool
	Lo, Hi float64
}

// Kind is which documents are asked for.
type Kind int

// The kinds.
const (
	All Kind = iota
	Offers
	Pages
)

// Sort is the order of hits.
type Sort int

// The orders.
const (
	Relevance Sort = iota
	Cheapest
	Dearest
	Newest
)

// Person is what is known of the user; NaN for what is not known.
type Person struct {
	Segment               int     // -1 for none
	Budget, Thrift, Haste float32 // of mean 0, of 0 to 1
}

// Nobody is a user of whom nothing is known.
func Nobody() Person {
	n := float32(math.NaN())
	return Person{Segment: -1, Budget: n, Thrift: n, Haste: n}
}

// Answer is what a shard found. Matched, Relaxed and Facets are exact, whatever the
// share.
type Answer struct {
	Matched       int // documents with all words as written
	Relaxed       int // more documents, by stemming and typos
	Considered    int // of both, ranked
	Scored        int // of those, by the whole model
	ShareUsed     float64
	Hits          []Hit
	Facets        Facets // of the matched documents, or of the relaxed ones if there are none
	Conflicts     []Conflict
	Docs, Version int
}

// Hit is a document that was found.
type Hit struct {
	ID         int64
	Score      float64
	Relaxed    bool
	Source     string
	Offer      string
	URL, Title string
	Vendor     string
	Price, Old int64
	Currency   string
	Available  bool
	Published  time.Time
	Group      uint64
	Features   []float32
}

// Conflict is a category to which sources give different names.
type Conflict struct{ ID, Name, Other string }

// space is the memory of a query, which the next one reuses.
type space struct {
	exact, relaxed, part, more set
	counts                     []uint8
	vendors, nodes, within     []uint32
	regions                    []uint8 // by number of a set: 1 has the region, 2 does not, 0 is not known yet
}

// clear makes a set empty and large enough.
func (x *index) clear(s *set) set {
	n := (x.size() + 63) / 64
	if cap(*s) < n {
		*s = make(set, n, n+n/4)
	}
	*s = (*s)[:n]
	clear(*s)
	return *s
}

// match finds the documents within the filters that have all words as written, and
// those that have them only by stemming or with typos.
func (x *index) match(q *Query, s *space) (exact, relaxed set) {
	exact = x.clear(&s.exact)
	if len(q.Words) == 0 {
		copy(exact, x.alive)
		x.filter(q, exact, s)
		return exact, nil
	}
	copy(exact, x.alive)
	for _, w := range q.Words {
		part := x.clear(&s.part)
		x.addWord(w, part)
		exact.and(part)
	}
	if !q.Exact {
		relaxed = x.clear(&s.relaxed)
		copy(relaxed, x.alive)
		for _, w := range q.Words {
			part := x.clear(&s.part)
			x.addWord(w, part)
			x.addForms(w, q.Near, part)
			relaxed.and(part)
		}
		for i := range relaxed {
			relaxed[i] &^= exact[i]
		}
		x.filter(q, relaxed, s)
	}
	x.filter(q, exact, s)
	return exact, relaxed
}

// addWord adds the documents of a word and of its synonyms to a set.
func (x *index) addWord(w Word, to set) {
	x.words.addTo(x.words.find(w.Text), to)
	for _, other := range w.Synonyms {
		x.words.addTo(x.words.find(other), to)
	}
}

// addForms adds to a set the documents of words with the same stem and, if near, of words
// with typos.
func (x *index) addForms(w Word, near bool, to set) {
	for _, id := range x.words.alike(w.Text) {
		x.words.addTo(id, to)
	}
	for _, other := range w.Synonyms {
		for _, id := range x.words.alike(other) {
			x.words.addTo(id, to)
		}
	}
	if near {
		for _, id := range x.words.near(w.Text) {
			x.words.addTo(id, to)
		}
	}
}

// filter drops what does not pass the filters: first those that are sets, then those
// that look at each document.
func (x *index) filter(q *Query, in set, s *space) {
	if q.Category != "" {
		x.inCategory(q.Category, in, s)
	}
	if q.Available {
		in.and(x.available)
	}
	if q.Kind == Offers {
		in.and(x.offers)
	}
	for _, f := range q.Params {
		x.withParam(f, in, s)
	}
	for _, keep := range x.tests(q, s) {
		in.keep(keep)
	}
}

// inCategory drops what is not in the category or below it.
func (x *index) inCategory(category string, in set, s *space) {
	part := x.clear(&s.more)
	s.within = zeros(s.within, len(x.categories.nodes))
	for _, id := range x.categories.below[category] {
		n := &x.categories.nodes[id]
		part.span(n.from, n.to)
		s.within[id] = 1
	}
	for doc := x.sorted; int(doc) < x.size(); doc++ {
		if s.within[x.category[doc]] > 0 {
			part.add(doc)
		}
	}
	in.and(part)
}

// withParam drops what does not have one of a property's values.
func (x *index) withParam(f Filter, in set, s *space) {
	part := x.clear(&s.more)
	name := strings.ToLower(strings.TrimSpace(f.Name))
	for _, v := range f.Values {
		if !v.Range {
			x.params.addTo(x.params.find(name+"\x00"+strings.ToLower(strings.TrimSpace(v.Text))), part)
			continue
		}
		for _, n := range x.params.numbers[name] {
			if v.Lo <= n.value && n.value <= v.Hi {
				x.params.addTo(n.id, part)
			}
		}
	}
	in.and(part)
}

// tests are the filters that look at each document.
func (x *index) tests(q *Query, s *space) (all []func(doc uint32) bool) {
	add := func(on bool, test func(uint32) bool) {
		if on {
			all = append(all, test)
		}
	}
	vendors := map[uint32]bool{}
	for _, v := range q.Vendors {
		if id := x.vendors.find(v); id != 0 {
			vendors[id] = true
		}
	}
	one := uint32(math.MaxUint32)
	for id := range vendors {
		one = id
	}
	add(len(q.Vendors) > 0 && len(vendors) < 2, func(d uint32) bool { return x.vendor[d] == one })
	add(len(vendors) > 1, func(d uint32) bool { return vendors[x.vendor[d]] })
	if q.Region != 0 {
		add(true, x.inRegion(q.Region, s))
	}
	most := q.PriceMax
	if most == 0 {
		most = math.MaxInt64
	}
	add(q.PriceMin != 0 || q.PriceMax != 0, func(d uint32) bool {
		p := x.price[d]
		return p > 0 && q.PriceMin <= p && p <= most
	})
	source, language := x.sources.find(q.Source), x.languages.find(q.Language)
	add(q.Source != "", func(d uint32) bool { return source != 0 && x.source[d] == source })
	add(q.Language != "", func(d uint32) bool { return language != 0 && x.language[d] == language })
	add(q.Kind == Pages, func(d uint32) bool { return !x.offers.has(d) })
	return all
}

// inRegion searches each set of regions once, however many offers have it.
func (x *index) inRegion(region int, s *space) func(doc uint32) bool {
	if n := len(x.regions.sets); cap(s.regions) < n {
		s.regions = make([]uint8, n+n/4)
	}
	s.regions = s.regions[:len(x.regions.sets)]
	clear(s.regions)
	return func(d uint32) bool {
		set := x.region[d]
		if s.regions[set] == 0 {
			s.regions[set] = 2
			if x.regions.sets[set].Has(region) {
				s.regions[set] = 1
			}
		}
		return s.regions[set] == 1
	}
}

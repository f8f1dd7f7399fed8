package shard

import (
	"slices"
	"sync"
	"time"
)

// Shard is an index that many goroutines may query while one changes it. Its mutex is
// taken before that of nears.
type Shard struct {
	// mu guards x, version and sorted. The goroutine that changes them reads without it.
	mu      sync.RWMutex
	x       *index
	version int64
	sorted  time.Time // last
	spaces  sync.Pool
	rooms   sync.Pool
}

// New is an empty shard.
func New(c Config) *Shard {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Shard{x: newIndex(c)}
}

const (
	// tailLeast documents, and one more for every tailPart sorted ones, may be unsorted.
	tailLeast = 4096
	tailPart  = 8
	// chainLeast links of words to unsorted documents, and one more for every chainPart
	// bytes of the sorted ones, may be kept; a link takes eight bytes.
	chainLeast = 200_000
	chainPart  = 8
)

// Apply adds or replaces documents, removes pages, and stores how far the change feed
// has been followed. It sorts when enough documents are unsorted. Calls must not overlap.
func (s *Shard) Apply(puts []Doc, drops []int64, version int64) {
	s.mu.Lock()
	for _, page := range drops {
		s.x.drop(page)
	}
	for i := range puts {
		s.x.put(&puts[i])
	}
	s.version = version
	tail, sorted := s.x.tail()+s.x.dead, int(s.x.sorted)
	chain := len(s.x.words.chain) - len(s.x.words.gaps)/chainPart
	s.mu.Unlock()
	if tail > tailLeast+sorted/tailPart || chain > chainLeast {
		s.Sort()
	}
}

// Sort brings all documents into their order. Queries go on meanwhile.
func (s *Shard) Sort() {
	x := s.x.resorted()
	s.mu.Lock()
	s.x, s.sorted = x, time.Now()
	s.mu.Unlock()
}

// Tidy sorts if enough documents are unsorted and the last sort was long enough ago for
// its cost, and reports whether it did. Typos and suggestions are looked up among sorted
// documents only. Calls must not overlap each other or Apply.
func (s *Shard) Tidy() bool {
	s.mu.Lock()
	tail, size := s.x.tail(), s.x.size()
	if s.sorted.IsZero() && size > tidySmall {
		s.sorted = time.Now() // just loaded: leave the CPU to others for now
	}
	since := time.Since(s.sorted)
	s.mu.Unlock()
	if tail == 0 || size > tidySmall && tail < size/tidyPart || since < tidyLeast+time.Duration(size)*tidyEach {
		return false
	}
	s.Sort()
	return true
}

const (
	tidySmall = 20_000           // up to so many documents are sorted in no time
	tidyPart  = 32               // of more documents, one in so many must be new
	tidyLeast = 5 * time.Second  // between two sorts
	tidyEach  = time.Millisecond // more for each document; sorting takes a 300th of that
)

// Clear removes all documents.
func (s *Shard) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.x, s.version = newIndex(s.x.Config), 0
}

// Size is the number of documents, and how far the change feed has been followed.
func (s *Shard) Size() (docs int, version int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.x.size() - s.x.dead, s.version
}

// Texts is the size in bytes of the texts that answers show.
func (s *Shard) Texts() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.x.texts)
}

// Ask answers a query. Its hits have only what is needed to compare them; Fill adds the
// rest.
func (s *Shard) Ask(q *Query) (a Answer) {
	space, room := pooled[space](&s.spaces), pooled[rankingRoom](&s.rooms)
	s.mu.RLock()
	defer func() {
		s.mu.RUnlock()
		s.spaces.Put(space)
		s.rooms.Put(room)
	}()
	x := s.x
	exact, relaxed := x.match(q, space)
	a.Matched, a.Relaxed = exact.count(), relaxed.count()
	a.ShareUsed, a.Docs, a.Version = 1, x.size()-x.dead, int(s.version)
	a.Conflicts = x.conflicts(q.Category)
	if a.Matched > 0 || relaxed == nil {
		a.Facets = x.facets(exact, space)
	}
	x.answer(&a, q, exact, a.Matched, false, space, room)
	if len(a.Hits) < q.Top && a.Relaxed > 0 {
		f := x.facets(relaxed, space)
		if a.Matched == 0 {
			a.Facets = f
		}
		x.answer(&a, q, relaxed, a.Relaxed, true, space, room)
	}
	return a
}

func pooled[T any](p *sync.Pool) *T {
	if v, ok := p.Get().(*T); ok {
		return v
	}
	return new(T)
}

// answer ranks a set and adds the best to the answer.
func (x *index) answer(a *Answer, q *Query, in set, n int, relaxed bool, s *space, room *rankingRoom) {
	top := q.Top - len(a.Hits)
	if n == 0 || top <= 0 {
		return
	}
	if q.Grouped {
		top *= 4 // most models have a few offers
	} else {
		top += copies
	}
	var best []ranked
	r := ranking{x: x, q: q, m: x.Model, relaxed: relaxed, room: room}
	if q.Sort == Relevance {
		r.shares = x.sharesOf(s, n)
		if relaxed {
			r.hits = x.wordHits(q, s)
		}
		var considered, scored int
		best, considered, scored = r.rank(in, n, top, q.Share)
		a.Considered += considered
		a.ShareUsed = min(a.ShareUsed, float64(considered)/float64(n))
		a.Scored += scored
	} else {
		best = x.ordered(in, q.Sort, top)
		a.Considered += n
	}
	best = x.oneOfEach(best, q.Grouped)
	var features func(uint32) []float32
	if q.Explain && q.Sort == Relevance {
		features = r.features()
	}
	for _, b := range best[:min(len(best), q.Top-len(a.Hits))] {
		h := x.hit(b)
		h.Relaxed = relaxed
		if features != nil {
			h.Features = features(b.doc)
		}
		a.Hits = append(a.Hits, h)
	}
}

// sharesOf is the fraction of the documents counted last that lies in each category.
func (x *index) sharesOf(s *space, n int) []float32 {
	shares := make([]float32, len(x.categories.nodes))
	for id, count := range s.nodes {
		shares[id] = float32(count) / float32(n)
	}
	return shares
}

// wordHits counts for each document the query's words that it has without stemming.
func (x *index) wordHits(q *Query, s *space) []uint8 {
	if n := x.size(); cap(s.counts) < n {
		s.counts = make([]uint8, n, n+n/4)
	} else {
		s.counts = s.counts[:n]
		clear(s.counts)
	}
	for _, w := range q.Words {
		part := x.clear(&s.part)
		x.addWord(w, part)
		part.each(func(d uint32) { s.counts[d]++ })
	}
	return s.counts
}

// copies is how many near-duplicate articles may be among the best; they are folded into
// the best one.
const copies = 16

// oneOfEach keeps the best copy of each article and, with models, the best offer of each
// model.
func (x *index) oneOfEach(best []ranked, models bool) []ranked {
	seen := map[uint64]bool{}
	return slices.DeleteFunc(best, func(b ranked) bool {
		g := x.group[b.doc]
		if g == 0 || !models && x.offers.has(b.doc) {
			return false
		}
		known := seen[g]
		seen[g] = true
		return known
	})
}

// ordered are the first documents of a set by a column.
func (x *index) ordered(in set, by Sort, top int) (best []ranked) {
	in.each(func(d uint32) {
		switch p := float64(x.price[d]); {
		case by == Newest:
			best = append(best, ranked{d, float64(x.published[d])})
		case p <= 0:
			best = append(best, ranked{d, -1e18})
		case by == Cheapest:
			best = append(best, ranked{d, -p})
		default:
			best = append(best, ranked{d, p})
		}
	})
	return x.first(best, top)
}

// hit is what is needed to compare a document with those of other shards.
func (x *index) hit(b ranked) Hit {
	return Hit{ID: x.id[b.doc], Score: b.score, Group: x.group[b.doc]}
}

// Fill adds to hits what an answer shows. It is for the hits that are left when the
// answers of all shards are merged. Hits that the shard no longer has stay as they are.
func (s *Shard) Fill(hits []*Hit) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, h := range hits {
		if d, ok := s.x.at[h.ID]; ok {
			s.x.show(d, h)
		}
	}
}

func (x *index) show(d uint32, h *Hit) {
	h.Source, h.Vendor, h.Currency = x.sources.name(x.source[d]), x.vendors.name(x.vendor[d]), x.languages.name(x.currency[d])
	h.Price, h.Old, h.Available = x.price[d], x.old[d], x.available.has(d)
	if x.published[d] > 0 {
		h.Published = time.Unix(x.published[d], 0).UTC()
	}
	h.Offer, h.URL, h.Title = x.textsOf(d)
}

// conflicts are the differing names that sources give a category.
func (x *index) conflicts(category string) (all []Conflict) {
	for i := range x.categories.nodes {
		if n := &x.categories.nodes[i]; n.other != "" && category != "" && last(n.ids) == category {
			all = append(all, Conflict{last(n.ids), last(n.names), n.other})
		}
	}
	return all
}

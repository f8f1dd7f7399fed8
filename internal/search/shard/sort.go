package shard

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/courant-platform/courant/internal/kit/gbdt"
)

// resorted is a copy of the index with all living documents in the order of category and
// prior. Queries may go on in the old one.
func (x *index) resorted() *index {
	v := *x // the old documents with new statistics
	v.bins, v.places = nil, make([]uint16, x.size())
	v.measure()
	for doc := range uint32(x.size()) {
		v.setBins(doc)
	}
	v.prior = v.priors()
	order := v.order()
	n := &index{Config: x.Config, sorted: uint32(len(order)), at: make(map[int64]uint32, len(order)),
		id: permuted(x.id, order), same: permuted(x.same, order), source: permuted(x.source, order),
		vendor: permuted(x.vendor, order), category: permuted(x.category, order), region: permuted(x.region, order),
		group: permuted(x.group, order), language: permuted(x.language, order), currency: permuted(x.currency, order), published: permuted(x.published, order),
		price: permuted(x.price, order), old: permuted(x.old, order), prior: permuted(v.prior, order),
		length: permuted(x.length, order), sources: x.sources, vendors: x.vendors, languages: x.languages, regions: x.regions,
		categories: x.categories, stats: v.stats, groups: v.groups, words: x.words, params: x.params}
	n.categories.nodes = slices.Clone(x.categories.nodes)
	n.rank, n.places = make([]uint16, len(order)), make([]uint16, len(order))
	n.copyTexts(x, order)
	n.copySets(x, order)
	own := x.ownNumbers()
	n.own = make([]float32, 0, len(order)*own)
	to := make([]uint32, x.size())
	for i := range to {
		to[i] = math.MaxUint32
	}
	for at, doc := range order {
		to[doc] = uint32(at)
		n.at[n.id[at]] = uint32(at)
		n.own = append(n.own, x.own[int(doc)*own:(int(doc)+1)*own]...)
	}
	number := func(doc uint32) (at uint32, ok bool) { return to[doc], to[doc] != math.MaxUint32 }
	n.words.postings, n.params.postings = x.words.moved(number), x.params.moved(number)
	n.words.sortWords()
	n.ranges()
	for doc := range uint32(len(order)) {
		n.setBins(doc)
	}
	return n
}

func permuted[T any](s []T, order []uint32) []T {
	out := make([]T, len(order))
	for at, doc := range order {
		out[at] = s[doc]
	}
	return out
}

// order is the living documents by category, prior and page id.
func (x *index) order() []uint32 {
	place := make([]uint32, len(x.categories.nodes))
	for at, id := range x.categories.order() {
		place[id] = uint32(at)
	}
	var all []uint32
	x.alive.each(func(d uint32) { all = append(all, d) })
	slices.SortFunc(all, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(place[x.category[a]], place[x.category[b]]), cmp.Compare(x.prior[b], x.prior[a]), cmp.Compare(x.id[a], x.id[b]))
	})
	return all
}

// priors are the model's scores of all documents for a query for just their category.
func (x *index) priors() []float32 {
	out := make([]float32, x.size())
	if x.Model == nil || x.size() == 0 {
		return out
	}
	all := make(set, (x.size()+63)/64)
	all.span(0, uint32(x.size()))
	r := x.forPrior()
	r.gather(all)
	r.score(0, x.Model.scorer.Trees())
	for b := range r.room.blocks {
		for i, doc := range r.room.docs[b] {
			out[doc] = float32(r.room.scores[b][i])
		}
	}
	return out
}

// forPrior is the ranking of such a query: by nobody, with all matches in the document's
// category.
func (x *index) forPrior() *ranking {
	r := &ranking{x: x, q: &Query{Person: Nobody()}, m: x.Model, shares: make([]float32, len(x.categories.nodes)), room: &rankingRoom{}}
	for i := range r.shares {
		r.shares[i] = 1
	}
	return r
}

// copyTexts copies the texts that answers show.
func (x *index) copyTexts(from *index, order []uint32) {
	x.record = make([]uint32, len(order))
	for at, doc := range order {
		x.record[at] = uint32(len(x.texts))
		begin, parts := from.record[doc], 0
		end := begin
		for ; parts < 3; end++ {
			if from.texts[end] == 0 {
				parts++
			}
		}
		x.texts = append(x.texts, from.texts[begin:end]...)
	}
	x.texts = slices.Clip(x.texts)
}

func (x *index) copySets(from *index, order []uint32) {
	for _, s := range []*set{&x.alive, &x.available, &x.offers} {
		s.grow(len(order))
	}
	x.alive.span(0, uint32(len(order)))
	for at, doc := range order {
		x.available.put(uint32(at), from.available.has(doc))
		x.offers.put(uint32(at), from.offers.has(doc))
	}
}

// ranges sets the range of each category, and the ranks within it.
func (x *index) ranges() {
	for i := range x.categories.nodes {
		n := &x.categories.nodes[i]
		n.from, n.to, n.docs = 0, 0, 0
	}
	for from := uint32(0); from < x.sorted; {
		c := x.category[from]
		to := from + uint32(sort.Search(int(x.sorted-from), func(i int) bool { return x.category[from+uint32(i)] != c }))
		n := &x.categories.nodes[c]
		n.from, n.to, n.docs = from, to, int(to-from)
		for d := from; d < to; d++ {
			x.rank[d] = uint16(uint64(d-from) * math.MaxUint16 / uint64(to-from))
		}
		from = to
	}
}

// setRank gives an unsorted document its rank among the sorted ones of its category.
func (x *index) setRank(doc uint32) {
	n := &x.categories.nodes[x.category[doc]]
	if n.to == n.from || x.Model == nil {
		x.rank[doc] = math.MaxUint16 / 2
		return
	}
	x.prior[doc] = x.priorOf(doc)
	at := sort.Search(int(n.to-n.from), func(i int) bool { return x.prior[n.from+uint32(i)] < x.prior[doc] })
	x.rank[doc] = uint16(uint64(at) * math.MaxUint16 / uint64(n.to-n.from))
}

// priorOf is the prior of one document.
func (x *index) priorOf(doc uint32) float32 {
	r := x.forPrior()
	r.collect([]uint32{doc}, len(x.Model.stored)*gbdt.BlockSize)
	r.compute()
	r.score(0, x.Model.scorer.Trees())
	return float32(r.room.scores[0][0])
}

// tail is the number of unsorted documents, including dead ones.
func (x *index) tail() int { return x.size() - int(x.sorted) }

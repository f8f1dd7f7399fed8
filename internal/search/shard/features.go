package shard

import (
	"math"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/gbdt"
	"github.com/courant-platform/courant/internal/search/words"
)

// Model is a ranking model with the functions that compute its features.
type Model struct {
	Name string

	scorer   *gbdt.Scorer
	stored   []static
	computed []*dynamic
	first    int // number of trees that score every candidate
}

// firstTrees is how many trees score every candidate; the rest score the best ones.
const firstTrees = 12

// static is a feature of a document.
type static func(x *index, doc uint32) float32

// dynamic is a feature of a document and a query. Documents have one of a few keys, and
// the value is computed once for each key; the key -1 has it computed for the document.
type dynamic struct {
	of   func(r *ranking, doc uint32) float32
	keys func(x *index) int
	key  func(r *ranking, doc uint32) int
}

// NewModel prepares a model. Features are identified by name: signals such as "signal
// Rating", and the others that docs/search.md lists. Fails with Invalid if the model has
// other features.
func NewModel(name string, m *gbdt.Model, signals []string) (*Model, error) {
	s, err := gbdt.Compile(m, func(f gbdt.Feature) bool { return dynamics()[f.Name] != nil })
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "model %s: %w", name, err)
	}
	model := &Model{Name: name, scorer: s, first: min(firstTrees, s.Trees())}
	known := statics(signals)
	for _, f := range s.Stored() {
		of := known[f.Name]
		if of == nil && strings.HasPrefix(f.Name, "signal ") {
			of = func(*index, uint32) float32 { return nan() } // this configuration does not have it
		}
		if of == nil {
			return nil, courant.Errorf(courant.Invalid, "model %s: feature %q does not exist", name, f.Name)
		}
		model.stored = append(model.stored, of)
	}
	for _, f := range s.Computed() {
		model.computed = append(model.computed, dynamics()[f.Name])
	}
	return model, nil
}

// FeatureNames are all features, in the order of Hit.Features. Models are trained with
// these values.
func FeatureNames(signals []string) (names []string) {
	names = append(names, storedNames()...)
	for _, s := range signals {
		names = append(names, "signal "+s)
	}
	return append(names, computedNames()...)
}

func storedNames() []string {
	return []string{"price", "price_z", "discount", "bargain", "group_size", "available", "age_days", "pictures", "length", "words_of_title", "is_offer"}
}

func computedNames() []string {
	return []string{"words", "exact", "title_match", "cover", "category_share", "budget_gap", "budget", "thrift", "haste", "segment"}
}

// nan is the value of a feature that is not known.
func nan() float32 { return float32(math.NaN()) }

func flag(on bool) float32 {
	if on {
		return 1
	}
	return 0
}

// statics are the features of documents by name.
func statics(signals []string) map[string]static {
	all := map[string]static{
		"price": func(x *index, d uint32) float32 {
			if x.price[d] <= 0 {
				return nan()
			}
			return float32(x.price[d]) / 100
		},
		"price_z": func(x *index, d uint32) float32 { return placeOf(x.places[d]) },
		"discount": func(x *index, d uint32) float32 {
			if p, o := x.price[d], x.old[d]; p > 0 && o > p {
				return 1 - float32(p)/float32(o)
			}
			return 0
		},
		"bargain":    func(x *index, d uint32) float32 { return x.bargain(d) },
		"group_size": func(x *index, d uint32) float32 { return float32(max(x.groups[x.group[d]].n, 1)) },
		"available":  func(x *index, d uint32) float32 { return flag(x.available.has(d)) },
		"age_days": func(x *index, d uint32) float32 {
			if x.published[d] <= 0 || x.offers.has(d) {
				return nan() // offers have no date
			}
			return float32(x.Now().Unix()-x.published[d]) / (24 * 3600)
		},
		"pictures":       func(x *index, d uint32) float32 { return x.own[int(d)*x.ownNumbers()+len(x.Signals)] },
		"length":         func(x *index, d uint32) float32 { return x.own[int(d)*x.ownNumbers()+len(x.Signals)+1] },
		"words_of_title": func(x *index, d uint32) float32 { return float32(x.length[d]) },
		"is_offer":       func(x *index, d uint32) float32 { return flag(x.offers.has(d)) },
	}
	for i, s := range signals {
		all["signal "+s] = func(x *index, d uint32) float32 { return x.own[int(d)*x.ownNumbers()+i] }
	}
	return all
}

// dynamics are the features of a document and a query by name.
func dynamics() map[string]*dynamic {
	constant := func(of func(r *ranking) float32) *dynamic {
		return &dynamic{keys: func(*index) int { return 1 }, key: func(*ranking, uint32) int { return 0 },
			of: func(r *ranking, _ uint32) float32 { return of(r) }}
	}
	hits := func(x *index) int { return math.MaxUint8 + 1 }
	return map[string]*dynamic{
		"words":   constant(func(r *ranking) float32 { return float32(len(r.q.Words)) }),
		"budget":  constant(func(r *ranking) float32 { return r.q.Person.Budget }),
		"thrift":  constant(func(r *ranking) float32 { return r.q.Person.Thrift }),
		"haste":   constant(func(r *ranking) float32 { return r.q.Person.Haste }),
		"segment": constant(func(r *ranking) float32 { return float32(r.q.Person.Segment) }),
		"exact":   {of: (*ranking).exact, keys: hits, key: (*ranking).wordsHeld},
		"title_match": {of: (*ranking).titleMatch, keys: hits, key: func(r *ranking, d uint32) int {
			if len(r.q.Words) > 0 && !r.x.offers.has(d) {
				return -1
			}
			return r.wordsHeld(d)
		}},
		"cover": {of: (*ranking).cover, keys: hits, key: func(r *ranking, d uint32) int { return int(r.x.length[d]) }},
		"category_share": {of: (*ranking).categoryShare, keys: func(x *index) int { return len(x.categories.nodes) },
			key: func(r *ranking, d uint32) int { return int(r.x.category[d]) }},
		"budget_gap": {of: (*ranking).budgetGap, keys: func(*index) int { return placeKeys }, key: func(r *ranking, d uint32) int { return int(r.x.places[d]) }},
	}
}

// fill writes the bins of a feature for up to 128 documents. known has 1 + the bin of
// each key that this ranking has computed, 0 for the others.
func (f *dynamic) fill(r *ranking, g *gbdt.Feature, known []uint16, docs []uint32, row []byte) {
	for i, d := range docs {
		k := f.key(r, d)
		if k < 0 {
			row[i] = g.Bin(f.of(r, d))
			continue
		}
		if known[k] == 0 {
			known[k] = uint16(g.Bin(f.of(r, d))) + 1
		}
		row[i] = byte(known[k] - 1)
	}
}

// features returns a function that computes all features of a document, in the order of
// FeatureNames.
func (r *ranking) features() func(doc uint32) []float32 {
	own, of := statics(r.x.Signals), dynamics()
	var all []func(doc uint32) float32
	for _, name := range FeatureNames(r.x.Signals) {
		if f := own[name]; f != nil {
			all = append(all, func(doc uint32) float32 { return f(r.x, doc) })
		} else {
			all = append(all, func(doc uint32) float32 { return of[name].of(r, doc) })
		}
	}
	return func(doc uint32) []float32 {
		values := make([]float32, len(all))
		for i, f := range all {
			values[i] = f(doc)
		}
		return values
	}
}

// setBins writes the bins of a document's stored features.
func (x *index) setBins(doc uint32) {
	x.places[doc] = placeKey(x.place(doc))
	if x.Model == nil {
		return
	}
	stored := x.Model.scorer.Stored()
	rows := len(stored)
	block := int(doc) / gbdt.BlockSize * rows * gbdt.BlockSize
	for len(x.bins) < block+rows*gbdt.BlockSize {
		x.bins = append(x.bins, make([]byte, rows*gbdt.BlockSize)...)
	}
	for i := range stored {
		x.bins[block+i*gbdt.BlockSize+int(doc)%gbdt.BlockSize] = stored[i].Bin(x.Model.stored[i](x, doc))
	}
}

// stat is the distribution of prices in a category.
type stat struct {
	n         int
	sum, sums float64 // of the logarithms of prices, and of their squares
}

func (s stat) mean() float64 { return s.sum / float64(s.n) }

func (s stat) deviation() float64 {
	m := s.mean()
	return math.Sqrt(max(s.sums/float64(s.n)-m*m, 0))
}

type groupStat struct {
	n   int
	sum float64 // of the logarithms of prices
	of  int     // how many have a price
}

// place is the z-score of the logarithm of an offer's price within its category.
func (x *index) place(d uint32) float32 {
	c := x.category[d]
	if x.price[d] <= 0 || int(c) >= len(x.stats) || x.stats[c].n < 2 {
		return nan()
	}
	s := x.stats[c]
	if dev := s.deviation(); dev > 0 {
		return float32((math.Log(float64(x.price[d])) - s.mean()) / dev)
	}
	return 0
}

// placeKeys is the number of keys of places: from -5 to 5 in steps of 1/50, and 0 for
// none.
const placeKeys = 502

func placeKey(place float32) uint16 {
	if place != place {
		return 0
	}
	return uint16(251.5 + 50*min(max(place, -5), 5))
}

// placeOf is the place of a key.
func placeOf(key uint16) float32 {
	if key == 0 {
		return nan()
	}
	return (float32(key) - 251) / 50
}

// bargain is how far the price is below the mean of the same model's offers, as a
// difference of logarithms.
func (x *index) bargain(d uint32) float32 {
	g := x.groups[x.group[d]]
	if x.group[d] == 0 || x.price[d] <= 0 || g.of < 2 {
		return 0
	}
	return float32(g.sum/float64(g.of) - math.Log(float64(x.price[d])))
}

// measure computes the statistics of categories and groups.
func (x *index) measure() {
	x.stats = make([]stat, len(x.categories.nodes))
	x.groups = map[uint64]groupStat{}
	x.alive.each(func(d uint32) {
		g := x.groups[x.group[d]]
		g.n++
		if p := x.price[d]; p > 0 {
			l := math.Log(float64(p))
			s := &x.stats[x.category[d]]
			s.n++
			s.sum += l
			s.sums += l * l
			g.sum += l
			g.of++
		}
		if x.group[d] != 0 && x.offers.has(d) {
			x.groups[x.group[d]] = g
		}
	})
}

// wordsHeld is how many words of the query a document has without stemming.
func (r *ranking) wordsHeld(d uint32) int {
	if !r.relaxed {
		return len(r.q.Words)
	}
	return int(r.hits[d])
}

func (r *ranking) exact(d uint32) float32 {
	if len(r.q.Words) == 0 {
		return 1
	}
	return float32(r.wordsHeld(d)) / float32(len(r.q.Words))
}

// titleMatch is the fraction of the query's words that are in the title. Offers are found
// by their titles alone.
func (r *ranking) titleMatch(d uint32) float32 {
	if r.x.offers.has(d) || len(r.q.Words) == 0 {
		return r.exact(d)
	}
	found := 0
	_, _, title := r.x.textsAt(r.x.record[d])
	words.Each(title, func(w []byte) bool {
		for i := range r.q.Words {
			if r.q.Words[i].is(w) {
				found++
			}
		}
		return true
	})
	return min(float32(found)/float32(len(r.q.Words)), 1)
}

// is reports whether w is the word or one of its synonyms.
func (q *Word) is(w []byte) bool {
	if string(w) == q.Text {
		return true
	}
	for _, other := range q.Synonyms {
		if string(w) == other {
			return true
		}
	}
	return false
}

// cover is the number of the query's words relative to those of the title, at most 1.
func (r *ranking) cover(d uint32) float32 {
	return min(float32(len(r.q.Words))/float32(max(r.x.length[d], 1)), 1)
}

func (r *ranking) categoryShare(d uint32) float32 { return r.shares[r.x.category[d]] }

// budgetGap is the distance between the place of the price and the person's budget.
func (r *ranking) budgetGap(d uint32) float32 {
	gap := placeOf(r.x.places[d]) - r.q.Person.Budget
	return max(gap, -gap)
}

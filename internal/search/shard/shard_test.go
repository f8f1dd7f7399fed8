package shard_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/kit/gbdt"
	"github.com/courant-platform/courant/internal/search/shard"
	"github.com/courant-platform/courant/internal/search/words"
)

// world is offers in a plain list beside the shard that holds the same.
type world struct {
	t     *testing.T
	r     *rand.Rand
	shard *shard.Shard
	docs  map[int64]shard.Doc
}

func open(t *testing.T, seed uint64, model *shard.Model) *world {
	return &world{t: t, r: rand.New(rand.NewPCG(seed, 1)), docs: map[int64]shard.Doc{},
		shard: shard.New(shard.Config{Signals: signals(), Model: model, Now: func() time.Time { return time.Unix(1e9, 0) }})}
}

func signals() []string { return []string{"Rating"} }

// offer is one of few kinds, so that queries find many.
func (w *world) offer(id int64) shard.Doc {
	pick := func(of ...string) string { return of[w.r.IntN(len(of))] }
	leaf := pick("10", "11", "20", "7", "")
	way := map[string][]string{"10": {"1", "10"}, "11": {"1", "11"}, "20": {"2", "20"}, "7": {"7"}}[leaf]
	vendor := pick("Acme", "Brand", "")
	title := strings.TrimSpace(pick("Phone", "phones", "телефон", "Чайник", "手机壳") + " " + vendor + " " + pick("X1", "X2", "Pro max"))
	regions, _ := shard.ParseRegions(pick("1-10", "5-20,80-86", ""))
	d := shard.Doc{ID: id, Source: pick("shop", "store"), Offer: fmt.Sprint(id), URL: fmt.Sprint("http://a.example/", id), Title: title, Words: title,
		Category: way, CategoryNames: way, Vendor: vendor, Group: pick("", "g1", "g2"), Language: pick("en", "ru"), Price: int64(w.r.IntN(5)) * 400_00,
		OldPrice: 1000_00, Available: w.r.IntN(2) == 0, Regions: regions, Published: time.Unix(int64(w.r.IntN(1000)), 0),
		Params: []shard.Param{{Name: "Color", Value: pick("red", "blue")}, {Name: "Size", Value: fmt.Sprint(w.r.IntN(6))}}, Signals: []float32{float32(w.r.IntN(50)) / 10}}
	if w.r.IntN(8) == 0 {
		d.Offer, d.Group = "", "" // a page
	}
	return d
}

func (w *world) apply(puts []shard.Doc, drops []int64) {
	w.shard.Apply(puts, drops, 1)
	for _, id := range drops {
		delete(w.docs, id)
	}
	for _, d := range puts {
		w.docs[d.ID] = d
	}
}

// fill puts some in, changes some and takes some out.
func (w *world) fill(n int) {
	var puts []shard.Doc
	for i := range n {
		puts = append(puts, w.offer(int64(i+1)))
	}
	w.apply(puts, nil)
	for range 3 {
		puts = nil
		var drops []int64
		for range n / 10 {
			d := w.docs[int64(w.r.IntN(n)+1)]
			switch w.r.IntN(3) {
			case 0:
				drops = append(drops, d.ID)
			case 1:
				puts = append(puts, w.offer(max(d.ID, 1)))
			default:
				if d.ID != 0 {
					d.Price, d.Available = int64(w.r.IntN(9))*300_00, !d.Available
					puts = append(puts, d)
				}
			}
		}
		w.apply(puts, drops)
	}
}

// matches is the plain meaning of a query.
func matches(d shard.Doc, q *shard.Query) bool {
	have := words.All(d.Words)
	for _, w := range q.Words {
		if !slices.ContainsFunc(append(w.Synonyms, w.Text), func(o string) bool { return slices.Contains(have, o) }) {
			return false
		}
	}
	for _, f := range q.Params {
		if !slices.ContainsFunc(f.Values, func(v shard.Value) bool {
			return slices.ContainsFunc(d.Params, func(p shard.Param) bool {
				var n float64
				_, err := fmt.Sscan(p.Value, &n)
				return p.Name == f.Name && (!v.Range && p.Value == v.Text || v.Range && err == nil && v.Lo <= n && n <= v.Hi)
			})
		}) {
			return false
		}
	}
	priced := q.PriceMin == 0 && q.PriceMax == 0 || d.Price > 0 && d.Price >= q.PriceMin && (q.PriceMax == 0 || d.Price <= q.PriceMax)
	return priced && (q.Category == "" || slices.Contains(d.Category, q.Category)) && (q.Source == "" || d.Source == q.Source) &&
		(q.Language == "" || d.Language == q.Language) && (len(q.Vendors) == 0 || slices.Contains(q.Vendors, d.Vendor)) &&
		(!q.Available || d.Available) && (q.Region == 0 || d.Regions.Has(q.Region)) &&
		(q.Kind == shard.All || (q.Kind == shard.Offers) == (d.Offer != ""))
}

// query asks for something at random.
func (w *world) query() shard.Query {
	q := shard.Query{Exact: true, Top: 10, Share: 1, Person: shard.Nobody()}
	some := func(n int) bool { return w.r.IntN(n) == 0 }
	if some(2) {
		for _, text := range words.All([]string{"phone", "acme x1", "чайник", "手机壳", "nothing", "pro"}[w.r.IntN(6)]) {
			q.Words = append(q.Words, shard.Word{Text: text, Synonyms: map[string][]string{"phone": {"phone", "телефон"}}[text]})
		}
	}
	if some(2) {
		q.Category = []string{"1", "10", "2", "7", "99"}[w.r.IntN(5)]
	}
	if some(3) {
		q.Vendors = [][]string{{"Acme"}, {"Acme", "Brand"}, {"None"}}[w.r.IntN(3)]
	}
	if some(3) {
		q.Params = append(q.Params, shard.Filter{Name: "Color", Values: []shard.Value{{Text: "red"}}})
	}
	if some(3) {
		q.Params = append(q.Params, shard.Filter{Name: "Size", Values: []shard.Value{{Range: true, Lo: 2, Hi: 4}, {Text: "0"}}})
	}
	if some(3) {
		q.PriceMin, q.PriceMax = 400_00, int64(w.r.IntN(3))*600_00
	}
	q.Available, q.Kind = some(3), shard.Kind(w.r.IntN(3))
	if some(4) {
		q.Region = 1 + w.r.IntN(90)
	}
	if some(4) {
		q.Source, q.Language = "shop", "ru"
	}
	return q
}

// count counts what matches, plainly.
func (w *world) count(q *shard.Query) (want shard.Answer) {
	want.Facets.Add(shard.Facets{})
	for _, d := range w.docs {
		if !matches(d, q) {
			continue
		}
		want.Matched++
		if d.Vendor != "" {
			want.Facets.Vendors[d.Vendor]++
		}
		if n := len(d.Category); n > 0 {
			want.Facets.Categories[d.Category[n-1]]++
		}
	}
	return want
}

func TestFiltersAndCountsAreExactAtAnyShare(t *testing.T) {
	for seed := range uint64(8) {
		w := open(t, seed, map[bool]*shard.Model{true: model(t)}[seed%2 == 0])
		w.fill(2000)
		if seed%4 > 1 {
			w.shard.Sort()
		}
		for range 60 {
			q := w.query()
			q.Share = []float64{1, 0.5, 0.1}[w.r.IntN(3)]
			want := w.count(&q)
			got := w.shard.Ask(&q)
			for i := range got.Hits {
				w.shard.Fill([]*shard.Hit{&got.Hits[i]})
			}
			if got.Matched != want.Matched || fmt.Sprint(got.Facets.Vendors) != fmt.Sprint(want.Facets.Vendors) && want.Matched > 0 ||
				fmt.Sprint(got.Facets.Categories) != fmt.Sprint(want.Facets.Categories) && want.Matched > 0 {
				t.Fatalf("seed %d, %+v:\ngot  %d %v\nwant %d %v", seed, q, got.Matched, got.Facets, want.Matched, want.Facets)
			}
			if considered := max(int(q.Share*float64(want.Matched)+0.999999), min(want.Matched, 192)); got.Considered != considered {
				t.Errorf("%+v: considered %d of %d, want %d", q, got.Considered, got.Matched, considered)
			}
			if len(got.Hits) != min(q.Top, got.Considered) {
				t.Errorf("%+v: %d hits of %d", q, len(got.Hits), got.Considered)
			}
			for _, h := range got.Hits {
				if d := w.docs[h.ID]; !matches(d, &q) || d.Title != h.Title || d.URL != h.URL || d.Price != h.Price || d.Offer != h.Offer {
					t.Fatalf("%+v: %+v is no answer", q, h)
				}
			}
		}
	}
}

// model is small and made by CatBoost of nothing but rating, price and budget.
func model(t *testing.T) *shard.Model {
	t.Helper()
	text := `{"features_info":{"float_features":[` +
		`{"borders":[1,2,3,4],"feature_index":0,"feature_id":"signal Rating","flat_feature_index":0,"has_nans":true,"nan_value_treatment":"AsFalse"},` +
		`{"borders":[500,900],"feature_index":1,"feature_id":"price","flat_feature_index":1,"has_nans":true,"nan_value_treatment":"AsFalse"},` +
		`{"borders":[0.5],"feature_index":2,"feature_id":"budget_gap","flat_feature_index":2,"has_nans":true,"nan_value_treatment":"AsFalse"}]},` +
		`"oblivious_trees":[` +
		`{"leaf_values":[0,1],"leaf_weights":[1,1],"splits":[{"border":1,"float_feature_index":0,"split_index":0,"split_type":"FloatFeature"}]},` +
		`{"leaf_values":[0,1],"leaf_weights":[1,1],"splits":[{"border":2,"float_feature_index":0,"split_index":1,"split_type":"FloatFeature"}]},` +
		`{"leaf_values":[0,1],"leaf_weights":[1,1],"splits":[{"border":3,"float_feature_index":0,"split_index":2,"split_type":"FloatFeature"}]},` +
		`{"leaf_values":[0,1],"leaf_weights":[1,1],"splits":[{"border":4,"float_feature_index":0,"split_index":3,"split_type":"FloatFeature"}]},` +
		`{"leaf_values":[0.5,0],"leaf_weights":[1,1],"splits":[{"border":500,"float_feature_index":1,"split_index":4,"split_type":"FloatFeature"}]},` +
		`{"leaf_values":[0.25,0],"leaf_weights":[1,1],"splits":[{"border":0.5,"float_feature_index":2,"split_index":6,"split_type":"FloatFeature"}]}],` +
		`"scale_and_bias":[1,[0]]}`
	m, err := gbdt.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	model, err := shard.NewModel("test", m, signals())
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// scoreOf is what the model gives a document, four times and without its budget.
func scoreOf(d shard.Doc) (score int) {
	for _, border := range []float32{1, 2, 3, 4} {
		if d.Signals[0] > border {
			score += 4
		}
	}
	if d.Price <= 500_00 {
		score += 2
	}
	return score
}

func TestTheBestComeFirst(t *testing.T) {
	w := open(t, 1, model(t))
	w.fill(3000)
	w.shard.Sort()
	for range 40 {
		q := w.query()
		q.Top = 50
		got := w.shard.Ask(&q)
		var want []int
		for _, d := range w.docs {
			if matches(d, &q) {
				want = append(want, scoreOf(d))
			}
		}
		slices.SortFunc(want, func(a, b int) int { return cmp.Compare(b, a) })
		for i, h := range got.Hits {
			// without a budget the gap is unknown, which the model takes for a small one
			if got := int(math.Round(4*h.Score)) - 1; got != want[i] {
				t.Fatalf("%+v: hit %d has score %v, the best is %v", q, i, h.Score, want[i])
			}
		}
	}
}

func TestASmallerShareKeepsTheBestOfEachCategory(t *testing.T) {
	w := open(t, 3, model(t))
	w.fill(3000)
	w.shard.Sort()
	q := shard.Query{Exact: true, Top: 48, Share: 1, Person: shard.Nobody(), Category: "10"}
	all := w.shard.Ask(&q)
	for _, share := range []float64{0.9, 0.7, 0.5} {
		q.Share = share
		some := w.shard.Ask(&q)
		if len(some.Hits) != len(all.Hits) {
			t.Fatalf("%d hits at %v", len(some.Hits), share)
		}
		for i := range all.Hits {
			if all.Hits[i].ID != some.Hits[i].ID {
				t.Errorf("at %v hit %d is another one", share, i)
			}
		}
	}
}

func TestStemsAndTyposRankBelowExactWords(t *testing.T) {
	w := open(t, 4, nil)
	for i, title := range []string{"Phone one", "Phones two", "Fone", "Phnoe three", "Чайники", "Чайник", "чайника белая"} {
		w.apply([]shard.Doc{{ID: int64(i + 1), Title: title, Words: title}}, nil)
	}
	w.shard.Sort()
	for text, want := range map[string]string{"phone": "1 2~ 4~", "чайник": "6 5~ 7~", "phoen": "1~", "xyz": ""} {
		q := shard.Query{Words: []shard.Word{{Text: text}}, Near: true, Top: 10, Share: 1, Person: shard.Nobody()}
		var got []string
		for _, h := range w.shard.Ask(&q).Hits {
			got = append(got, fmt.Sprint(h.ID)+map[bool]string{true: "~"}[h.Relaxed])
		}
		slices.Sort(got)
		sorted := strings.Fields(want)
		slices.Sort(sorted)
		if strings.Join(got, " ") != strings.Join(sorted, " ") {
			t.Errorf("%s: found %v, want %s", text, got, want)
		}
	}
}

func TestOfTheOffersOfOneModelOneIsShown(t *testing.T) {
	w := open(t, 5, model(t))
	for i := range 9 {
		w.apply([]shard.Doc{{ID: int64(i + 1), Offer: fmt.Sprint(i), Group: fmt.Sprint("g", i%3), Vendor: "V", Words: "x", Signals: []float32{float32(i)/2 + 0.2}}}, nil)
	}
	got := w.shard.Ask(&shard.Query{Top: 10, Share: 1, Grouped: true, Person: shard.Nobody()})
	if len(got.Hits) != 3 || got.Hits[0].ID != 9 || got.Matched != 9 {
		t.Errorf("got %+v", got)
	}
}

func TestCopiesOfOneArticleAreFolded(t *testing.T) {
	w := open(t, 6, nil)
	for i := range 9 {
		w.apply([]shard.Doc{{ID: int64(i + 1), Group: fmt.Sprint("first", i%3), Words: "x"}}, nil)
	}
	if got := w.shard.Ask(&shard.Query{Top: 10, Share: 1, Person: shard.Nobody()}); len(got.Hits) != 3 || got.Matched != 9 {
		t.Errorf("%d hits of %d", len(got.Hits), got.Matched)
	}
}

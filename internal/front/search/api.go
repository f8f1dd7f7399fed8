package search

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/search/index"
	"github.com/courant-platform/courant/internal/search/shard"
)

const (
	usualTop   = 48
	mostTop    = 200
	deepest    = 2000 // hits, after which there are no more pages
	mostWords  = 24
	mostValues = 200 // of a facet
	longQuery  = 1000
)

// request is a query of an HTTP request.
type request struct {
	shard.Query
	Text string
	K    int
	Page int // from 1

	Program  bool      // from a bot, not a person
	reranker *reranker // of an experiment
}

// request reads the parameters of a query.
func (s *Search) request(v url.Values) (r request, err error) {
	r.Query = shard.Query{Category: v.Get("category"), Source: v.Get("source"), Language: v.Get("language"), Share: 1, Person: shard.Nobody()}
	r.Category = s.categories.ID(r.Source, r.Category)
	r.Text = v.Get("text")
	if err := checkText(r.Text); err != nil {
		return r, err
	}
	if r.Words = s.wordsOf(r.Text); len(r.Words) > mostWords {
		r.Words = r.Words[:mostWords]
	}
	for _, list := range v["vendor"] {
		for name := range strings.SplitSeq(list, ",") {
			if name = strings.TrimSpace(name); name != "" {
				r.Vendors = append(r.Vendors, name)
			}
		}
	}
	p := parameters{v: v}
	r.Exact = p.one("match", map[string]int{"": 0, "default": 0, "exact": 1}) == 1
	r.Available, r.Grouped, r.Explain = p.yes("available"), p.yes("group"), p.yes("explain")
	r.Sort = shard.Sort(p.one("sort", map[string]int{"": 0, "relevance": 0, "price": 1, "-price": 2, "date": 3}))
	r.Kind = shard.Kind(p.one("kind", map[string]int{"": 0, "offers": 1, "pages": 2}))
	r.PriceMin, r.PriceMax = p.price("price_min"), p.price("price_max")
	r.Region = p.number("region", 0, 0, shard.MostRegions-1)
	r.K, r.Page = p.number("k", usualTop, 1, mostTop), p.number("page", 1, 1, deepest)
	if r.Top = r.K * r.Page; r.Top > deepest {
		p.fail("page", "within the best %d hits", deepest)
	}
	p.person(&r.Person)
	r.Share = p.share("share")
	r.Params = p.filters()
	return r, p.err
}

// checkText refuses a text that is too long.
func checkText(text string) error {
	if len(text) > longQuery {
		return courant.Errorf(courant.Invalid, "text must be at most %d bytes, not %d", longQuery, len(text))
	}
	return nil
}

// asked are the parameters of a request. q is an alias of text, as elsewhere in the API.
func asked(r *http.Request) (url.Values, error) {
	v, err := web.Query(r)
	if err == nil && v.Get("text") == "" && v.Get("q") != "" {
		v.Set("text", v.Get("q"))
		v.Del("q")
	}
	return v, err
}

// parameters reads values and keeps the first error.
type parameters struct {
	v   url.Values
	err error
}

// fail says what a parameter must be, unless an earlier one was wrong already.
func (p *parameters) fail(name, format string, args ...any) {
	if p.err == nil {
		p.err = courant.Errorf(courant.Invalid, "%s must be %s, not %q", name, fmt.Sprintf(format, args...), p.v.Get(name))
	}
}

// one is the number that words gives the value.
func (p *parameters) one(name string, words map[string]int) int {
	n, ok := words[p.v.Get(name)]
	if !ok {
		all := slices.DeleteFunc(slices.Sorted(maps.Keys(words)), func(w string) bool { return w == "" })
		p.fail(name, "one of %s", strings.Join(all, ", "))
	}
	return n
}

func (p *parameters) yes(name string) bool {
	return p.one(name, map[string]int{"": 0, "false": 0, "0": 0, "true": 1, "1": 1}) == 1
}

func (p *parameters) number(name string, usual, least, most int) int {
	text := p.v.Get(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		p.fail(name, "a number from %d to %d", least, most)
		return usual
	}
	return n
}

// price is in hundredths, 0 for none.
func (p *parameters) price(name string) int64 {
	text := strings.TrimSpace(p.v.Get(name))
	if text == "" {
		return 0
	}
	f, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	if err != nil || !(f >= 0 && f <= 1e13) { // nor NaN
		p.fail(name, "a price, such as 19.90")
		return 0
	}
	return int64(math.Round(f * 100))
}

// share is a fraction above 0, 1 for none.
func (p *parameters) share(name string) float64 {
	text := p.v.Get(name)
	if text == "" {
		return 1
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f > 0 && f <= 1) {
		p.fail(name, "above 0 and at most 1")
		return 1
	}
	return f
}

// filters reads Age:3..8;Color:red|blue.
func (p *parameters) filters() (all []shard.Filter) {
	for _, list := range p.v["param"] {
		for part := range strings.SplitSeq(list, ";") {
			if strings.TrimSpace(part) == "" {
				continue
			}
			name, values, ok := strings.Cut(part, ":")
			if !ok {
				p.fail("param", "a name, a colon and values, as in Color:red|blue")
				return nil
			}
			f := shard.Filter{Name: name}
			for value := range strings.SplitSeq(values, "|") {
				f.Values = append(f.Values, valueOf(value))
			}
			all = append(all, f)
		}
	}
	return all
}

// valueOf parses a text, or a range lo..hi either end of which may be missing.
func valueOf(text string) shard.Value {
	v := shard.Value{Text: text, Lo: math.Inf(-1), Hi: math.Inf(1)}
	lo, hi, ok := strings.Cut(text, "..")
	if !ok {
		return v
	}
	for _, end := range []struct {
		text string
		to   *float64
	}{{lo, &v.Lo}, {hi, &v.Hi}} {
		if end.text = strings.TrimSpace(end.text); end.text == "" {
			continue
		}
		f, err := strconv.ParseFloat(end.text, 64)
		if err != nil || math.IsNaN(f) {
			return v
		}
		*end.to = f
	}
	v.Range = true
	return v
}

// person reads profile=segment:3;budget:0.4;thrift:0.2;haste:0.9.
func (p *parameters) person(who *shard.Person) {
	for part := range strings.SplitSeq(p.v.Get("profile"), ";") {
		name, value, _ := strings.Cut(part, ":")
		if strings.TrimSpace(value) == "" {
			continue
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(value), 32)
		if err != nil || !(math.Abs(f) <= mostProfile) { // nor NaN
			p.fail("profile", "names with numbers, as in segment:3;budget:0.4")
			return
		}
		switch strings.TrimSpace(name) {
		case "segment":
			who.Segment = int(f)
		case "budget":
			who.Budget = float32(f)
		case "thrift":
			who.Thrift = float32(f)
		case "haste":
			who.Haste = float32(f)
		default:
			p.fail("profile", "numbers for segment, budget, thrift and haste only")
		}
	}
}

// mostProfile is the largest meaningful number of a profile.
const mostProfile = 1e6

// OfferName identifies an offer by its shop and the shop's id.
type OfferName struct {
	Shop string `json:"shop"`
	ID   string `json:"id"`
}

// Hit is a result in the API.
type Hit struct {
	URL       string             `json:"url"`
	Title     string             `json:"title"`
	Source    string             `json:"source"`
	Offer     string             `json:"offer,omitempty"`
	Vendor    string             `json:"vendor,omitempty"`
	Price     string             `json:"price,omitempty"`
	OldPrice  string             `json:"old_price,omitempty"`
	Currency  string             `json:"currency,omitempty"`
	Available bool               `json:"available,omitempty"`
	Published courant.Time       `json:"published_at"`
	Relaxed   bool               `json:"relaxed,omitempty"`
	Score     float64            `json:"score"`
	Features  map[string]float32 `json:"features,omitempty"`
}

// Found is the answer to a query.
type Found struct {
	Total        int                       `json:"total"`
	TotalRelaxed int                       `json:"total_relaxed"`
	Offers       []OfferName               `json:"offers"`
	Hits         []Hit                     `json:"hits"`
	Facets       map[string]map[string]int `json:"facets"`
	Conflicts    []shard.Conflict          `json:"category_conflicts,omitempty"`
	Coverage     Coverage                  `json:"coverage"`
	TookMS       float64                   `json:"took_ms"`
	Experiment   string                    `json:"experiment"`      // NAME:ARM, "" for none
	Query        string                    `json:"query,omitempty"` // identifies this answer to POST /api/v1/clicks
}

// Coverage is which share of the matching documents was ranked, and why not all.
type Coverage struct {
	Share  float64        `json:"share"`
	Shards []index.Report `json:"shards"`
	Stale  int            `json:"stale_seconds,omitempty"` // age of a remembered answer

	// Building is true while the index is being built; then results are incomplete.
	Building bool `json:"building,omitempty"`
}

// api answers a query as JSON.
func (s *Search) api(w http.ResponseWriter, r *http.Request) {
	given, err := asked(r)
	var q request
	if err == nil {
		q, err = s.request(given)
	}
	if err != nil {
		web.Fail(w, r, s.Log, err)
		return
	}
	arm := s.armOf(given.Get("user"))
	q.Program = isProgram(r)
	q.Share, q.reranker = min(q.Share, arm.share), arm.reranker
	found, err := s.Find(r.Context(), &q)
	if err != nil {
		web.Fail(w, r, s.Log, err)
		return
	}
	out := s.found(&q, &found)
	if out.Experiment = arm.String(); arm.user != "" {
		s.exposed.add(arm)
		if out.Query, err = s.sign(r.Context(), arm, r.URL.RawQuery, found.Hits[min(len(found.Hits), (q.Page-1)*q.K):]); err != nil {
			web.Fail(w, r, s.Log, err)
			return
		}
	}
	web.JSON(w, http.StatusOK, out)
}

func (s *Search) found(q *request, r *Result) Found {
	f := Found{Total: r.Total, TotalRelaxed: r.Relaxed, Offers: []OfferName{}, Hits: []Hit{}, Facets: facets(&r.Facets),
		Conflicts: r.Conflicts, Coverage: Coverage{r.Share, r.Shards, int(math.Ceil(r.Age.Seconds())), r.Building}, TookMS: float64(r.Took.Microseconds()) / 1000}
	for _, h := range r.Hits[min(len(r.Hits), (q.Page-1)*q.K):] {
		if h.Offer != "" {
			f.Offers = append(f.Offers, OfferName{h.Source, h.Offer})
		}
		f.Hits = append(f.Hits, s.hit(h))
	}
	return f
}

func (s *Search) hit(h shard.Hit) Hit {
	out := Hit{URL: h.URL, Title: h.Title, Source: h.Source, Offer: h.Offer, Vendor: h.Vendor, Price: decimal(h.Price),
		OldPrice: decimal(h.Old), Currency: h.Currency, Available: h.Available, Relaxed: h.Relaxed, Score: h.Score}
	out.Published.Time = h.Published
	if h.Features != nil {
		out.Features = map[string]float32{}
		for i, name := range shard.FeatureNames(s.Index.Signals) {
			if v := h.Features[i]; v == v {
				out.Features[name] = v
			}
		}
	}
	return out
}

// decimal formats a price, "" for none.
func decimal(hundredths int64) string {
	if hundredths <= 0 {
		return ""
	}
	text := strconv.FormatInt(hundredths/100, 10)
	if part := hundredths % 100; part != 0 {
		text += "." + strconv.FormatInt(100+part, 10)[1:]
	}
	return text
}

// facets are the counts by name, limited to the most frequent values.
func facets(f *shard.Facets) map[string]map[string]int {
	prices := map[string]int{}
	for i, n := range f.Prices {
		if n > 0 {
			prices[priceRange(i)] = n
		}
	}
	return map[string]map[string]int{"vendor": most(f.Vendors), "category": most(f.Categories), "price": prices}
}

func priceRange(i int) string {
	from := strconv.FormatInt(shard.PriceBounds[i]/100, 10) + "-"
	if i+1 < len(shard.PriceBounds) {
		from += strconv.FormatInt(shard.PriceBounds[i+1]/100, 10)
	}
	return from
}

// most are the most frequent values.
func most(counts map[string]int) map[string]int {
	out := map[string]int{}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for _, n := range names[:min(len(names), mostValues)] {
		out[n] = counts[n]
	}
	return out
}

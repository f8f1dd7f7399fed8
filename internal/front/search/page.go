package search

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/look"
	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/search/shard"
	"github.com/courant-platform/courant/internal/search/words"
	"github.com/courant-platform/courant/internal/table"
)

//go:embed search.html
var pageText string

var pageTemplate = template.Must(template.New("search").Parse(pageText))

// pageView is the data of the search page.
type pageView struct {
	Style, FindStyle template.HTML
	Text, Problem    string
	Asked, Filtered  bool
	Building         bool // the index is incomplete
	Docs             int
	Total, Relaxed   int
	Partial          string
	Kept             []pair // filters that a new search keeps
	Orders           []choice
	Facets           []facetView
	Hits             []hitView
	Before, After    string
	Plain            string   // the same text without filters
	Hints            []choice // other texts, if no document has the words as written
	Took             string
}

type pair struct{ Name, Value string }

type choice struct {
	Name, Href string
	Count      int
	Current    bool
}

type facetView struct {
	Name   string
	Open   bool
	Values []choice
}

type hitView struct {
	Href, Picture   string
	Title, Snippet  []Piece
	Price, OldPrice string
	Currency        string
	Available       bool
	From            string
}

const pageTop = 24

// page answers a query as an HTML page, which works without scripts.
func (s *Search) page(w http.ResponseWriter, r *http.Request) {
	given, bad := asked(r)
	v := pageView{Style: look.Style(), FindStyle: look.Find(), Text: given.Get("text")}
	for name, values := range given {
		v.Asked = v.Asked || strings.TrimSpace(values[0]) != "" && name != "k"
	}
	status := http.StatusOK
	err := bad
	if err == nil {
		err = s.fill(r, &v, given)
	}
	if err != nil {
		if status = web.Status(err); status == http.StatusInternalServerError {
			s.Log.Error("search failed", "error", err)
			err = courant.Errorf(courant.Busy, "The search failed. Try again in a moment.")
		}
		v.Problem = err.Error()
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src "+look.StyleSource()+"; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	w.WriteHeader(status)
	if err := pageTemplate.Execute(w, v); err != nil {
		s.Log.Debug("search page not sent", "error", err)
	}
}

// fill runs the query and fills in the results.
func (s *Search) fill(r *http.Request, v *pageView, given url.Values) error {
	if !v.Asked {
		v.Docs = s.Backend.Docs()
		return nil
	}
	if given.Get("k") == "" {
		given.Set("k", strconv.Itoa(pageTop))
	}
	q, err := s.request(given)
	if err != nil {
		return err
	}
	q.Program = isProgram(r)
	found, err := s.Find(r.Context(), &q)
	if err != nil {
		return err
	}
	v.Total, v.Relaxed, v.Building = found.Total, found.Relaxed, found.Building
	if found.Share < 1 {
		v.Partial = fmt.Sprintf("ranked %.0f %% of them", 100*found.Share)
	}
	if found.Age > 0 {
		v.Partial = fmt.Sprintf("results from %d s ago", int(math.Ceil(found.Age.Seconds())))
	}
	v.Took = fmt.Sprintf("%.1f ms", float64(found.Took.Microseconds())/1000)
	l := links{given: given}
	v.links(l, &q, &found)
	if v.Total == 0 && q.Text != "" {
		hints, err := s.complete(r.Context(), q.Text, 5)
		if err != nil {
			return err
		}
		for _, h := range hints {
			v.Hints = append(v.Hints, choice{Name: h.Text, Href: l.with("text", h.Text), Count: h.Count})
		}
	}
	return s.hits(r, v, &q, found.Hits[min(len(found.Hits), (q.Page-1)*q.K):])
}

// links builds URLs of searches like this one.
type links struct{ given url.Values }

// with is this search, from its first page, with a parameter set; "" removes it.
func (l links) with(name, value string) string {
	v := maps.Clone(l.given)
	v.Del("page")
	v.Del("k")
	v.Set(name, value)
	if value == "" {
		v.Del(name)
	}
	return "/search?" + v.Encode()
}

func (l links) page(n int) string {
	v := maps.Clone(l.given)
	v.Del("k")
	v.Set("page", strconv.Itoa(n))
	return "/search?" + v.Encode()
}

// links fills in the links to orders, facets and pages.
func (v *pageView) links(l links, q *request, r *Result) {
	for name, values := range l.given {
		if name != "text" && name != "page" && name != "k" && values[0] != "" {
			v.Kept = append(v.Kept, pair{name, values[0]})
			v.Filtered = v.Filtered || name != "sort"
		}
	}
	slices.SortFunc(v.Kept, func(a, b pair) int { return cmp.Compare(a.Name, b.Name) })
	v.Plain = "/search?" + url.Values{"text": {v.Text}}.Encode()
	for _, o := range []pair{{"best", ""}, {"cheapest", "price"}, {"most expensive", "-price"}, {"newest", "date"}} {
		v.Orders = append(v.Orders, choice{Name: o.Name, Href: l.with("sort", o.Value), Current: l.given.Get("sort") == o.Value})
	}
	v.facets(l, r)
	if q.Page > 1 {
		v.Before = l.page(q.Page - 1)
	}
	if r.Total+r.Relaxed > q.Top && q.Top+q.K <= deepest {
		v.After = l.page(q.Page + 1)
	}
}

const mostShown = 30 // values of a facet on a page

func (v *pageView) facets(l links, r *Result) {
	counted := func(name, param string, counts map[string]int, title func(string) string) {
		f := facetView{Name: name, Open: true}
		for value, n := range counts {
			c := choice{Name: title(value), Href: l.with(param, value), Count: n, Current: l.given.Get(param) == value}
			if c.Current {
				c.Href = l.with(param, "")
			}
			f.Values = append(f.Values, c)
		}
		slices.SortFunc(f.Values, func(a, b choice) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
		f.Values = f.Values[:min(len(f.Values), mostShown)]
		if len(f.Values) > 0 {
			v.Facets = append(v.Facets, f)
		}
	}
	counted("Category", "category", r.Facets.Categories, func(id string) string { return cmp.Or(r.Facets.Names[id], id) })
	counted("Vendor", "vendor", r.Facets.Vendors, func(name string) string { return name })
	prices := facetView{Name: "Price", Open: true}
	for i, n := range r.Facets.Prices {
		if n > 0 {
			prices.Values = append(prices.Values, l.price(i, n))
		}
	}
	if len(prices.Values) > 0 {
		v.Facets = append(v.Facets, prices)
	}
}

// price is the choice of the i-th price range.
func (l links) price(i, n int) choice {
	c := choice{Name: priceRange(i), Count: n}
	low, high := strconv.FormatInt(shard.PriceBounds[i]/100, 10), ""
	if i+1 < len(shard.PriceBounds) {
		high = decimal(shard.PriceBounds[i+1] - 1)
	} else {
		c.Name = "from " + low
	}
	v := maps.Clone(l.given)
	c.Current = v.Get("price_min") == low && v.Get("price_max") == high
	if c.Current {
		low, high = "", ""
	}
	for name, value := range map[string]string{"price_min": low, "price_max": high, "page": "", "k": ""} {
		if v.Set(name, value); value == "" {
			v.Del(name)
		}
	}
	c.Href = "/search?" + v.Encode()
	return c
}

// hits fills in the results.
func (s *Search) hits(r *http.Request, v *pageView, q *request, hits []shard.Hit) error {
	asks := asksFor(q.Words)
	return s.Store.Read(r.Context(), func(db store.Reader) error {
		for _, h := range hits {
			view := hitView{Href: "/page?url=" + url.QueryEscape(h.URL), Price: grouped(decimal(h.Price)), Currency: h.Currency, Available: h.Available}
			if h.Old > h.Price {
				view.OldPrice = grouped(decimal(h.Old))
			}
			view.Title = pieces(h.Title, spans(h.Title, asks))
			text, err := view.read(db, h)
			if err != nil {
				return err
			}
			if h.Offer == "" && !h.Published.IsZero() {
				view.From += " · " + h.Published.Format("2 January 2006")
			}
			if text != "" {
				view.Snippet = snippet(text, asks)
			}
			v.Hits = append(v.Hits, view)
		}
		return nil
	})
}

// grouped separates the thousands of a price by narrow no-break spaces.
func grouped(price string) string {
	whole, part, cut := strings.Cut(price, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "\u202f" + whole[at:]
	}
	if cut {
		whole += "." + part
	}
	return whole
}

// asksFor returns a function that reports whether a query asks for a word, or for one
// with the same stem.
func asksFor(asked []shard.Word) func(string) bool {
	plain, stems := map[string]bool{}, map[string]bool{}
	for _, w := range asked {
		for _, text := range append([]string{w.Text}, w.Synonyms...) {
			plain[text] = true
			words.Stems(text, func(key string) { stems[key] = true })
		}
	}
	return func(word string) bool {
		found := plain[word]
		words.Stems(word, func(key string) { found = found || stems[key] })
		return found
	}
}

// read reads who published a page and its picture. It returns its text unless it is an
// offer.
func (v *hitView) read(db store.Reader, h shard.Hit) (text string, err error) {
	if err := db.Row(readShown, h.ID).Scan(&v.Picture, &v.From); store.NoRow(err) { // withdrawn since
		v.From = h.Source
		return "", nil
	} else if err != nil || h.Offer != "" {
		return "", err
	}
	packed, err := table.Body(db, h.ID)
	if store.NoRow(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var doc courant.Document
	if err = pack.Decode(packed, &doc); err != nil {
		return "", err
	}
	return markup.Text(cmp.Or(doc.Item.Content, doc.Item.Summary)), nil
}

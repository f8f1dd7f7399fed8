package catalog

import (
	"strings"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/when"
)

// prices are the prices of an offer as its elements give them. They are settled when the
// whole offer is known, because the currency may follow them.
type prices struct {
	price, old, sale amount
	attr             string // currency in an attribute
	dates            string // of the sale, as written
}

// readPrice reads a price element.
func (r *reader) readPrice(o *courant.Offer, to *amount, attr *string) {
	s := &r.scan
	if len(s.Attrs) == 0 && to.number == "" {
		if text := r.text(); isDecimal(text) {
			to.number = text
		} else {
			r.setPrice(o, to, text, "")
		}
		return
	}
	name, from, value, code := s.Raw, yes(s.Attr("from")), s.Attr("value"), s.Attr("currency")
	first(&code, s.Attr("currencyId"))
	text := r.text()
	first(&text, strings.TrimSpace(value))
	r.setPrice(o, to, text, name)
	to.from = to.from || from
	first(attr, currency(code))
}

// setPrice sets a price from its text; a second one, in the element name, is a detail.
func (r *reader) setPrice(o *courant.Offer, to *amount, text, name string) {
	a, ok := parseAmount(text)
	switch {
	case !ok:
		r.here("bad-price", "this is not a price; write digits with a decimal point, like 1299.90")
	case to.number == "":
		*to = a
	case a.number != "" && a.number != to.number:
		r.repeated(o, name, text)
	}
}

// price reads the price of a promotion.
func (r *reader) price(text string) string {
	a, ok := parseAmount(text)
	if !ok {
		r.here("bad-price", "this is not a price; write digits with a decimal point, like 1299.90")
	}
	return a.number
}

// settle sets the prices of an offer and its currency: that of an own element, else that
// of an attribute, else that in the text of the price, else that of the shop.
func (r *reader) settle(o *courant.Offer, p *prices) {
	first(&o.Currency, p.attr)
	for _, a := range [...]*amount{&p.price, &p.sale, &p.old} {
		r.settleCurrency(o, a)
	}
	if o.Currency == "" && p.price.number+p.sale.number != "" {
		o.Currency = r.mainCurrency()
	}
	for _, a := range [...]*amount{&p.price, &p.sale, &p.old} {
		r.settleNumber(o.Currency, a)
	}
	o.PriceFrom = p.price.from
	if r.merchant {
		r.settleSale(o, p)
		return
	}
	o.Price, o.OldPrice = p.price.number, p.old.number
	if o.OldPrice != "" && !isZero(o.Price) && !isLower(o.Price, o.OldPrice) {
		r.here("bad-old-price", "the old price "+o.OldPrice+" of offer "+o.ID+" is not higher than its price and was left out; write oldprice only for a discount")
		o.OldPrice = ""
	}
}

func (r *reader) settleCurrency(o *courant.Offer, a *amount) {
	if a.rest != "" {
		r.here("unclear-price", "the price "+a.number+" of offer "+o.ID+" is followed by text that is no known currency and was left out: "+short(a.rest)+"; write the number and a code such as USD")
	}
	switch {
	case a.currency == "" || a.currency == o.Currency:
	case o.Currency == "":
		o.Currency = a.currency
		if a.vague != "" {
			r.here("unclear-price", "the sign "+a.vague+" in a price of offer "+o.ID+" stands for several currencies and was read as "+a.currency+"; write the code, like 5.00 "+a.currency)
		}
	case a.vague == "":
		r.here("unclear-price", "a price of offer "+o.ID+" is in "+a.currency+", but its currency is "+o.Currency+", which was used; write one currency")
	}
}

// settleNumber decides what 12.990 is. The point is the decimal mark in all formats.
func (r *reader) settleNumber(currency string, a *amount) {
	if !isGrouped(a.number) {
		return
	}
	switch decimals(currency) {
	case 0:
		a.number = strings.Replace(a.number, ".", "", 1)
	case 2:
		r.here("unclear-price", "the price "+a.number+" was read as a number with three decimals; if the point separates thousands, write the price without it")
	}
}

// mainCurrency is the currency of a catalogue whose list of currencies has one alone, or
// one of rate 1.
func (r *reader) mainCurrency() (main string) {
	if r.out.Shop == nil {
		return ""
	}
	list := r.out.Shop.Currencies
	if len(list) == 1 {
		return list[0].ID
	}
	for _, c := range list {
		if c.Rate != "1" {
			continue
		}
		if main != "" {
			return ""
		}
		main = c.ID
	}
	return main
}

// settleSale sets the price and the old price of an offer of a product feed. A sale with
// dates stays in the offer, so that its price can change without a new reading.
func (r *reader) settleSale(o *courant.Offer, p *prices) {
	price, sale := p.price.number, p.sale.number
	o.Price = price
	switch {
	case sale == "":
		if p.dates != "" {
			r.note("g:sale_price_effective_date", r.scan.Offset, "the offer has no sale price, so its %s is ignored")
		}
		return
	case isZero(price) && !isZero(sale):
		o.Price = sale
		return
	case p.sale.currency != "" && p.sale.vague == "" && p.sale.currency != o.Currency:
		r.here("bad-sale", "the sale price "+sale+" of offer "+o.ID+" is in "+p.sale.currency+", but its price is in "+o.Currency+", so the price was used; write both in one currency")
		return
	case isZero(sale) || !isLower(sale, price):
		r.here("bad-sale", "the sale price "+sale+" of offer "+o.ID+" is not between 0 and its price, so the price was used; write sale_price only for a discount")
		return
	case p.dates == "":
		o.Price, o.OldPrice = sale, price
		return
	}
	begins, ends, ok := interval(p.dates)
	if !ok {
		r.here("bad-sale", "the dates of the sale of offer "+o.ID+" cannot be read, so its sale price "+sale+" was left out; write them like 2026-01-31T00:00+03:00/2026-02-15T23:59+03:00")
		return
	}
	o.Sale = &courant.Sale{Price: sale, Regular: price, Begins: courant.Time{Time: begins}, Ends: courant.Time{Time: ends}}
	o.Price, o.OldPrice = o.PriceAt(r.opt.Now)
}

// interval reads the two dates of a sale, such as 2016-02-24T13:00-0800/2016-02-29T15:30-0800
// (ISO 8601). Either may be missing and is zero then. A date without a zone is in UTC; the
// day of an end without a time belongs to the sale.
func interval(text string) (begins, ends time.Time, ok bool) {
	from, to, ok := cutInterval(text)
	if !ok {
		return begins, ends, false
	}
	if isOpen(from) && isOpen(to) {
		return begins, ends, false
	}
	if !isOpen(from) {
		if begins, _, ok = when.Parse(from); !ok {
			return begins, ends, false
		}
	}
	if !isOpen(to) {
		if ends, _, ok = when.Parse(to); !ok {
			return begins, ends, false
		}
		if !strings.ContainsAny(to, ":Tt") {
			ends = ends.AddDate(0, 0, 1)
		}
	}
	return begins, ends, begins.IsZero() || ends.IsZero() || begins.Before(ends)
}

// cutInterval cuts an interval in two. Dates that contain slashes themselves have five.
func cutInterval(text string) (from, to string, ok bool) {
	if strings.Count(text, "/") == 5 {
		parts := strings.Split(text, "/")
		return strings.Join(parts[:3], "/"), strings.Join(parts[3:], "/"), true
	}
	for _, mark := range [...]string{"/", " - ", " – ", " — ", " to ", "..", ";", "|", ","} {
		if from, to, ok = strings.Cut(text, mark); ok {
			return strings.TrimSpace(from), strings.TrimSpace(to), !strings.Contains(to, mark)
		}
	}
	return "", "", false
}

// isOpen reports whether an end of an interval is open.
func isOpen(text string) bool { return text == "" || text == ".." || text == "-" || text == "--" }

package light

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
)

// product is the data of an offer for the template.
type product struct {
	Pictures         []shown
	Price, OldPrice  string // formatted, "" if there is none
	Amount, Currency string // machine-readable
	From             bool
	Percent          string // of the discount
	Available        bool
	Availability     string
	Schema           string // the availability as a term of schema.org
	Vendor           string
	Category         []string
	Params           []courant.Param
	Details          []courant.Param
	Codes            []code
	Delivery, Pickup []string
	Notes            string
	Shop             string // address of the offer at the shop
}

// code is an identifier of a product with the name of its property at schema.org.
type code struct{ Name, Property, Value string }

// First returns the picture that is shown large.
func (p *product) First() shown { return p.Pictures[0] }

// product returns the data of the offer for the template.
func (p Page) product() *product {
	o := p.Document.Whole(p.Now)
	v := &product{Currency: o.Currency, From: o.PriceFrom, Available: o.Available, Vendor: o.Vendor,
		Category: o.Category, Notes: o.SalesNotes, Params: o.Params, Details: details(o), Codes: codes(o),
		Delivery: ways(o.DeliveryOptions, o.Delivery, o.Currency, "Delivery"), Pickup: ways(o.PickupOptions, o.Pickup, o.Currency, "Pickup")}
	if host := link.Host(o.URL); host != "" && host != courant.ImportHost {
		v.Shop = o.URL
	}
	for _, url := range o.Pictures {
		s := p.show(url)
		if s == nil || slices.ContainsFunc(v.Pictures, func(other shown) bool { return other.Src == s.Src }) {
			continue
		}
		s.Alt = o.Name
		v.Pictures = append(v.Pictures, *s)
	}
	v.prices(o)
	v.Availability, v.Schema = availability(o)
	return v
}

// prices sets the price, and the old price if it is higher.
func (p *product) prices(o *courant.Offer) {
	price, ok := amount(o.Price)
	if !ok || price.Sign() <= 0 {
		return
	}
	p.Price, p.Amount = money(o.Price, o.Currency), o.Price
	old, ok := amount(o.OldPrice)
	if !ok || old.Cmp(price) <= 0 {
		return
	}
	p.OldPrice = money(o.OldPrice, o.Currency)
	share := new(big.Rat).Quo(new(big.Rat).Sub(old, price), old)
	hundredths := share.Mul(share, big.NewRat(100, 1))
	if percent := new(big.Int).Quo(hundredths.Num(), hundredths.Denom()); percent.Sign() > 0 {
		p.Percent = percent.String()
	}
}

// availability returns the availability in words and as a term of schema.org.
func availability(o *courant.Offer) (words, schema string) {
	switch {
	case o.Availability == "preorder":
		return "Preorder", "PreOrder"
	case o.Available:
		return "In stock", "InStock"
	case o.Availability == "backorder" || o.Availability == "":
		return "On order", "BackOrder"
	case o.Availability == "out_of_stock":
		return "Out of stock", "OutOfStock"
	}
	return sentence(o.Availability), "OutOfStock"
}

// sentence converts a name like page_extent to "Page extent".
func sentence(name string) string {
	name = strings.TrimSpace(strings.ReplaceAll(name, "_", " "))
	first, n := utf8.DecodeRuneInString(name)
	if n == 0 || first == utf8.RuneError {
		return name
	}
	return string(unicode.ToUpper(first)) + name[n:]
}

// details returns the rows of the table beyond the params of the offer.
func details(o *courant.Offer) []courant.Param {
	var out []courant.Param
	add := func(name, value string) {
		if value != "" && value != "false" {
			out = append(out, courant.Param{Name: name, Value: value})
		}
	}
	for _, d := range o.Details {
		out = append(out, courant.Param{Name: cmp.Or(sentence(d.Name), "Detail"), Value: d.Value, Unit: d.Unit})
	}
	add("Condition", condition(o))
	add("Kind", o.TypePrefix)
	add("Model", o.Model)
	add("Country of origin", o.Country)
	add("Weight", o.Weight)
	add("Length × width × height", dimensions(o.Dimensions))
	add("For age", o.Age)
	add("Warranty", yes(o.Warranty))
	add("Expires", o.Expiry)
	if o.MinQuantity != "1" {
		add("Minimum order", o.MinQuantity)
	}
	if o.StepQuantity != "1" {
		add("Order in multiples of", o.StepQuantity)
	}
	if o.Adult {
		add("For adults only", "yes")
	}
	return out
}

// yes replaces true by yes.
func yes(value string) string {
	if strings.EqualFold(value, "true") {
		return "yes"
	}
	return value
}

func condition(o *courant.Offer) string {
	word := sentence(o.Condition)
	switch strings.ToLower(o.Condition) {
	case "likenew":
		word = "Like new"
	case "":
		return o.ConditionReason
	}
	if o.ConditionReason != "" {
		word += ": " + o.ConditionReason
	}
	return word
}

func dimensions(s string) string {
	if s == "" || strings.Trim(s, "0123456789./ ") != "" {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, " ", ""), "/", " × ") + "\u00a0cm"
}

func codes(o *courant.Offer) []code {
	var out []code
	if o.VendorCode != "" {
		out = append(out, code{"Item number", "mpn", o.VendorCode})
	}
	for _, b := range o.Barcodes {
		out = append(out, code{"Barcode", "gtin", b})
	}
	return out
}

// ways describes the ways of delivery or pickup; possible applies if the shop lists
// none.
func ways(options []courant.Shipping, possible *bool, currency, name string) []string {
	var out []string
	for _, w := range options {
		if text := shipping(w, currency); text != "" {
			out = append(out, text)
		}
	}
	switch {
	case len(out) > 0 || possible == nil:
	case *possible:
		out = append(out, name+" is possible")
	default:
		out = append(out, "No "+strings.ToLower(name))
	}
	return out
}

// shipping describes the cost and the duration of one way.
func shipping(w courant.Shipping, currency string) string {
	var parts []string
	add := func(part string) {
		if part != "" {
			parts = append(parts, part)
		}
	}
	add(w.Service)
	add(w.Where)
	switch cost, ok := amount(w.Cost); {
	case ok && cost.Sign() == 0:
		add("free")
	case ok:
		add(money(w.Cost, currency))
	default:
		add(w.Cost)
	}
	switch w.Days {
	case "":
	case "0":
		add("today")
	case "1":
		add("1 day")
	default:
		add(strings.ReplaceAll(w.Days, "-", "–") + " days")
	}
	if w.OrderBefore != "" && len(parts) > 0 {
		add("if ordered before " + w.OrderBefore + ":00")
	}
	return strings.Join(parts, ", ")
}

package light

import (
	"math/big"
	"strings"

	"github.com/courant-platform/courant"
)

// product is an offer as the template sees it.
type product struct {
	Pictures         []shown
	Price, OldPrice  string // formatted, "" for none
	Amount, Currency string // as machines read them
	From             bool
	Percent          string // of the discount
	Available        bool
	Availability     string
	Vendor           string
	Category         []string
	Facts            []courant.Param
	Delivery         []string
	Notes            string
	Shop             string // address at the shop
}

// product is what the page says of its offer.
func (p Page) product() *product {
	o := p.Document.Whole()
	v := &product{Currency: o.Currency, From: o.PriceFrom, Available: o.Available, Vendor: o.Vendor, Category: o.Category, Notes: o.SalesNotes, Shop: o.URL}
	for _, url := range o.Pictures {
		if s := p.show(url); s != nil {
			s.Alt = o.Name
			v.Pictures = append(v.Pictures, *s)
		}
	}
	if price, ok := new(big.Rat).SetString(o.Price); ok && price.Sign() > 0 {
		v.Price, v.Amount = money(o.Price, o.Currency), o.Price
		if old, ok := new(big.Rat).SetString(o.OldPrice); ok && old.Cmp(price) > 0 {
			v.OldPrice = money(o.OldPrice, o.Currency)
			share := new(big.Rat).Quo(new(big.Rat).Sub(old, price), old)
			v.Percent = share.Mul(share, big.NewRat(100, 1)).FloatString(0)
		}
	}
	v.Availability = availability(o)
	v.Facts = facts(o)
	for _, w := range o.DeliveryOptions {
		if text := shipping(w, o.Currency); text != "" {
			v.Delivery = append(v.Delivery, text)
		}
	}
	return v
}

func availability(o *courant.Offer) string {
	switch {
	case o.Available:
		return "In stock"
	case o.Availability != "":
		word := strings.ReplaceAll(o.Availability, "_", " ")
		return strings.ToUpper(word[:1]) + word[1:]
	}
	return "On order"
}

// facts are the properties of an offer, those that the shop names itself first.
func facts(o *courant.Offer) []courant.Param {
	out := append([]courant.Param{}, o.Params...)
	for _, d := range o.Details {
		out = append(out, courant.Param{Name: strings.ReplaceAll(strings.ToUpper(d.Name[:1])+d.Name[1:], "_", " "), Value: d.Value})
	}
	for _, f := range []courant.Param{
		{Name: "Condition", Value: strings.TrimSpace(o.Condition + " " + o.ConditionReason)}, {Name: "Country of origin", Value: o.Country},
		{Name: "Weight", Value: o.Weight}, {Name: "Dimensions", Value: o.Dimensions}, {Name: "Age", Value: o.Age},
		{Name: "Model", Value: o.Model}, {Name: "Article", Value: o.VendorCode}, {Name: "Barcode", Value: strings.Join(o.Barcodes, ", ")},
	} {
		if f.Value != "" {
			out = append(out, f)
		}
	}
	return out
}

// shipping says what a delivery costs and how long it takes.
func shipping(w courant.Shipping, currency string) string {
	var parts []string
	if w.Service != "" {
		parts = append(parts, w.Service)
	}
	if w.Where != "" {
		parts = append(parts, w.Where)
	}
	switch cost, ok := new(big.Rat).SetString(w.Cost); {
	case ok && cost.Sign() == 0:
		parts = append(parts, "free")
	case ok:
		parts = append(parts, money(w.Cost, currency))
	case w.Cost != "":
		parts = append(parts, w.Cost)
	}
	switch w.Days {
	case "":
	case "0":
		parts = append(parts, "today")
	case "1":
		parts = append(parts, "1 day")
	default:
		parts = append(parts, w.Days+" days")
	}
	return strings.Join(parts, ", ")
}

// money writes an amount for people: thousands apart, decimals only if there are
// any, the sign of the currency after it.
func money(amount, currency string) string {
	whole, cents, _ := strings.Cut(amount, ".")
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	var b strings.Builder
	for i, c := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 && len(whole) > 4 {
			b.WriteString("\u202f")
		}
		b.WriteRune(c)
	}
	if strings.Trim(cents, "0") != "" {
		b.WriteByte('.')
		b.WriteString((cents + "0")[:max(2, len(cents))])
	}
	if sign := sign(currency); sign != "" {
		b.WriteString("\u00a0" + sign)
	}
	return b.String()
}

func sign(currency string) string {
	switch currency {
	case "RUB":
		return "₽"
	case "USD":
		return "$"
	case "EUR":
		return "€"
	case "GBP":
		return "£"
	case "UAH":
		return "₴"
	case "KZT":
		return "₸"
	case "JPY", "CNY":
		return "¥"
	}
	return currency
}

package catalog

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// items reads a product feed of Google Merchant or Bing: items of RSS or entries
// of Atom with elements of the namespace g; names without a namespace are accepted.
func (r *reader) items() error {
	s, feed := &r.scan, &r.out.Feed
	if isItem(s.Name) && !r.merchantOffer() { // the root element
		return nil
	}
	for {
		switch s.Next() {
		case xmlscan.EOF:
			return nil
		case xmlscan.Start:
			switch {
			case isItem(s.Name):
				if !r.merchantOffer() {
					return nil
				}
			case s.Name.Local == "title" && feed.Title == "":
				feed.Title = strings.Clone(r.text())
			case s.Name.Local == "link" && feed.Link == "":
				href := s.Attr("href")
				if text := r.text(); href == "" {
					href = text
				}
				feed.Link = strings.Clone(r.address(href))
			case s.Name.Local == "description" || s.Name.Local == "subtitle":
				feed.Description = strings.Clone(r.text())
			case s.Name.Local == "updated" || s.Name.Local == "lastbuilddate" || s.Name.Local == "pubdate":
				r.date(&feed.Updated, r.text())
			case s.Name.Local == "channel":
			default:
				s.Skip(isItem)
			}
		}
	}
}

// merchantDraft is an offer that is being read.
type merchantDraft struct {
	*courant.Offer
	price, sale string
	shopPath    string // product_type: the shop's own category
	googlePath  string
}

func (r *reader) merchantOffer() bool {
	s := &r.scan
	offset, raw := s.Offset, s.Raw
	o := &courant.Offer{Available: true}
	d := merchantDraft{Offer: o}
	s.Children(isItem, func() {
		if s.Kind() == xmlscan.Start {
			r.merchantElement(&d)
		}
	})
	if r.cut = s.Truncated(); r.cut {
		return true
	}
	if o.ID == "" {
		if o.ID = o.URL; o.ID == "" {
			r.warn("offer-without-id", offset, raw, "the offer has no g:id and was left out; add a g:id, which must never change")
			return true
		}
		r.warn("offer-without-id", offset, raw, "the offer has no g:id and its link was used as the id; add a g:id, which must never change")
	}
	o.Price = d.price
	if d.sale != "" {
		o.Price, o.OldPrice = d.sale, d.price
	}
	path := d.shopPath
	if path == "" {
		path = d.googlePath
	}
	if path != "" {
		way := r.tree.named(path)
		o.CategoryPath, o.Category = way.ids, way.names
		if n := len(way.ids); n > 0 {
			o.CategoryID = way.ids[n-1]
		}
	}
	if o.Name == "" {
		r.warn("offer-without-name", offset, raw, "offer "+o.ID+" has no title; add a title")
	}
	lists(o)
	return r.give(o)
}

// merchantElement reads one child of an item.
func (r *reader) merchantElement(d *merchantDraft) {
	s, o := &r.scan, d.Offer
	local := s.Name.Local
	if isForeign(s.Name.Space) {
		s.Skip(isItem)
		return
	}
	switch local {
	case "id", "guid":
		first(&o.ID, r.identifier())
	case "title":
		first(&o.Name, r.text())
	case "description", "summary", "content":
		html := s.Inner(isItem)
		if o.Description == "" {
			o.Description = r.description(html)
		}
	case "link":
		href := s.Attr("href")
		first(&href, r.text())
		first(&o.URL, r.address(href))
	case "image_link", "additional_image_link":
		r.merchantPicture(o, local == "image_link")
	case "price":
		d.price = r.money(o)
	case "sale_price":
		d.sale = r.money(o)
	case "availability":
		r.availability(o)
	case "brand":
		o.Vendor = r.text()
	case "mpn":
		o.VendorCode = r.text()
	case "gtin", "upc", "ean", "isbn":
		if code := r.text(); code != "" && r.room(len(o.Barcodes)) {
			o.Barcodes = append(o.Barcodes, code)
		}
	case "item_group_id":
		o.GroupID = r.identifier()
	case "condition":
		if o.Condition = strings.ToLower(r.text()); o.Condition == "new" {
			o.Condition = ""
		}
	case "adult":
		o.Adult = yes(r.text())
	case "product_type":
		first(&d.shopPath, r.text())
	case "google_product_category":
		first(&d.googlePath, r.text())
	case "shipping":
		r.merchantShipping(o)
	case "shipping_weight":
		o.Weight = r.text()
	default:
		r.merchantParam(o, local)
	}
}

// first keeps the first value that is not empty.
func first(to *string, value string) {
	if *to == "" {
		*to = value
	}
}

// merchantParam reads elements that describe the product and skips those that only
// matter to advertisers.
func (r *reader) merchantParam(o *courant.Offer, local string) {
	s := &r.scan
	switch local {
	case "color", "size", "gender", "age_group", "material", "pattern", "size_type", "size_system", "multipack",
		"is_bundle", "energy_efficiency_class", "unit_pricing_measure", "unit_pricing_base_measure", "expiration_date",
		"availability_date", "product_length", "product_width", "product_height", "product_weight", "year", "author", "publisher":
		p := courant.Param{Name: s.Name.Local}
		if p.Value = r.text(); p.Value != "" && r.room(len(o.Params)) {
			o.Params = append(o.Params, p)
		}
	case "product_detail":
		r.productDetail(o)
	default:
		if s.Name.Space == "g" && !isAdvertising(local) {
			r.unknown()
		}
		s.Skip(isItem)
	}
}

// isAdvertising reports whether an element of the format is of no use to readers.
func isAdvertising(local string) bool {
	switch local {
	case "mobile_link", "online_only", "identifier_exists", "sale_price_effective_date", "installment", "loyalty_points",
		"promotion_id", "excluded_destination", "included_destination", "min_handling_time", "max_handling_time", "tax",
		"shipping_label", "shipping_length", "shipping_width", "shipping_height", "transit_time_label", "ads_redirect",
		"cost_of_goods_sold", "canonical_link", "lifestyle_image_link", "quantity", "product_highlight", "subscription_cost",
		"min_energy_efficiency_class", "max_energy_efficiency_class", "sell_on_google_quantity", "tax_category", "pickup_method",
		"pickup_sla", "external_seller_id", "pause", "shopping_ads_excluded_country", "display_ads_id":
		return true
	}
	return strings.HasPrefix(local, "custom_label_")
}

// merchantPicture puts the main picture first.
func (r *reader) merchantPicture(o *courant.Offer, main bool) {
	for part := range strings.SplitSeq(r.text(), ",http") {
		if part != "" && !strings.HasPrefix(part, "http") {
			part = "http" + part // several addresses in one element
		}
		u := r.address(part)
		switch {
		case u == "" || !r.room(len(o.Pictures)):
		case main:
			o.Pictures = append([]string{u}, o.Pictures...)
		default:
			o.Pictures = append(o.Pictures, u)
		}
	}
}

// money reads an amount with its currency, like "105.29 USD".
func (r *reader) money(o *courant.Offer) string {
	text := r.text()
	amount := strings.TrimFunc(text, func(c rune) bool { return c != '.' && c != ',' && (c < '0' || c > '9') })
	code := line(strings.Replace(text, amount, "", 1))
	if code != "" {
		if sign, ok := map[string]string{"$": "USD", "€": "EUR", "£": "GBP", "₽": "RUB", "R$": "BRL"}[code]; ok {
			code = sign
		}
		o.Currency = currency(code)
	}
	return r.price(amount)
}

// availability accepts the words of the format with spaces or underscores.
func (r *reader) availability(o *courant.Offer) {
	word := strings.ReplaceAll(strings.ToLower(r.text()), " ", "_")
	o.Available = word == "in_stock" || word == "available" || word == "available_for_order" || yes(word)
	if word != "in_stock" && word != "out_of_stock" {
		o.Availability = word
	}
}

func (r *reader) merchantShipping(o *courant.Offer) {
	var way courant.Shipping
	r.children(func(local string) bool {
		switch local {
		case "price":
			way.Cost = r.text()
		case "service":
			way.Service = r.text()
		case "country", "region", "postal_code":
			way.Where = line(way.Where + " " + r.text())
		default:
			return false
		}
		return true
	})
	if r.room(len(o.DeliveryOptions)) {
		o.DeliveryOptions = append(o.DeliveryOptions, way)
	}
}

func (r *reader) productDetail(o *courant.Offer) {
	var p courant.Param
	r.children(func(local string) bool {
		switch local {
		case "attribute_name":
			p.Name = r.text()
		case "attribute_value":
			p.Value = r.text()
		default:
			return false
		}
		return true
	})
	if p.Value != "" && r.room(len(o.Params)) {
		o.Params = append(o.Params, p)
	}
}

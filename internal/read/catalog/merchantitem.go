package catalog

import (
	"strings"

	"github.com/courant-platform/courant"
)

// merchantElement reads one child of an item.
func (r *reader) merchantElement(d *draft) {
	s := &r.scan
	local := s.Name.Local
	if isForeign(s.Name.Space) {
		r.foreign(d.Offer, local)
		return
	}
	if len(s.Attrs) > 0 && !isAdvertising(local) {
		r.attributes()
	}
	switch local {
	case "price":
		r.readPrice(d.Offer, &d.price, &d.attr)
	case "sale_price":
		r.readPrice(d.Offer, &d.sale, &d.attr)
	case "sale_price_effective_date":
		first(&d.dates, r.text())
	case "availability":
		first(&d.availability, r.text())
	case "product_type":
		r.put(d.Offer, &d.shopPath, local, r.text())
	case "google_product_category":
		r.put(d.Offer, &d.googlePath, local, r.text())
	case "category":
		r.postCategory(d)
	default:
		r.merchantText(d.Offer, local)
	}
}

// postCategory reads a category of RSS or Atom.
func (r *reader) postCategory(d *draft) {
	label := r.scan.Attr("label")
	first(&label, r.scan.Attr("term"))
	text := r.text()
	first(&text, line(decoded(label)))
	r.put(d.Offer, &d.postPath, "category", text)
}

// merchantText reads the elements of an item that are one text.
func (r *reader) merchantText(o *courant.Offer, local string) {
	s := &r.scan
	switch local {
	case "id", "guid":
		r.productID(o)
	case "title":
		r.put(o, &o.Name, local, r.text())
	case "description", "summary", "content":
		r.readDescription(o)
	case "link":
		r.productLink(o)
	case "image_link", "additional_image_link", "lifestyle_image_link":
		r.merchantPicture(o, local == "image_link")
	case "enclosure":
		r.enclosure(o)
	case "brand":
		r.put(o, &o.Vendor, local, r.text())
	case "mpn":
		r.put(o, &o.VendorCode, local, r.text())
	case "gtin", "upc", "ean", "isbn":
		if code := r.text(); code != "" && r.room(len(o.Barcodes)) {
			o.Barcodes = append(o.Barcodes, code)
		}
	case "item_group_id":
		r.put(o, &o.GroupID, local, r.identifier())
	case "condition":
		if o.Condition = strings.ToLower(r.text()); o.Condition == "new" {
			o.Condition = ""
		}
	case "currency", "currencyid", "currency_code":
		first(&o.Currency, currency(r.text()))
	case "adult":
		o.Adult = r.boolean(r.text())
	case "shipping":
		r.merchantShipping(o)
	case "shipping_weight":
		r.put(o, &o.Weight, local, r.text())
	case "product_detail":
		r.productDetail(o)
	default:
		r.merchantParam(s.Name.Space, o, local)
	}
}

// productID reads the id of an item. A second one, such as the guid beside g:id, is
// ignored.
func (r *reader) productID(o *courant.Offer) {
	offset, raw := r.scan.Offset, r.scan.Raw
	id := r.identifier()
	if o.ID != "" && id != "" && id != o.ID {
		r.note(raw, offset, "the item has another id before its %s, which is ignored")
		return
	}
	first(&o.ID, id)
}

// productLink reads the address of an item. A second one is ignored.
func (r *reader) productLink(o *courant.Offer) {
	s := &r.scan
	offset, raw, href := s.Offset, s.Raw, s.Attr("href")
	rel, picture := strings.ToLower(s.Attr("rel")), isPicture(s.Attr("type"))
	text := r.text()
	first(&href, text)
	switch {
	case rel == "" || rel == "alternate":
		href = r.address(href)
		if o.URL == "" || href == "" || href == o.URL {
			first(&o.URL, href)
			return
		}
	case rel == "enclosure" && picture:
		r.addPicture(o, href, false)
		return
	}
	r.note(raw, offset, "the item has another link, and this %s is ignored")
}

// isPicture reports whether a media type is that of a picture.
func isPicture(mediaType string) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(mediaType)), "image/")
}

// enclosure reads the picture that some product feeds attach to an item.
func (r *reader) enclosure(o *courant.Offer) {
	s := &r.scan
	offset, raw, ref := s.Offset, s.Raw, s.Attr("url")
	picture := isPicture(s.Attr("type"))
	s.Skip(isItem)
	if picture {
		r.addPicture(o, ref, false)
		return
	}
	r.note(raw, offset, ignoredElement)
}

// foreign reads an element of another format: the full text of RSS is the description of
// an item that has no other.
func (r *reader) foreign(o *courant.Offer, local string) {
	if r.scan.Name.Space == "content" && local == "encoded" {
		r.readDescription(o)
		return
	}
	r.ignore()
}

// merchantParam reads elements that describe the product and ignores those that only
// matter to advertisers, and those of a post.
func (r *reader) merchantParam(space string, o *courant.Offer, local string) {
	switch local {
	case "color", "size", "gender", "age_group", "material", "pattern", "size_type", "size_system", "multipack",
		"is_bundle", "energy_efficiency_class", "unit_pricing_measure", "unit_pricing_base_measure", "expiration_date",
		"availability_date", "product_length", "product_width", "product_height", "product_weight", "year", "author", "publisher":
		p := courant.Param{Name: local}
		if p.Value = r.text(); p.Value != "" && r.room(len(o.Params)) {
			o.Params = append(o.Params, p)
		}
	case "product_highlight":
		r.addDetail(&o.Details, local, r.text())
	case "pubdate", "published", "updated", "modified", "issued", "comments", "source", "contributor", "rights":
		if space == "" {
			r.ignore()
			return
		}
		r.unknown(&o.Details)
	default:
		if isAdvertising(local) {
			r.ignore()
			return
		}
		r.unknown(&o.Details)
	}
}

// isAdvertising reports whether an element of the format is of no use to readers.
func isAdvertising(local string) bool {
	switch local {
	case "mobile_link", "online_only", "identifier_exists", "installment", "loyalty_points", "loyalty_program",
		"promotion_id", "excluded_destination", "included_destination", "min_handling_time", "max_handling_time", "tax",
		"shipping_label", "shipping_length", "shipping_width", "shipping_height", "transit_time_label", "ads_redirect",
		"cost_of_goods_sold", "canonical_link", "quantity", "subscription_cost", "ships_from_country",
		"min_energy_efficiency_class", "max_energy_efficiency_class", "sell_on_google_quantity", "tax_category", "pickup_method",
		"pickup_sla", "external_seller_id", "pause", "shopping_ads_excluded_country", "display_ads_id", "free_shipping_threshold",
		"auto_pricing_min_price", "maximum_retail_price", "ads_grouping", "ads_labels", "adwords_grouping", "adwords_labels", "adwords_redirect":
		return true
	}
	return strings.HasPrefix(local, "custom_label_")
}

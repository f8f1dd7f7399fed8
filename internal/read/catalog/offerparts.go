package catalog

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// rareElement reads elements that few offers have.
func (r *reader) rareElement(d *draft, local string) {
	s, o := &r.scan, d.Offer
	switch local {
	case "store", "pickup", "delivery":
		on := r.boolean(r.text())
		*map[string]**bool{"store": &o.Store, "pickup": &o.Pickup, "delivery": &o.Delivery}[local] = &on
	case "delivery-options":
		o.DeliveryOptions = r.shipping(o.DeliveryOptions)
	case "pickup-options":
		o.PickupOptions = r.shipping(o.PickupOptions)
	case "outlets":
		r.outlets(o)
	case "adult":
		o.Adult = r.boolean(r.text())
	case "age":
		unit := s.Attr("unit")
		r.put(o, &o.Age, local, line(r.text()+" "+unit))
	case "condition":
		r.condition(o)
	case "rec":
		o.Recommended = r.idList(o.Recommended)
	case "set-ids":
		o.Sets = r.idList(o.Sets)
	case "disabled":
		if r.boolean(r.text()) {
			d.disabled = true
		}
	default:
		switch {
		case isDetail(local):
			name := s.Raw
			r.addDetail(&o.Details, name, r.text())
		case isUnused(local):
			r.ignore()
		default:
			r.unknown(&o.Details)
		}
	}
}

// isUnused reports whether an element is of no use to readers: they do not advertise, and
// what the shop paid is not for them.
func isUnused(local string) bool {
	switch local {
	case "market_category", "cpa", "enable_auto_discounts", "credit-template", "supplier", "related_offer", "purchase_price",
		"pricelabs_param", "buyurl", "downloadable", "bid", "cbid", "fee", "count", "local_delivery_cost", "deliveryincluded":
		return true
	}
	return false
}

// isDetail reports whether an element belongs to one type of offer only, such as books.
func isDetail(local string) bool {
	switch local {
	case "author", "publisher", "series", "year", "isbn", "volume", "part", "language", "binding", "page_extent",
		"table_of_contents", "performed_by", "performance_type", "storage", "format", "recording_length",
		"media", "starring", "director", "originalname", "country",
		"worldregion", "region", "days", "datatour", "hotel_stars", "room", "meal", "price_min", "price_max", "options",
		"included", "transport", "place", "hall", "hall_part", "date", "is_premiere", "is_kids":
		return true
	}
	return false
}

// param reads a param. One without a name is a detail, because readers cannot choose
// by it.
func (r *reader) param(o *courant.Offer) {
	p := courant.Param{Name: line(decoded(r.scan.Attr("name"))), Unit: line(decoded(r.scan.Attr("unit")))}
	offset := r.scan.Offset
	switch p.Value = r.text(); {
	case p.Value == "":
		if p.Name != "" {
			r.note("param", offset, "a %s without a value says nothing and is ignored")
		}
	case p.Name == "":
		r.here("param-without-name", "the param has no name and was kept as a detail; add the attribute name")
		r.addDetail(&o.Details, "param", line(p.Value+" "+p.Unit))
	case r.room(len(o.Params)):
		if o.Params == nil {
			o.Params = make([]courant.Param, 0, 4)
		}
		o.Params = append(o.Params, p)
	}
}

func (r *reader) outlets(o *courant.Offer) {
	s := &r.scan
	r.children(func(local string) bool {
		if local != "outlet" {
			return false
		}
		if r.fits(len(o.Outlets), maxOutlets) {
			o.Outlets = append(o.Outlets, courant.Outlet{ID: s.Attr("id"), InStock: s.Attr("instock"), Booking: s.Attr("booking")})
		}
		r.children(func(string) bool { return false })
		return true
	})
}

func (r *reader) condition(o *courant.Offer) {
	s := &r.scan
	o.Condition = strings.TrimSpace(s.Attr("type"))
	s.Children(isOffer, func() {
		switch {
		case s.Kind() == xmlscan.Start && s.Name.Local == "reason":
			o.ConditionReason = r.text()
		case s.Kind() == xmlscan.Start:
			r.unknown(&o.Details)
		case o.Condition == "":
			o.Condition = line(s.Text)
		}
	})
}

// readDescription reads the description; a second one is left out.
func (r *reader) readDescription(o *courant.Offer) {
	offset, raw := r.scan.Offset, r.scan.Raw
	html := r.description(r.scan.Inner(r.stop()))
	if html != "" && o.Description != "" && html != o.Description {
		r.note(raw, offset, "the offer has a second description, %s, which is ignored")
		return
	}
	first(&o.Description, html)
}

// idList adds the ids of a comma-separated list.
func (r *reader) idList(out []string) []string {
	for id := range strings.SplitSeq(r.text(), ",") {
		if id = strings.TrimSpace(id); id != "" && r.room(len(out)) {
			out = append(out, id)
		}
	}
	return out
}

package catalog

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// draft is an offer that is being read.
type draft struct {
	*courant.Offer
	prices
	availability  string // of an element, as written
	disabled      bool
	title, artist string
	// the categories of a product feed: the shop's own, that of Google, that of RSS
	shopPath, googlePath, postPath string
}

// ymlOffer reads an offer; the next offer ends it, whatever is still open. It
// returns false to stop reading.
func (r *reader) ymlOffer(offersType string) bool {
	s := &r.scan
	offset, raw := s.Offset, s.Raw
	o := &courant.Offer{ID: strings.TrimSpace(s.Attr("id")), GroupID: strings.TrimSpace(s.Attr("group_id")),
		Type: strings.TrimSpace(s.Attr("type")), Available: true}
	if o.Type == "" {
		o.Type = offersType
	}
	var b bounds
	b.ids(&o.ID)
	r.tooLong(b)
	r.draft = draft{Offer: o}
	d := &r.draft
	available, ok := s.LookupAttr("available")
	r.offerAttributes(o)
	s.Children(isOffer, func() {
		if s.Kind() == xmlscan.Start {
			r.offerElement(d)
		}
	})
	if r.cut = s.Truncated(); r.cut {
		return true
	}
	if o.ID == "" {
		r.warn("offer-without-id", offset, raw, "the offer has no id and was left out; add an id, which must never change")
		return true
	}
	if available = strings.TrimSpace(available); !ok || available == "" {
		available = d.availability // the attribute has precedence
	}
	d.readAvailability(r, available)
	o.Available = o.Available && !d.disabled
	r.settle(o, &d.prices)
	r.finishOffer(d)
	return r.give(o)
}

// offerAttributes keeps the attributes of an offer that are not known as details, and
// notes those that only matter to advertisers.
func (r *reader) offerAttributes(o *courant.Offer) {
	s := &r.scan
	for i := range s.Attrs {
		name := s.Attrs[i].Name
		if isRead("offer", name) {
			continue
		}
		switch local := strings.ToLower(name); {
		case isRead("offer", local) || isSyntax(name) || s.Attrs[i].Value == "":
		case local == "bid" || local == "cbid" || local == "sbid" || local == "fee":
			r.note(name, s.Offset, ignoredAttribute)
		default:
			r.addDetail(&o.Details, strings.Clone(name), line(s.Attr(name)))
		}
	}
}

// finishOffer derives the name and the category path from the elements.
func (r *reader) finishOffer(d *draft) {
	o := d.Offer
	switch {
	case o.Name != "":
	case o.TypePrefix != "" || o.Vendor != "" || o.Model != "":
		o.Name = line(o.TypePrefix + " " + o.Vendor + " " + o.Model)
	case d.title != "" && d.artist != "":
		o.Name = d.artist + ": " + d.title
	default:
		o.Name = d.title
	}
	way := r.tree.path(o.CategoryID)
	o.CategoryPath, o.Category = way.ids, way.names
	r.longPath()
	switch {
	case o.Name == "":
		r.here("offer-without-name", "offer "+o.ID+" has no name; add name, or vendor and model")
	case o.CategoryID == "":
		r.here("offer-without-category", "offer "+o.ID+" has no category; add categoryId")
	case o.Category == nil:
		r.here("unknown-category", "offer "+o.ID+" has the category "+o.CategoryID+", which is not in the list of categories; add the category")
	}
	lists(o)
}

// longPath warns of a path of categories that was cut.
func (r *reader) longPath() {
	if r.tree.cut {
		r.here("too-many", "the category has more than 32 levels, or there are too many categories, and the others were left out; use fewer")
	}
}

// lists replaces nil lists that the JSON contract requires by empty ones.
func lists(o *courant.Offer) {
	for _, l := range []*[]string{&o.Category, &o.Pictures, &o.Barcodes} {
		if *l == nil {
			*l = []string{}
		}
	}
	if o.Params == nil {
		o.Params = []courant.Param{}
	}
}

// offerElement reads one child of an offer.
func (r *reader) offerElement(d *draft) {
	s, o := &r.scan, d.Offer
	local := s.Name.Local
	if len(s.Attrs) > 0 && !isUnused(local) {
		r.attributes()
	}
	if to := textField(o, local); to != nil {
		name := s.Raw
		r.put(o, to, name, r.text())
		return
	}
	switch local {
	case "url":
		r.put(o, &o.URL, local, r.address(r.text()))
	case "price":
		r.readPrice(o, &d.price, &d.attr)
	case "oldprice":
		r.readPrice(o, &d.old, &d.attr)
	case "currencyid":
		if id := r.text(); id != "" {
			r.put(o, &o.Currency, "currencyId", currency(id))
		}
	case "group_id":
		r.put(o, &o.GroupID, local, r.identifier())
	case "categoryid":
		r.put(o, &o.CategoryID, "categoryId", r.identifier())
	case "available", "availability":
		first(&d.availability, r.text())
	case "picture":
		if u := r.address(r.text()); u != "" && r.room(len(o.Pictures)) {
			o.Pictures = append(o.Pictures, u)
		}
	case "description":
		r.readDescription(o)
	case "barcode":
		if code := r.text(); code != "" && r.room(len(o.Barcodes)) {
			o.Barcodes = append(o.Barcodes, code)
		}
	case "param":
		r.param(o)
	case "title":
		d.title = r.text()
		r.addDetail(&o.Details, "title", d.title)
	case "artist":
		d.artist = r.text()
		r.addDetail(&o.Details, "artist", d.artist)
	default:
		r.rareElement(d, local)
	}
}

// textField returns the field for an element of plain text, nil for other elements.
func textField(o *courant.Offer, local string) *string {
	switch local {
	case "name":
		return &o.Name
	case "vendor":
		return &o.Vendor
	case "vendorcode":
		return &o.VendorCode
	case "model":
		return &o.Model
	case "typeprefix":
		return &o.TypePrefix
	case "sales_notes":
		return &o.SalesNotes
	case "country_of_origin":
		return &o.Country
	case "weight":
		return &o.Weight
	case "dimensions":
		return &o.Dimensions
	case "expiry":
		return &o.Expiry
	case "vat":
		return &o.VAT
	case "min-quantity":
		return &o.MinQuantity
	case "step-quantity":
		return &o.StepQuantity
	case "manufacturer_warranty", "seller_warranty":
		return &o.Warranty
	}
	return nil
}

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
		o.Age = line(r.text() + " " + unit)
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

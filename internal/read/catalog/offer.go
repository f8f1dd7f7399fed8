package catalog

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

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
	if v, ok := s.LookupAttr("available"); ok {
		o.Available = yes(v)
	}
	var b bounds
	b.ids(&o.ID)
	r.tooLong(b)
	d := ymlDraft{Offer: o}
	s.Children(isOffer, func() {
		if s.Kind() == xmlscan.Start {
			r.offerElement(&d)
		}
	})
	if r.cut = s.Truncated(); r.cut {
		return true
	}
	if o.ID == "" {
		r.warn("offer-without-id", offset, raw, "the offer has no id and was left out; add an id, which must never change")
		return true
	}
	r.finishOffer(&d)
	return r.give(o)
}

// ymlDraft is an offer that is being read.
type ymlDraft struct {
	*courant.Offer
	title, artist string
}

// finishOffer derives the name and the category path from the elements.
func (r *reader) finishOffer(d *ymlDraft) {
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
func (r *reader) offerElement(d *ymlDraft) {
	s, o := &r.scan, d.Offer
	local := s.Name.Local
	if to := textField(o, local); to != nil {
		*to = r.text()
		return
	}
	switch local {
	case "url":
		o.URL = r.address(r.text())
	case "price", "oldprice":
		r.ymlPrice(o, local)
	case "currencyid":
		o.Currency = currency(r.text())
	case "group_id":
		o.GroupID = r.identifier()
	case "categoryid":
		if id := r.identifier(); o.CategoryID == "" {
			o.CategoryID = id
		}
	case "picture":
		if u := r.address(r.text()); u != "" && r.room(len(o.Pictures)) {
			o.Pictures = append(o.Pictures, u)
		}
	case "description":
		o.Description = r.description(s.Inner(isOffer))
	case "barcode":
		if code := r.text(); code != "" && r.room(len(o.Barcodes)) {
			o.Barcodes = append(o.Barcodes, code)
		}
	case "param":
		r.param(o)
	case "title":
		d.title = r.text()
		r.detail(o, "title", d.title)
	case "artist":
		d.artist = r.text()
		r.detail(o, "artist", d.artist)
	default:
		r.rareElement(o, local)
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
func (r *reader) rareElement(o *courant.Offer, local string) {
	s := &r.scan
	switch local {
	case "store", "pickup", "delivery":
		on := yes(r.text())
		*map[string]**bool{"store": &o.Store, "pickup": &o.Pickup, "delivery": &o.Delivery}[local] = &on
	case "delivery-options":
		o.DeliveryOptions = r.shipping()
	case "pickup-options":
		o.PickupOptions = r.shipping()
	case "outlets":
		r.outlets(o)
	case "adult":
		o.Adult = yes(r.text())
	case "age":
		unit := s.Attr("unit")
		o.Age = line(r.text() + " " + unit)
	case "condition":
		r.condition(o)
	case "rec":
		o.Recommended = ids(r.text())
	case "set-ids":
		o.Sets = ids(r.text())
	case "disabled":
		if yes(r.text()) {
			o.Available = false
		}
	case "market_category", "cpa", "enable_auto_discounts", "credit-template", "supplier", "related_offer", "purchase_price",
		"pricelabs_param", "buyurl", "downloadable", "bid", "cbid", "fee", "count", "local_delivery_cost", "deliveryincluded":
		s.Skip(isOffer) // readers have no use for it
	default:
		if isDetail(local) {
			name := s.Raw
			r.detail(o, name, r.text())
			return
		}
		r.unknown()
		s.Skip(isOffer)
	}
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

func (r *reader) detail(o *courant.Offer, name, value string) {
	if value != "" && r.room(len(o.Details)) {
		o.Details = append(o.Details, courant.Param{Name: name, Value: value})
	}
}

// ymlPrice reads a price; the attribute from marks the lowest of several.
func (r *reader) ymlPrice(o *courant.Offer, local string) {
	from := yes(r.scan.Attr("from"))
	p := r.price(r.text())
	if local == "oldprice" {
		o.OldPrice = p
		return
	}
	o.Price, o.PriceFrom = p, from
}

func (r *reader) param(o *courant.Offer) {
	s := &r.scan
	p := courant.Param{Name: line(s.Attr("name")), Unit: line(s.Attr("unit"))}
	p.Value = r.text()
	if p.Value != "" && r.room(len(o.Params)) {
		o.Params = append(o.Params, p)
	}
}

func (r *reader) outlets(o *courant.Offer) {
	s := &r.scan
	s.Children(isOffer, func() {
		if s.Kind() != xmlscan.Start {
			return
		}
		if s.Name.Local == "outlet" && len(o.Outlets) < maxOutlets {
			o.Outlets = append(o.Outlets, courant.Outlet{ID: s.Attr("id"), InStock: s.Attr("instock"), Booking: s.Attr("booking")})
		}
		s.Skip(isOffer)
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
			s.Skip(isOffer)
		case o.Condition == "":
			o.Condition = line(s.Text)
		}
	})
}

// ids reads a comma-separated list.
func ids(text string) (out []string) {
	for id := range strings.SplitSeq(text, ",") {
		if id = strings.TrimSpace(id); id != "" && len(out) < maxList {
			out = append(out, id)
		}
	}
	return out
}

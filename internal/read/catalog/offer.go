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
			return
		}
		r.stray(raw)
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
	case "price":
		r.readPrice(o, &d.price, &d.attr)
	case "oldprice":
		r.readPrice(o, &d.old, &d.attr)
	case "available", "availability":
		first(&d.availability, r.text())
	case "description":
		r.readDescription(o)
	case "param":
		r.param(o)
	case "title":
		d.title = r.text()
		r.addDetail(&o.Details, "title", d.title)
	case "artist":
		d.artist = r.text()
		r.addDetail(&o.Details, "artist", d.artist)
	default:
		r.commonElement(d, local)
	}
}

// commonElement reads the ids, addresses and codes that most offers have.
func (r *reader) commonElement(d *draft, local string) {
	o := d.Offer
	switch local {
	case "url":
		r.put(o, &o.URL, local, r.address(r.text()))
	case "currencyid":
		if id := r.text(); id != "" {
			r.put(o, &o.Currency, "currencyId", currency(id))
		}
	case "group_id":
		r.put(o, &o.GroupID, local, r.identifier())
	case "categoryid":
		r.put(o, &o.CategoryID, "categoryId", r.identifier())
	case "picture":
		if u := r.address(r.text()); u != "" && r.room(len(o.Pictures)) {
			o.Pictures = append(o.Pictures, u)
		}
	case "barcode":
		if code := r.text(); code != "" && r.room(len(o.Barcodes)) {
			o.Barcodes = append(o.Barcodes, code)
		}
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

package catalog

import (
	"strconv"
	"strings"

	"github.com/courant-platform/courant"
)

const (
	maxName    = 1024 // of names, vendors and other texts that lists of offers show
	maxCode    = 64   // of a currency or an outlet's stock
	maxParams  = 64 << 10
	maxOutlets = 1024 // of one offer
)

// bounds shortens ids and texts and records whether any was too long.
type bounds struct{ id, text bool }

func (b *bounds) ids(ids ...*string) {
	for _, id := range ids {
		if len(*id) > courant.MaxID {
			*id, b.id = courant.ShortID(*id), true
		}
	}
}

func (b *bounds) cut(most int, texts ...*string) {
	for _, t := range texts {
		if len(*t) > most {
			*t, b.text = strings.TrimSpace(strings.ToValidUTF8((*t)[:most], "")), true
		}
	}
}

func (b *bounds) params(params []courant.Param) {
	for i := range params {
		b.cut(maxName, &params[i].Name, &params[i].Unit)
	}
}

func (b *bounds) ways(ways []courant.Shipping) {
	for i := range ways {
		w := &ways[i]
		b.cut(maxName, &w.Cost, &w.Days, &w.OrderBefore, &w.Where, &w.Service)
	}
}

// offer shortens the ids of an offer and the texts that lists of offers show.
func (b *bounds) offer(o *courant.Offer) {
	b.ids(&o.ID, &o.GroupID, &o.CategoryID)
	for _, list := range [][]string{o.Recommended, o.Sets} {
		for i := range list {
			b.ids(&list[i])
		}
	}
	b.cut(maxName, &o.Type, &o.Name, &o.Vendor, &o.VendorCode, &o.Model, &o.Availability, &o.TypePrefix, &o.Country, &o.SalesNotes,
		&o.Condition, &o.ConditionReason, &o.Age, &o.Weight, &o.Dimensions, &o.Expiry, &o.VAT, &o.MinQuantity, &o.StepQuantity, &o.Warranty)
	b.cut(maxCode, &o.Currency)
	for i := range o.Barcodes {
		b.cut(maxName, &o.Barcodes[i])
	}
	b.params(o.Params)
	b.params(o.Details)
	b.ways(o.DeliveryOptions)
	b.ways(o.PickupOptions)
	for i := range o.Outlets {
		t := &o.Outlets[i]
		b.ids(&t.ID)
		b.cut(maxCode, &t.InStock, &t.Booking)
	}
}

// bound shortens what is too long in an offer, with a warning.
func (r *reader) bound(o *courant.Offer) {
	var b bounds
	b.offer(o)
	o.Params, o.Details = r.fit(o.Params), r.fit(o.Details)
	r.tooLong(b)
}

// tooLong warns of what was shortened.
func (r *reader) tooLong(b bounds) {
	if b.id {
		r.here("too-long", "the id is longer than 512 bytes and was shortened to its beginning and a digest; shorten it")
	}
	if b.text {
		r.here("too-long", "a text is longer than the limit and its end was left out; shorten it")
	}
}

// fit leaves out the params beyond maxParams bytes in total.
func (r *reader) fit(params []courant.Param) []courant.Param {
	size := 0
	for i := range params {
		if size += len(params[i].Name) + len(params[i].Value) + len(params[i].Unit); size > maxParams {
			r.here("too-long", "the params of the offer are longer than 64 KiB in total and the last ones were left out; send fewer")
			return params[:i]
		}
	}
	return params
}

// room reports whether a list of an offer with n elements may grow; if not, it warns.
func (r *reader) room(n int) bool { return r.fits(n, maxList) }

// fits reports whether a list with n elements may grow; if not, it warns.
func (r *reader) fits(n, most int) bool {
	if n < most {
		return true
	}
	r.here("too-many", "there are more of these elements than the limit of "+strconv.Itoa(most)+" and the others were left out; send fewer")
	return false
}

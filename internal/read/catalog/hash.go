package catalog

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/courant-platform/courant"
)

// hasher collects fields, each prefixed with its length. It can be reused.
type hasher struct{ buf []byte }

// offer returns the hash of an offer; see the package comment.
func (h *hasher) offer(o *courant.Offer) string {
	h.buf = h.buf[:0]
	h.number(Version)
	h.prices(o)
	h.text(o.ID, o.GroupID, o.Type, o.URL, o.Name, o.Currency, o.CategoryID, o.Vendor, o.VendorCode,
		o.Model, o.Description, o.Availability, o.TypePrefix, o.Country, o.SalesNotes, o.Condition, o.ConditionReason,
		o.Age, o.Weight, o.Dimensions, o.Expiry, o.VAT, o.MinQuantity, o.StepQuantity, o.Warranty)
	h.list(o.Category, o.Pictures, o.Barcodes, o.Recommended, o.Sets)
	h.flags(&o.Available, &o.PriceFrom, &o.Adult, o.Store, o.Pickup, o.Delivery)
	for _, params := range [][]courant.Param{o.Params, o.Details} {
		h.number(len(params))
		for i := range params {
			h.text(params[i].Name, params[i].Value, params[i].Unit)
		}
	}
	for _, ways := range [][]courant.Shipping{o.DeliveryOptions, o.PickupOptions} {
		h.number(len(ways))
		for i := range ways {
			h.text(ways[i].Cost, ways[i].Days, ways[i].OrderBefore, ways[i].Where, ways[i].Service)
		}
	}
	h.number(len(o.Outlets))
	for i := range o.Outlets {
		h.text(o.Outlets[i].ID, o.Outlets[i].InStock, o.Outlets[i].Booking)
	}
	sum := sha256.Sum256(h.buf)
	return hex.EncodeToString(sum[:16])
}

// prices adds the prices as the catalogue gives them, so that the beginning of a sale is
// no change of the offer.
func (h *hasher) prices(o *courant.Offer) {
	s := o.Sale
	if s == nil {
		h.text(o.Price, o.OldPrice)
		return
	}
	h.text(s.Price, s.Regular, s.Begins.Format(time.RFC3339), s.Ends.Format(time.RFC3339))
}

func (h *hasher) number(n int) { h.buf = binary.AppendUvarint(h.buf, uint64(n)) }

func (h *hasher) text(fields ...string) {
	for _, f := range fields {
		h.number(len(f))
		h.buf = append(h.buf, f...)
	}
}

func (h *hasher) list(lists ...[]string) {
	for _, l := range lists {
		h.number(len(l))
		h.text(l...)
	}
}

// flags writes 0 for nil, 1 for false, 2 for true.
func (h *hasher) flags(flags ...*bool) {
	for _, f := range flags {
		switch {
		case f == nil:
			h.buf = append(h.buf, 0)
		case *f:
			h.buf = append(h.buf, 2)
		default:
			h.buf = append(h.buf, 1)
		}
	}
}

package catalog

import (
	"strconv"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/kit/when"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// yml reads a catalogue in Yandex Market Language; the current token is its root.
// Elements may come in any order.
func (r *reader) yml() error {
	s := &r.scan
	r.out.Shop = &courant.Shop{}
	if date, ok := s.LookupAttr("date"); ok {
		r.date(&r.out.Feed.Updated, date)
	}
	offersType := ""
	r.attributes()
	for {
		switch s.Next() {
		case xmlscan.EOF:
			return nil
		case xmlscan.Text:
			r.stray("shop")
		case xmlscan.Start:
			if s.Name.Local != "offer" {
				r.attributes()
			}
			switch s.Name.Local {
			case "offers":
				offersType = s.Attr("type")
			case "offer":
				r.lateCategories()
				if !r.ymlOffer(offersType) {
					return nil
				}
			case "shop", "categories", "currencies", "gifts", "promos", "sets", "yml_catalog":
			default:
				r.shopElement(s.Name.Local)
			}
		}
	}
}

// lateCategories reads the categories in a second pass if the first offer comes
// before all of them.
func (r *reader) lateCategories() {
	if r.out.Count > 0 || len(r.tree.list) > 0 || r.opt.Again == nil {
		return
	}
	again := r.opt.Again
	r.opt.Again = nil
	src, err := again()
	if err != nil {
		return // offers then have no category names, and each gives a warning
	}
	defer src.Close()
	first := newReader(src, Options{URL: r.opt.URL, ContentType: r.opt.ContentType})
	s := &first.scan
	for s.Next() != xmlscan.EOF {
		switch {
		case s.Kind() != xmlscan.Start:
		case s.Name.Local == "category":
			first.category()
		case s.Name.Local == "offer":
			s.Skip(isOffer)
		}
	}
	r.tree = first.tree
	if r.seen = len(r.tree.list) > 0; r.seen {
		r.here("late-categories", "there are categories after offers, so the file was read twice; write the categories first")
	}
}

// date reads a date of the catalogue.
func (r *reader) date(to *courant.Time, text string) {
	t, _, ok := when.Parse(text)
	if !ok {
		r.here("bad-date", "the date cannot be read and was left out; write it like 2026-01-31T15:04:05+03:00")
		return
	}
	to.Time = t
}

// shopElement reads an element outside of offers.
func (r *reader) shopElement(local string) {
	s, feed, shop := &r.scan, &r.out.Feed, r.out.Shop
	switch local {
	case "name":
		r.shopText(&feed.Title, local)
	case "url":
		first(&feed.Link, strings.Clone(r.address(r.text())))
		r.assumeBase(feed.Link)
	case "company":
		r.shopText(&shop.Company, local)
	case "phone":
		if phone := r.keptText(); shop.Phone == "" {
			shop.Phone = phone
		} else if phone != "" {
			shop.Phone = line(shop.Phone + ", " + phone)
		}
	case "email":
		r.shopText(&shop.Email, local)
	case "platform":
		r.shopText(&shop.Platform, local)
	case "category":
		r.category()
	case "currency":
		c := courant.Currency{ID: currency(r.attr("id")), Rate: r.attr("rate"), Plus: r.attr("plus")}
		if r.fits(len(shop.Currencies), maxList) {
			shop.Currencies = append(shop.Currencies, c)
		}
		s.Skip(isOffer)
	case "delivery-options":
		shop.DeliveryOptions = r.shipping(shop.DeliveryOptions)
	case "pickup-options":
		shop.PickupOptions = r.shipping(shop.PickupOptions)
	case "set", "gift", "promo":
		r.extra(local)
	case "cpa", "fee", "bid", "enable_auto_discounts":
		r.ignore()
	default:
		r.shopDetail(local)
	}
}

// shopText reads a text about the shop; a second value becomes a detail.
func (r *reader) shopText(to *string, local string) {
	text := r.keptText()
	switch {
	case *to == "":
		*to = text
	case text != *to:
		r.addDetail(&r.out.Shop.Details, local, text)
	}
}

// shopDetail keeps the text of an element about the shop that has no field of its own.
func (r *reader) shopDetail(local string) {
	details := &r.out.Shop.Details
	switch local {
	case "version", "agency", "local_delivery_cost", "deliveryincluded", "adult", "store", "pickup", "delivery":
		name := strings.Clone(r.scan.Raw)
		r.addDetail(details, name, r.keptText())
	default:
		r.unknown(details)
	}
}

// category reads a category into the tree.
func (r *reader) category() {
	s := &r.scan
	c := courant.Category{ID: strings.TrimSpace(s.Attr("id")), Parent: strings.TrimSpace(s.Attr("parentId"))}
	offset, raw := s.Offset, s.Raw
	c.Name = markup.Line(decoded(s.Inner(func(n xmlscan.Name) bool { return n.Local == "category" || isOffer(n) })))
	var b bounds
	b.ids(&c.ID, &c.Parent)
	if b.cut(maxName, &c.Name); !r.seen {
		r.tooLong(b)
	}
	if c.ID == "" {
		r.warn("category-without-id", offset, raw, "the category has no id and was left out; add an id")
		return
	}
	switch r.tree.add(c) {
	case isKnown:
		if !r.seen {
			r.warn("duplicate-category", offset, raw, "the category has the id of an earlier category and was left out; give each category its own id")
		}
	case isFull:
		r.warn("too-many", offset, raw, "there are more categories than the limit of "+strconv.Itoa(maxCategories)+" and the others were left out; send fewer")
	}
}

// shipping adds the ways of delivery-options or pickup-options to a list.
func (r *reader) shipping(ways []courant.Shipping) []courant.Shipping {
	s := &r.scan
	r.children(func(local string) bool {
		if local != "option" {
			return false
		}
		way := courant.Shipping{Cost: strings.TrimSpace(s.Attr("cost")), Days: strings.TrimSpace(s.Attr("days")),
			OrderBefore: strings.TrimSpace(s.Attr("order-before"))}
		if r.fits(len(ways), maxList) {
			ways = append(ways, way)
		}
		r.children(func(string) bool { return false })
		return true
	})
	return ways
}

package catalog

import (
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
	for {
		switch s.Next() {
		case xmlscan.EOF:
			return nil
		case xmlscan.Start:
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
		feed.Title = strings.Clone(r.text())
	case "url":
		feed.Link = strings.Clone(r.address(r.text()))
	case "company":
		shop.Company = strings.Clone(r.text())
	case "phone":
		shop.Phone = strings.Clone(r.text())
	case "email":
		shop.Email = strings.Clone(r.text())
	case "platform":
		shop.Platform = strings.Clone(r.text())
	case "category":
		r.category()
	case "currency":
		if len(shop.Currencies) < maxList {
			shop.Currencies = append(shop.Currencies, courant.Currency{ID: currency(r.attr("id")), Rate: r.attr("rate"), Plus: r.attr("plus")})
		}
		s.Skip(isOffer)
	case "delivery-options":
		shop.DeliveryOptions = r.shipping()
	case "pickup-options":
		shop.PickupOptions = r.shipping()
	case "set", "gift", "promo":
		r.extra(local)
	case "version", "agency", "local_delivery_cost", "deliveryincluded", "adult", "cpa", "fee", "store", "pickup",
		"delivery", "enable_auto_discounts":
		s.Skip(isOffer)
	default:
		r.unknown()
		s.Skip(isOffer)
	}
}

// unknown warns of an element that is not known in this place.
func (r *reader) unknown() {
	r.here("unknown-element", "the element is not known in this place and was left out; check its name")
}

// category reads a category into the tree.
func (r *reader) category() {
	s := &r.scan
	c := courant.Category{ID: strings.TrimSpace(s.Attr("id")), Parent: strings.TrimSpace(s.Attr("parentId"))}
	offset, raw := s.Offset, s.Raw
	c.Name = markup.Line(s.Inner(func(n xmlscan.Name) bool { return n.Local == "category" || isOffer(n) }))
	var b bounds
	b.ids(&c.ID, &c.Parent)
	if b.cut(maxName, &c.Name); !r.seen {
		r.tooLong(b)
	}
	switch {
	case c.ID == "":
		r.warn("category-without-id", offset, raw, "the category has no id and was left out; add an id")
	case !r.tree.add(c) && !r.seen:
		r.warn("duplicate-category", offset, raw, "the category has the id of an earlier category and was left out; give each category its own id")
	}
}

// shipping reads delivery-options and pickup-options.
func (r *reader) shipping() (ways []courant.Shipping) {
	s := &r.scan
	s.Children(isOffer, func() {
		if s.Kind() != xmlscan.Start {
			return
		}
		if s.Name.Local == "option" && len(ways) < maxList {
			ways = append(ways, courant.Shipping{Cost: strings.TrimSpace(s.Attr("cost")), Days: strings.TrimSpace(s.Attr("days")),
				OrderBefore: strings.TrimSpace(s.Attr("order-before"))})
		}
		s.Skip(isOffer)
	})
	return ways
}

// currency returns the ISO 4217 code; the old codes RUR and BYR become RUB and BYN.
func currency(id string) string {
	id = strings.ToUpper(strings.TrimSpace(id))
	switch id {
	case "RUR":
		return "RUB"
	case "BYR":
		return "BYN"
	}
	return strings.Clone(id)
}

package catalog

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// extra reads a set, a gift or a promotion, up to maxShopList of each.
func (r *reader) extra(local string) {
	shop := r.out.Shop
	switch {
	case local == "set" && len(shop.Sets) < maxShopList:
		shop.Sets = append(shop.Sets, r.set())
	case local == "gift" && len(shop.Gifts) < maxShopList:
		shop.Gifts = append(shop.Gifts, r.gift())
	case local == "promo" && len(shop.Promos) < maxShopList:
		shop.Promos = append(shop.Promos, r.promo())
	default:
		r.fits(maxShopList, maxShopList)
		r.scan.Skip(isOffer)
	}
}

// children calls f for each child element and ignores those for which f returns false.
func (r *reader) children(f func(local string) (read bool)) {
	s, stop, raw := &r.scan, r.stop(), r.scan.Raw
	s.Children(stop, func() {
		if s.Kind() != xmlscan.Start {
			r.stray(raw)
			return
		}
		r.attributes()
		if !f(s.Name.Local) {
			r.ignore()
		}
	})
}

// keptText is text that outlives its piece of the document.
func (r *reader) keptText() string { return strings.Clone(r.text()) }

func (r *reader) set() courant.Set {
	set := courant.Set{ID: r.attr("id")}
	r.children(func(local string) bool {
		switch local {
		case "name":
			set.Name = r.keptText()
		case "url":
			set.URL = strings.Clone(r.address(r.text()))
		default:
			return false
		}
		return true
	})
	return set
}

func (r *reader) gift() courant.Gift {
	gift := courant.Gift{ID: r.attr("id"), Pictures: []string{}}
	r.children(func(local string) bool {
		switch local {
		case "name":
			gift.Name = r.keptText()
		case "picture":
			if u := r.address(r.text()); u != "" && r.fits(len(gift.Pictures), maxList) {
				gift.Pictures = append(gift.Pictures, strings.Clone(u))
			}
		default:
			return false
		}
		return true
	})
	return gift
}

func (r *reader) promo() courant.Promo {
	p := courant.Promo{ID: r.attr("id"), Type: r.attr("type"), Products: []courant.PromoProduct{}, Gifts: []courant.PromoGift{}}
	r.children(func(local string) bool {
		switch local {
		case "start-date":
			r.date(&p.Start, r.text())
		case "end-date":
			r.date(&p.End, r.text())
		case "description":
			p.Description = r.keptText()
		case "url":
			p.URL = strings.Clone(r.address(r.text()))
		case "promo-code":
			p.Code = r.keptText()
		case "discount":
			unit := line(r.attr("unit") + " " + r.attr("currency"))
			p.Discount = line(r.keptText() + " " + unit)
		case "purchase":
			r.purchase(&p)
		case "promo-gifts":
			r.promoGifts(&p)
		default:
			return false
		}
		return true
	})
	return p
}

// purchase reads what has to be bought.
func (r *reader) purchase(p *courant.Promo) {
	r.children(func(local string) bool {
		switch local {
		case "required-quantity":
			p.Required = r.keptText()
		case "free-quantity":
			p.Free = r.keptText()
		case "product":
			r.promoProduct(p)
		default:
			return false
		}
		return true
	})
}

// promoProduct reads an offer or a category of a promotion with its reduced price.
func (r *reader) promoProduct(p *courant.Promo) {
	product := courant.PromoProduct{Offer: r.attr("offer-id"), Category: r.attr("category-id")}
	r.children(func(local string) bool {
		if local != "discount-price" {
			return false
		}
		product.Currency = r.attr("currency")
		if product.Currency != "" {
			product.Currency = currency(product.Currency)
		}
		product.Price = strings.Clone(r.price(r.text()))
		return true
	})
	if r.fits(len(p.Products), maxShopList) {
		p.Products = append(p.Products, product)
	}
}

func (r *reader) promoGifts(p *courant.Promo) {
	r.children(func(local string) bool {
		if local != "promo-gift" {
			return false
		}
		gift := courant.PromoGift{Offer: r.attr("offer-id"), Gift: r.attr("gift-id")}
		if r.fits(len(p.Gifts), maxList) {
			p.Gifts = append(p.Gifts, gift)
		}
		r.children(func(string) bool { return false })
		return true
	})
}

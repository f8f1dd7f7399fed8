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
		r.here("too-many", "there are more of these elements than the limit of 10,000 and the others were left out; send fewer")
		r.scan.Skip(isOffer)
	}
}

// children calls f for each child element and skips those for which f returns false.
func (r *reader) children(f func(local string) (read bool)) {
	s, stop := &r.scan, r.stop()
	s.Children(stop, func() {
		if s.Kind() == xmlscan.Start && !f(s.Name.Local) {
			s.Skip(stop)
		}
	})
}

// keptText is text that outlives its piece of the document.
func (r *reader) keptText() string { return strings.Clone(r.text()) }

// attr is an attribute that outlives its piece of the document.
func (r *reader) attr(name string) string {
	text := strings.TrimSpace(r.scan.Attr(name))
	var b bounds
	b.cut(maxName, &text)
	r.tooLong(b)
	return strings.Clone(text)
}

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
			if u := r.address(r.text()); u != "" && len(gift.Pictures) < maxList {
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
			unit := r.attr("unit") + r.attr("currency")
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
			product := courant.PromoProduct{Offer: r.attr("offer-id"), Category: r.attr("category-id")}
			r.children(func(local string) bool {
				if local != "discount-price" {
					return false
				}
				product.Price = strings.Clone(r.price(r.text()))
				return true
			})
			if len(p.Products) < maxShopList {
				p.Products = append(p.Products, product)
			}
		default:
			return false
		}
		return true
	})
}

func (r *reader) promoGifts(p *courant.Promo) {
	r.children(func(local string) bool {
		if local == "promo-gift" && len(p.Gifts) < maxList {
			p.Gifts = append(p.Gifts, courant.PromoGift{Offer: r.attr("offer-id"), Gift: r.attr("gift-id")})
		}
		return false
	})
}

package catalog

import (
	"strings"

	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// fewItems is how many items of a feed are looked at to see whether they are products.
const fewItems = 8

// Detect reports whether a feed in RSS, RDF or Atom is a product feed: whether most of
// its first items have the elements of one. head is the feed's beginning. If it holds
// no whole item, sure is false; the answer is then about the item that it begins with.
func Detect(head string) (products, sure bool) {
	if !mayHavePrice(head) && (strings.Contains(head, "</item>") || strings.Contains(head, "</entry>")) {
		return false, true // most feeds
	}
	s := xmlscan.Scanner{Source: head, Space: space}
	offers, items := 0, 0
	for items < fewItems && s.Next() != xmlscan.EOF {
		if s.Kind() != xmlscan.Start || !isItem(s.Name) {
			continue
		}
		e := evidence{atom: s.Name.Local == "entry"}
		s.Children(isItem, func() {
			if s.Kind() == xmlscan.Start {
				e.see(&s)
			}
		})
		if s.Truncated() {
			if items == 0 {
				return e.isOffer(), false
			}
			break // what is missing of the item may decide
		}
		if items++; e.isOffer() {
			offers++
		}
	}
	return 2*offers > items, items > 0
}

// mayHavePrice is a fast check that a text has the word price.
func mayHavePrice(text string) bool {
	return strings.Contains(text, "price") || strings.Contains(text, "PRICE") || strings.Contains(text, "Price")
}

// evidence counts the children of an item that only products have.
type evidence struct {
	atom               bool
	price, marks       int // in the namespace of the format, or in none
	otherPrice, others int // in a namespace that we do not know
}

// see takes one child of an item and reads it to its end.
func (e *evidence) see(s *xmlscan.Scanner) {
	local, space := s.Name.Local, s.Name.Space
	if isForeign(space) || !isMark(local) || local == "id" && space == "" && e.atom {
		s.Skip(isItem)
		return
	}
	price := local == "price" || local == "sale_price"
	if price {
		priced := strings.ContainsAny(s.Attr("value"), "0123456789")
		price = strings.ContainsAny(s.Inner(isItem), "0123456789") || priced
	} else {
		s.Skip(isItem)
	}
	known := space == "g" || space == ""
	switch {
	case price && known:
		e.price++
	case price:
		e.otherPrice++
	case known:
		e.marks++
	default:
		e.others++
	}
}

// isOffer asks for a price and another field of products. In a namespace that we do not
// know it asks for two others.
func (e *evidence) isOffer() bool {
	return e.price > 0 && (e.marks > 0 || e.price > 1 || e.others > 0) || e.otherPrice > 0 && e.others+e.marks > 1
}

// isMark reports whether an element tells a product from a post. Posts have a title, a
// link and a guid too.
func isMark(local string) bool {
	switch local {
	case "price", "sale_price", "id", "image_link", "additional_image_link", "availability", "condition", "brand", "gtin", "mpn",
		"product_type", "google_product_category", "item_group_id", "identifier_exists", "shipping", "sale_price_effective_date":
		return true
	}
	return false
}

// isForeign reports whether a namespace, as space returns it, is that of another format.
func isForeign(space string) bool {
	switch space {
	case "atom", "content", "dc", "dcterms", "feedburner", "geo", "georss", "gml", "googleplay", "itunes", "media", "podcast", "rdf",
		"slash", "sy", "thr", "turbo", "wfw", "xhtml", "xlink", "yandex":
		return true
	}
	return false
}

// space maps the namespace of merchant feeds to "g", those of RSS and Atom to "", those
// of other formats to their usual prefix and every other one to its prefix.
func space(uri, prefix string) string {
	uri = strings.ToLower(uri)
	for _, known := range [...]struct{ part, key string }{
		{"base.google.com", "g"}, {"www.w3.org/2005/atom", ""}, {"purl.org/atom/ns", ""},
		{"purl.org/rss/1.0/modules/content", "content"}, {"purl.org/rss/1.0/modules", "slash"}, {"purl.org/rss/1.0", ""},
		{"my.netscape.com/rdf/simple", ""}, {"search.yahoo.com/mrss", "media"}, {"purl.org/dc/", "dc"},
		{"itunes.com/dtds", "itunes"}, {"22-rdf-syntax-ns", "rdf"}, {"news.yandex.ru", "yandex"}, {"turbo.yandex.ru", "turbo"},
	} {
		if strings.Contains(uri, known.part) {
			return known.key
		}
	}
	return prefix
}

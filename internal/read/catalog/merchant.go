package catalog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// items reads a product feed of Google Merchant or Bing: items of RSS or entries
// of Atom with elements of the namespace g; names without a namespace are accepted.
func (r *reader) items() error {
	s := &r.scan
	if isItem(s.Name) && !r.merchantOffer() { // the root element
		return nil
	}
	for {
		switch s.Next() {
		case xmlscan.EOF:
			return nil
		case xmlscan.Text:
			r.stray("channel")
		case xmlscan.Start:
			switch {
			case isItem(s.Name):
				if !r.merchantOffer() {
					return nil
				}
			case s.Name.Local == "channel":
			case isForeign(s.Name.Space):
				r.ignore()
			default:
				r.channelElement(s.Name.Local)
			}
		}
	}
}

// channelElement reads an element about the feed as a whole.
func (r *reader) channelElement(local string) {
	feed := &r.out.Feed
	if local != "link" {
		r.attributes()
	}
	switch local {
	case "title":
		r.feedText(&feed.Title)
	case "link":
		r.feedLink()
	case "description", "subtitle", "tagline":
		r.feedText(&feed.Description)
	case "updated", "lastbuilddate", "pubdate", "modified":
		r.date(&feed.Updated, r.text())
	case "language":
		r.feedText(&feed.Language)
	case "copyright", "rights":
		r.feedText(&feed.Rights)
	case "ttl":
		if minutes, err := strconv.Atoi(r.text()); err == nil && minutes > 0 && minutes < 1<<20 {
			feed.TTL = int64(minutes) * 60
		}
	case "image", "icon", "logo":
		r.feedImage(local)
	case "items": // of RDF: repeats the addresses of the items
		r.scan.Skip(isItem)
	default:
		r.ignore()
	}
}

// feedText reads a text about the feed; a second one is ignored.
func (r *reader) feedText(to *string) {
	offset, raw := r.scan.Offset, r.scan.Raw
	text := r.keptText()
	if *to != "" && text != "" && text != *to {
		r.note(raw, offset, ignoredElement)
		return
	}
	first(to, text)
}

// feedLink reads a link of the feed by its relation: to the shop, to the feed itself, to
// its hub.
func (r *reader) feedLink() {
	s, feed := &r.scan, &r.out.Feed
	offset, raw, rel, href := s.Offset, s.Raw, strings.ToLower(s.Attr("rel")), s.Attr("href")
	r.attributes()
	text := r.text()
	first(&href, text)
	href = strings.Clone(r.address(href))
	switch {
	case href == "":
	case rel == "self" && feed.Self == "":
		feed.Self = href
	case rel == "hub" && r.fits(len(feed.Hubs), maxList):
		feed.Hubs = append(feed.Hubs, href)
	case (rel == "" || rel == "alternate") && feed.Link == "":
		feed.Link = href
		r.assumeBase(href)
	case href != feed.Link && href != feed.Self:
		r.note(raw, offset, ignoredElement)
	}
}

// feedImage reads the picture of the feed: an element url inside image, or the text of
// icon and logo.
func (r *reader) feedImage(local string) {
	feed := &r.out.Feed
	if local != "image" {
		first(&feed.Image, strings.Clone(r.address(r.text())))
		return
	}
	r.children(func(local string) bool {
		switch {
		case local == "url" && feed.Image == "":
			feed.Image = strings.Clone(r.address(r.text()))
		case local == "title" || local == "link":
			text := r.text()
			if text != feed.Title && text != feed.Link {
				r.note(local, r.scan.Offset, ignoredElement)
			}
		default:
			return false
		}
		return true
	})
}

// merchantOffer reads an item; the next item ends it, whatever is still open. It
// returns false to stop reading.
func (r *reader) merchantOffer() bool {
	s := &r.scan
	offset, raw := s.Offset, s.Raw
	o := &courant.Offer{Available: true}
	r.draft = draft{Offer: o}
	d := &r.draft
	r.attributes()
	s.Children(isItem, func() {
		if s.Kind() == xmlscan.Start {
			r.merchantElement(d)
			return
		}
		r.stray(raw)
	})
	if r.cut = s.Truncated(); r.cut {
		return true
	}
	if o.ID == "" {
		if o.ID = o.URL; o.ID == "" {
			r.warn("offer-without-id", offset, raw, "the offer has no g:id and was left out; add a g:id, which must never change")
			return true
		}
		r.warn("offer-without-id", offset, raw, "the offer has no g:id and its link was used as the id; add a g:id, which must never change")
	}
	d.readAvailability(r, d.availability)
	r.settle(o, &d.prices)
	r.merchantCategory(d)
	if o.Name == "" {
		r.warn("offer-without-name", offset, raw, "offer "+o.ID+" has no title; add a title")
	}
	lists(o)
	return r.give(o)
}

// merchantCategory sets the category: the shop's own has precedence over that of Google
// and over that of RSS.
func (r *reader) merchantCategory(d *draft) {
	o, path := d.Offer, ""
	for _, c := range [...]struct{ name, path string }{{"product_type", d.shopPath}, {"google_product_category", d.googlePath}, {"category", d.postPath}} {
		if path == "" {
			path = c.path
		} else if c.path != path {
			r.addDetail(&o.Details, c.name, c.path)
		}
	}
	if path == "" {
		return
	}
	way := r.tree.named(path)
	r.longPath()
	o.CategoryPath, o.Category = way.ids, way.names
	if n := len(way.ids); n > 0 {
		o.CategoryID = way.ids[n-1]
	}
}

// first keeps the first value that is not empty.
func first(to *string, value string) {
	if *to == "" {
		*to = value
	}
}

// merchantPicture puts the main picture first.
func (r *reader) merchantPicture(o *courant.Offer, main bool) {
	for part := range strings.SplitSeq(r.text(), ",http") {
		if part != "" && !strings.HasPrefix(part, "http") && strings.HasPrefix(strings.TrimLeft(part, "s"), ":") {
			part = "http" + part // several addresses in one element
		}
		r.addPicture(o, part, main)
	}
}

// addPicture adds a picture, once.
func (r *reader) addPicture(o *courant.Offer, ref string, main bool) {
	u := r.address(ref)
	switch {
	case u == "" || slices.Contains(o.Pictures, u) || !r.room(len(o.Pictures)):
	case main:
		o.Pictures = append([]string{u}, o.Pictures...)
	default:
		o.Pictures = append(o.Pictures, u)
	}
}

func (r *reader) merchantShipping(o *courant.Offer) {
	var way courant.Shipping
	r.children(func(local string) bool {
		switch local {
		case "price":
			way.Cost = r.text()
		case "service":
			way.Service = r.text()
		case "country", "region", "postal_code":
			way.Where = line(way.Where + " " + r.text())
		default:
			return false
		}
		return true
	})
	if way != (courant.Shipping{}) && r.room(len(o.DeliveryOptions)) {
		o.DeliveryOptions = append(o.DeliveryOptions, way)
	}
}

// productDetail reads a param of a product feed. Its section, if any, is part of its name.
func (r *reader) productDetail(o *courant.Offer) {
	var p courant.Param
	section := ""
	r.children(func(local string) bool {
		switch local {
		case "section_name":
			section = r.text()
		case "attribute_name":
			p.Name = r.text()
		case "attribute_value":
			p.Value = r.text()
		default:
			return false
		}
		return true
	})
	if section != "" && p.Name != "" {
		p.Name = section + ": " + p.Name
	}
	first(&p.Name, section)
	switch {
	case p.Value == "":
	case p.Name == "":
		r.here("param-without-name", "the product_detail has no name and was kept as a detail; add attribute_name")
		r.addDetail(&o.Details, "product_detail", p.Value)
	case r.room(len(o.Params)):
		o.Params = append(o.Params, p)
	}
}

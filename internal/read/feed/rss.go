package feed

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// readRSS reads RSS of every version. Items may be inside the channel, beside it or
// after it.
func (r *reader) readRSS() error {
	s := &r.scan
	root := false
	for {
		switch s.Next() {
		case xmlscan.EOF:
			return r.end(root)
		case xmlscan.End:
			if s.Depth() == 0 && s.Name.Local != "channel" && s.Name.Local != "item" {
				r.after()
				return r.end(root)
			}
		case xmlscan.Start:
			if !root {
				root = true
				r.out.Format = rssFormat(s)
			}
			r.rssElement()
		case xmlscan.Text:
			r.stray()
		}
	}
}

// stray names the element around the current text, an element whose own text has no meaning.
func (r *reader) stray() {
	if strings.TrimSpace(r.scan.Text) != "" {
		r.ignore(r.scan.Parent(), "", strayText)
	}
}

// end completes a feed, or returns an error if it has no root element.
func (r *reader) end(root bool) error {
	if !root {
		return courant.Errorf(courant.Invalid, "malformed: the document ends inside its first tag")
	}
	if r.turbo {
		r.out.Format = "turbo"
	}
	return nil
}

// rssFormat returns the version of the root element.
func rssFormat(s *xmlscan.Scanner) string {
	switch s.Name.Local {
	case "rdf":
		for _, a := range s.Attrs {
			if strings.Contains(a.Value, "my.netscape.com/rdf/simple/0.9") || strings.Contains(a.Value, "channel.netscape.com/rdf") {
				return "rss090"
			}
		}
		return "rss10"
	case "turbo":
		return "turbo"
	case "channel":
		return "cdf"
	}
	switch v := strings.TrimSpace(s.Attr("version")); {
	case strings.HasPrefix(v, "0.90"):
		return "rss090"
	case strings.HasPrefix(v, "0.91"):
		return "rss091"
	case strings.HasPrefix(v, "0.9"):
		return "rss092"
	}
	return "rss20"
}

// rssElement handles an element outside of items.
func (r *reader) rssElement() {
	s := &r.scan
	switch {
	case s.Name.Space == "rdf" && s.Name.Local == "rdf", s.Name.Space == "" && isContainer(s.Name.Local):
		r.scope = r.inherit(r.scope)
		r.channelAttrs()
		r.about() // the link of the channel says the same
	case isItem(s.Name):
		r.rssItem()
	default:
		r.channelElement()
	}
}

// channelAttrs reads the attributes of a channel in CDF.
func (r *reader) channelAttrs() {
	if s, f := &r.scan, &r.out.Feed; r.out.Format == "cdf" {
		r.scope.base = firstOf(r.url(r.scope.base, s.Attr("base")), r.scope.base)
		f.Link = firstOf(f.Link, r.url(r.scope.base, s.Attr("href")))
		f.Self = firstOf(f.Self, r.url(r.scope.base, s.Attr("self")))
		r.setDate(&f.Updated, s.Attr("lastmod"))
	}
}

// isContainer reports whether the children of an element belong to the feed.
func isContainer(local string) bool {
	return local == "rss" || local == "channel" || local == "turbo" || local == "rdf"
}

// isItem reports whether a name is that of an item.
func isItem(n xmlscan.Name) bool { return n.Space == "" && n.Local == "item" }

// channelChild reports whether an element ends an unclosed sibling in a channel.
func channelChild(n xmlscan.Name) bool {
	return isItem(n) || n.Space == "" && (n.Local == "channel" || n.Local == "pubdate" || n.Local == "lastbuilddate")
}

// itemChild reports whether an element ends an unclosed sibling in an item.
func itemChild(n xmlscan.Name) bool {
	switch n.Space {
	case "":
		switch n.Local {
		case "item", "channel", "title", "link", "guid", "pubdate", "description", "author", "category", "enclosure", "comments":
			return true
		}
	case "content", "dc":
		return true
	}
	return false
}

// inherit returns the scope inside the current element.
func (r *reader) inherit(outer scope) scope {
	r.ownLang = ""
	if len(r.scan.Attrs) == 0 {
		return outer
	}
	if base, ok := r.scan.LookupAttr("xml:base"); ok {
		outer.base = firstOf(resolve(outer.base, base), outer.base)
		r.based = true
	}
	if lang, ok := r.scan.LookupAttr("xml:lang"); ok {
		outer.lang = strings.ReplaceAll(strings.TrimSpace(lang), "_", "-")
		r.ownLang = outer.lang
	}
	return outer
}

// about returns the identifier of an element of RDF; its prefix may be another than rdf.
func (r *reader) about() string {
	for _, a := range r.scan.Attrs {
		if _, local, ok := strings.Cut(a.Name, ":"); ok && strings.EqualFold(local, "about") {
			return strings.TrimSpace(r.scan.Attr(a.Name))
		}
	}
	return ""
}

// rssItem reads an item; the next one ends it, whatever is still open.
func (r *reader) rssItem() {
	s := &r.scan
	if r.full() {
		s.Skip(isItem)
		return
	}
	d := r.begin(r.inherit(r.scope))
	if about := r.about(); about != "" {
		d.id = spare{about, "rdf:about"}
	}
	r.itemAttrs(d)
	s.Children(isItem, func() {
		if s.Kind() == xmlscan.Start {
			r.itemElement(d)
			return
		}
		r.stray()
	})
	r.last(d)
}

// last adds an item, unless the feed ends before the link or id of the item.
func (r *reader) last(d *draft) {
	if r.scan.Truncated() {
		r.amend("truncated", "; the incomplete item at the end gets no page")
		if d.item.Link == "" && d.item.ID == "" && d.id.value == "" {
			return
		}
	}
	r.add(d)
}

// whole returns the contents of an address or identifier, or "" if the document ends
// inside it, because a part of it is worthless.
func (r *reader) whole(stop func(xmlscan.Name) bool) string {
	text := strings.TrimSpace(r.scan.Inner(stop))
	if r.scan.Truncated() {
		return ""
	}
	return text
}

// itemElement reads one child of an item.
func (r *reader) itemElement(d *draft) {
	s := &r.scan
	outer := d.scope
	d.scope = r.inherit(outer)
	r.inline = d.scope.base
	switch s.Name.Space {
	case "":
		r.rssChild(d, s.Name.Local)
	case "atom":
		r.atomChild(d, s.Name.Local)
	default:
		r.moduleChild(d)
	}
	d.scope = outer
}

// rssChild reads the elements of RSS itself, in all versions, and those that
// generators put there without a namespace. The first of repeated elements wins.
func (r *reader) rssChild(d *draft, local string) {
	s, it := &r.scan, &d.item
	switch local {
	case "title":
		r.first(&it.Title, r.plain(s.Inner(itemChild)))
	case "link":
		r.rssLink(d)
	case "description", "summary", "abstract":
		r.offer(&d.summary, r.piece(d, 2))
	case "content", "body", "fullitem", "fulltext", "full-text":
		r.offer(&d.content, r.piece(d, 2))
	case "guid":
		r.guid(d)
	case "pubdate", "published", "date":
		r.setDate(&it.Published, s.Inner(itemChild))
	case "updated", "modified", "lastbuilddate":
		r.setDate(&it.Updated, s.Inner(itemChild))
	case "author", "managingeditor":
		if p, ok := r.person(s.Inner(itemChild)); ok {
			it.Authors = r.addPerson(it.Authors, p)
		}
	case "category":
		it.Categories = r.addWord(it.Categories, s.Inner(itemChild))
	case "keywords":
		it.Categories = r.addWords(it.Categories, s.Inner(itemChild))
	case "enclosure":
		r.enclosureElement(d)
	case "language":
		r.first(&it.Language, line(s.Inner(itemChild)))
	case "copyright", "rights":
		r.first(&it.Rights, r.itemNote(d))
	case "logo":
		url := r.url(d.scope.base, s.Attr("href"))
		s.Skip(itemChild)
		r.spare(&d.thumb, url)
	case "image":
		r.itemImage(d)
	case "metrics":
		r.metrics(d)
	case "comments":
		r.comments(d)
	case "source", "pdalink":
		r.skip(itemChild) // they contain text, so a missing end tag is noticed
	default:
		r.skip(isItem)
	}
}

// comments reads the address of the page with the comments; some feeds have their number
// instead.
func (r *reader) comments(d *draft) {
	text := r.whole(itemChild)
	url := ""
	if strings.Contains(text, "/") {
		url = d.address(text)
	}
	if url == "" && text != "" {
		r.ignore(r.scan.Raw, "", noUse)
	}
	r.first(&d.item.Comments, url)
}

// rssLink reads a link from text, or from the attribute href as in Atom.
func (r *reader) rssLink(d *draft) {
	s := &r.scan
	if _, ok := s.LookupAttr("href"); ok {
		r.atomLink(d)
		return
	}
	r.first(&d.item.Link, r.pageLink(d.scope.base, r.whole(itemChild)))
}

// itemNote reads a short text of an item as clean HTML.
func (r *reader) itemNote(d *draft) string {
	return r.note(r.scan.Inner(itemChild), d.scope.base)
}

// guid reads the identifier; it is also a link unless isPermaLink is false.
func (r *reader) guid(d *draft) {
	permanent := !strings.EqualFold(strings.TrimSpace(r.scan.Attr("isPermaLink")), "false")
	id := r.whole(itemChild)
	r.first(&d.item.ID, id)
	if permanent && (strings.Contains(id, "://") || strings.HasPrefix(id, "/")) {
		d.guidLink = d.address(id)
	}
}

// itemImage reads the address of a picture from an attribute, text or a child. It
// skips the title and the link of the picture.
func (r *reader) itemImage(d *draft) {
	s, image := &r.scan, r.scan.Raw
	url := firstOf(s.Attr("href"), s.Attr("url"), s.Attr("src"))
	s.Children(isItem, func() {
		switch {
		case s.Kind() == xmlscan.Text:
			url = firstOf(url, strings.TrimSpace(s.Text))
		case s.Name.Local == "url":
			url = firstOf(strings.TrimSpace(s.Inner(isItem)), url)
		default:
			r.skipIn(image, isItem)
		}
	})
	r.spare(&d.thumb, r.url(d.scope.base, url))
}

// enclosureElement accepts the address as text and under the attribute names of other
// formats.
func (r *reader) enclosureElement(d *draft) {
	s := &r.scan
	f := file{url: firstOf(s.Attr("url"), s.Attr("href"), s.Attr("src")), kind: s.Attr("type"), length: firstOf(s.Attr("length"), s.Attr("size")),
		title: s.Attr("title"), duration: s.Attr("duration")}
	text := s.Inner(itemChild)
	f.url = firstOf(f.url, strings.TrimSpace(text))
	r.attach(d, f)
}

// itemAttrs reads the attributes of an item in CDF and Turbo RSS.
func (r *reader) itemAttrs(d *draft) {
	if len(r.scan.Attrs) == 0 {
		return
	}
	d.item.Link = r.url(d.scope.base, r.scan.Attr("href"))
	r.setDate(&d.item.Updated, r.scan.Attr("lastmod"))
	v, ok := r.scan.LookupAttr("turbo")
	if !ok {
		return
	}
	on := !strings.EqualFold(strings.TrimSpace(v), "false")
	d.item.Turbo, d.item.Withdrawn = &on, !on
	r.turbo = true
}

package feed

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// readAtom reads Atom 1.0 and 0.3, also a single entry.
func (r *reader) readAtom() error {
	s := &r.scan
	root := false
	for {
		switch s.Next() {
		case xmlscan.EOF:
			return r.end(root)
		case xmlscan.End:
			if s.Depth() == 0 {
				r.after()
				return r.end(root)
			}
		case xmlscan.Start:
			if !root {
				root = true
				r.out.Format = atomFormat(s)
			}
			r.atomElement()
		}
	}
}

// atomFormat returns the version of the root element.
func atomFormat(s *xmlscan.Scanner) string {
	for _, a := range s.Attrs {
		if strings.HasPrefix(a.Value, "http://purl.org/atom/ns") || a.Name == "version" && strings.HasPrefix(a.Value, "0.") {
			return "atom03"
		}
	}
	return "atom10"
}

// isAtom reports whether a name belongs to Atom; names without a namespace do too.
func isAtom(n xmlscan.Name) bool { return n.Space == "atom" || n.Space == "" }

// isEntry reports whether a name is that of an entry.
func isEntry(n xmlscan.Name) bool { return isAtom(n) && n.Local == "entry" }

// atomStop reports whether an element ends an unclosed sibling before it in an entry.
func atomStop(n xmlscan.Name) bool {
	if n.Space != "atom" {
		return false
	}
	switch n.Local {
	case "entry", "id", "updated", "published", "author", "content", "category":
		return true
	}
	return false
}

// atomElement handles an element outside of entries.
func (r *reader) atomElement() {
	s := &r.scan
	switch {
	case isAtom(s.Name) && s.Name.Local == "feed":
		r.scope = r.inherit(r.scope)
		r.out.Feed.Language = r.scope.lang
	case isEntry(s.Name):
		r.entry()
	case s.Name.Local == "deleted-entry":
		r.tombstone()
	case isAtom(s.Name):
		r.feedElement()
	default:
		r.feedModule()
	}
}

// entry reads an entry; the next one ends it, whatever is still open.
func (r *reader) entry() {
	s := &r.scan
	if r.full() {
		s.Skip(isEntry)
		return
	}
	d := draft{scope: r.inherit(r.scope), based: r.based}
	s.Children(isEntry, func() {
		if s.Kind() == xmlscan.Start {
			r.entryElement(&d)
		}
	})
	r.lastEntry(&d)
}

// lastEntry adds an entry unless it is a draft; its authors are those of its
// source or of the feed if it names none.
func (r *reader) lastEntry(d *draft) {
	if d.unpublished {
		r.here("draft", "the entry is a draft and was left out; publish it when it is ready")
		return
	}
	if len(d.item.Authors) == 0 && len(d.author) == 0 {
		d.author = append(d.author, r.out.Feed.Authors...)
	}
	r.last(d)
}

// entryElement reads one child of an entry.
func (r *reader) entryElement(d *draft) {
	s := &r.scan
	outer := d.scope
	d.scope = r.inherit(outer)
	r.inline = d.scope.base
	switch {
	case isAtom(s.Name):
		r.atomChild(d, s.Name.Local)
	case s.Name.Local == "draft":
		d.unpublished = strings.TrimSpace(s.Inner(nil)) == "yes"
	case s.Name.Space == "app" && s.Name.Local == "control":
		// holds draft
	default:
		r.moduleChild(d)
	}
	d.scope = outer
}

// atomChild reads one child of an entry, or an Atom element inside RSS.
func (r *reader) atomChild(d *draft, local string) {
	s, it := &r.scan, &d.item
	switch local {
	case "title":
		r.atomTitle(d)
	case "id":
		d.id = firstOf(d.id, r.atomID(d))
	case "link":
		r.atomLink(d)
	case "published":
		r.atomDate(&it.Published, &d.publishedRank, 3)
	case "issued":
		r.atomDate(&it.Published, &d.publishedRank, 2)
	case "created":
		r.atomDate(&it.Published, &d.publishedRank, 1)
	case "updated", "modified":
		r.atomDate(&it.Updated, &d.updatedRank, 1)
	case "author", "contributor":
		if p := r.atomPerson(d.scope); local == "author" && p != (courant.Person{}) {
			it.Authors = addPerson(it.Authors, p)
		}
	case "summary", "subtitle", "tagline":
		html, base := r.atomMarkup(r.ownBase(d))
		d.summary.offer(html, base, 3)
	case "content":
		r.atomContent(d)
	case "category":
		r.atomCategory(&it.Categories)
	case "rights", "copyright":
		it.Rights = firstOf(it.Rights, r.atomNote(d.scope.base))
	case "source":
		r.atomSource(d)
	default:
		s.Skip(atomStop)
	}
}

// atomID reads an identifier; a path, which the standard forbids, is resolved as the
// path of the page.
func (r *reader) atomID(d *draft) string {
	id := r.whole(atomStop)
	if strings.HasPrefix(id, "/") {
		return firstOf(d.address(id), id)
	}
	return id
}

// atomTitle reads the first title. The language of the title becomes that of the
// entry, even if it is declared empty.
func (r *reader) atomTitle(d *draft) {
	if d.item.Title != "" {
		r.scan.Skip(atomStop)
		return
	}
	_, said := r.scan.LookupAttr("xml:lang")
	d.noLang = said && d.scope.lang == ""
	d.item.Language = firstOf(d.item.Language, d.scope.lang)
	d.item.Title = r.atomText()
}

// atomDate keeps the last date of the highest rank.
func (r *reader) atomDate(t *courant.Time, had *int, rank int) {
	var read courant.Time
	r.setDate(&read, r.scan.Inner(atomStop))
	if !read.IsZero() && rank >= *had {
		*t, *had = read, rank
	}
}

// atomLink reads a link of an entry.
func (r *reader) atomLink(d *draft) {
	s := &r.scan
	rel := strings.ToLower(strings.TrimSpace(s.Attr("rel")))
	rel = strings.TrimPrefix(rel, "http://www.iana.org/assignments/relation/")
	kind, length, title := strings.ToLower(s.Attr("type")), s.Attr("length"), line(s.Attr("title"))
	var href string
	if rel == "" || rel == "alternate" {
		href = r.pageLink(d.scope.base, s.Attr("href"))
	} else {
		href = d.address(s.Attr("href"))
	}
	s.Skip(atomStop)
	if href == "" {
		return
	}
	switch rel {
	case "", "alternate":
		isPage := kind == "" || strings.Contains(kind, "html")
		if d.item.Link == "" || isPage && !d.linkIsPage {
			d.item.Link, d.linkIsPage = href, isPage
		}
	case "enclosure":
		d.enclosure(href, kind, length)
	case "related":
		d.relate(courant.RelatedLink{URL: href, Title: title})
	}
}

// atomContent reads content, inline or referred to with src.
func (r *reader) atomContent(d *draft) {
	src := d.address(r.scan.Attr("src"))
	kind := strings.ToLower(r.scan.Attr("type"))
	html, base := r.atomMarkup(r.ownBase(d))
	switch {
	case src != "" && (strings.HasPrefix(kind, "image/") || strings.HasPrefix(kind, "video/") || strings.HasPrefix(kind, "audio/")):
		d.enclosure(src, kind, "")
	case src != "":
		d.guidLink = firstOf(d.guidLink, src)
	default:
		d.content.offer(html, base, 3)
	}
}

// atomCategory reads the term, as other feed readers do; some feeds have only a
// label, or text as in RSS.
func (r *reader) atomCategory(list *[]string) {
	s := &r.scan
	word := firstOf(s.Attr("term"), s.Attr("label"))
	text := s.Inner(atomStop)
	*list = addWord(*list, firstOf(word, text))
}

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
		case xmlscan.Text:
			r.stray()
		}
	}
}

// atomFormat returns the version of the root element.
func atomFormat(s *xmlscan.Scanner) string {
	s.LookupAttr("version")
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
	d := r.begin(r.inherit(r.scope))
	s.Children(isEntry, func() {
		if s.Kind() == xmlscan.Start {
			r.entryElement(d)
			return
		}
		r.stray()
	})
	r.lastEntry(d)
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
		d.unpublished = strings.EqualFold(strings.TrimSpace(s.Inner(nil)), "yes")
	case s.Name.Space == "app" && s.Name.Local == "control":
		// holds draft
	default:
		r.moduleChild(d)
	}
	d.scope = outer
}

// atomChild reads one child of an entry, or an Atom element inside RSS.
func (r *reader) atomChild(d *draft, local string) {
	it := &d.item
	switch local {
	case "title":
		r.atomTitle(d)
	case "id":
		r.spare(&d.id, r.atomID(d))
	case "link":
		r.atomLink(d)
	case "published":
		r.atomDate(&it.Published, &d.published, 3)
	case "issued":
		r.atomDate(&it.Published, &d.published, 2)
	case "created":
		r.atomDate(&it.Published, &d.published, 1)
	case "updated", "modified":
		r.atomDate(&it.Updated, &d.updated, 1)
	case "author":
		if p := r.atomPerson(d.scope); p != (courant.Person{}) {
			it.Authors = r.addPerson(it.Authors, p)
		}
	case "summary", "subtitle", "tagline":
		r.offer(&d.summary, r.atomPiece(d))
	case "content":
		r.atomContent(d)
	case "category":
		r.atomCategory(&it.Categories)
	case "rights", "copyright":
		r.first(&it.Rights, r.atomNote(d.scope.base))
	case "source":
		r.atomSource(d)
	default:
		r.skip(atomStop)
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
	if d.item.Title == "" {
		_, said := r.scan.LookupAttr("xml:lang")
		d.noLang = said && d.scope.lang == ""
		d.item.Language = firstOf(d.item.Language, r.ownLang)
	}
	r.first(&d.item.Title, r.atomText())
}

// atomDate keeps the last date of the highest rank.
func (r *reader) atomDate(t *courant.Time, had *dated, rank int) {
	var read courant.Time
	r.setDate(&read, r.scan.Inner(atomStop))
	if read.IsZero() {
		return
	}
	name := r.scan.Raw
	if rank < had.rank {
		had.name, name = name, had.name // the new date is the one that is not used
	} else {
		read, t.Time = courant.Time{Time: t.Time}, read.Time
		had.rank = rank
	}
	if !read.IsZero() && !read.Equal(t.Time) {
		r.ignore(had.name, "", notNeeded)
	}
	had.name = name
}

// relation returns the relation of a link in lower case, without its usual prefix.
func (r *reader) relation() string {
	rel := strings.ToLower(strings.TrimSpace(r.scan.Attr("rel")))
	return strings.TrimPrefix(rel, "http://www.iana.org/assignments/relation/")
}

// atomLink reads a link of an entry.
func (r *reader) atomLink(d *draft) {
	s := &r.scan
	rel := r.relation()
	switch rel {
	case "", "alternate":
		r.atomPage(d)
		return
	case "enclosure":
		f := file{url: s.Attr("href"), kind: s.Attr("type"), length: s.Attr("length"), title: s.Attr("title"), duration: s.Attr("duration")}
		s.Skip(atomStop)
		r.attach(d, f)
		return
	case "related":
		l := courant.RelatedLink{URL: r.url(d.scope.base, s.Attr("href")), Title: line(s.Attr("title"))}
		s.Skip(atomStop)
		r.relate(d, l)
		return
	case "replies":
		if kind := s.Attr("type"); kind == "" || strings.Contains(strings.ToLower(kind), "html") {
			url := r.url(d.scope.base, s.Attr("href"))
			s.Skip(atomStop)
			r.first(&d.item.Comments, url)
			return
		}
	}
	r.skipLink(rel)
}

// skipLink names a link by its relation and skips it.
func (r *reader) skipLink(rel string) {
	r.ignore(r.scan.Raw+`[@rel="`+bounded(rel)+`"]`, "", noUse)
	r.scan.MarkRead()
	r.scan.Skip(atomStop)
}

// atomPage reads the link to the page of an entry. An HTML page is preferred.
func (r *reader) atomPage(d *draft) {
	s := &r.scan
	kind := strings.ToLower(s.Attr("type"))
	ref, given := s.LookupAttr("href")
	if text := strings.TrimSpace(s.Inner(atomStop)); !given {
		ref = text // as in RSS
	} else if text != "" && text != ref {
		r.ignore(s.Raw+"/text()", "", notNeeded)
	}
	href := r.pageLink(d.scope.base, ref)
	if href == "" {
		return
	}
	isPage := kind == "" || strings.Contains(kind, "html")
	if d.item.Link != "" && d.item.Link != href {
		r.ignore(s.Raw+`[@rel="alternate"]`, "", notNeeded)
	}
	if d.item.Link == "" || isPage && !d.linkIsPage {
		d.item.Link, d.linkIsPage = href, isPage
	}
}

// atomContent reads content, inline or referred to with src.
func (r *reader) atomContent(d *draft) {
	src, kind := r.scan.Attr("src"), strings.ToLower(r.scan.Attr("type"))
	if strings.TrimSpace(src) == "" {
		r.offer(&d.content, r.atomPiece(d))
		return
	}
	f := file{url: r.url(d.scope.base, src), kind: kind}
	html, _ := r.atomMarkup("")
	if strings.TrimSpace(html) != "" {
		r.ignore(r.scan.Raw+"/text()", "", notNeeded)
	}
	switch media, _, _ := strings.Cut(kind, "/"); media {
	case "image", "video", "audio":
		r.attach(d, f)
	default:
		if d.remote.url != "" && d.remote.url != f.url {
			r.attach(d, f)
			return
		}
		d.remote = f
	}
}

// atomPiece reads a text construct as markup.
func (r *reader) atomPiece(d *draft) piece {
	p := piece{lang: r.ownLang, rank: 3}
	p.html, p.base = r.atomMarkup(r.ownBase(d))
	p.name = r.scan.Raw
	return p
}

// atomCategory reads the term, as other feed readers do; some feeds have only a
// label, or text as in RSS.
func (r *reader) atomCategory(list *[]string) {
	s := &r.scan
	term, label := s.Attr("term"), s.Attr("label")
	text := s.Inner(atomStop)
	*list = r.addWord(*list, firstOf(term, label, text))
	if term != "" && label != "" && r.plain(label) != r.plain(term) {
		r.ignore(s.Raw, "label", notNeeded)
	}
}

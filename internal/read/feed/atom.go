package feed

import (
	"encoding/base64"
	"html"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// readAtom reads Atom 1.0 and 0.3, also a single entry.
func (r *reader) readAtom() error {
	s := &r.scan
	root := false
	for {
		switch s.Next() {
		case xmlscan.EOF:
			return r.atomEnd(root)
		case xmlscan.End:
			if s.Depth() == 0 {
				r.after()
				return r.atomEnd(root)
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

func (r *reader) atomEnd(root bool) error {
	if !root {
		return courant.Errorf(courant.Invalid, "malformed: the document is cut off inside of its first tag")
	}
	return nil
}

func atomFormat(s *xmlscan.Scanner) string {
	for _, a := range s.Attrs {
		if strings.HasPrefix(a.Value, "http://purl.org/atom/ns") || a.Name == "version" && strings.HasPrefix(a.Value, "0.") {
			return "atom03"
		}
	}
	return "atom10"
}

// isAtom says whether a name is one of Atom; feeds without a namespace are taken
// as if they had it.
func isAtom(n xmlscan.Name) bool { return n.Space == "atom" || n.Space == "" }

func isEntry(n xmlscan.Name) bool { return isAtom(n) && n.Local == "entry" }

// atomStop says whether an element ends what stands before it in an entry.
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

// atomElement handles what stands outside of entries.
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
	for depth := s.Depth(); ; {
		switch s.Next() {
		case xmlscan.EOF:
			r.lastEntry(&d)
			return
		case xmlscan.End:
			if s.Depth() <= depth {
				r.lastEntry(&d)
				return
			}
		case xmlscan.Start:
			if isEntry(s.Name) {
				s.Interrupt(depth)
				r.lastEntry(&d)
				return
			}
			r.entryElement(&d)
		}
	}
}

// lastEntry adds an entry unless it is a draft; its authors are those of its
// source or of the feed if it names none.
func (r *reader) lastEntry(d *draft) {
	if d.unpublished {
		r.here("draft", "an entry says that it is a draft; it was left out")
		return
	}
	if len(d.item.Authors) == 0 && len(d.author) == 0 {
		d.author = append(d.author, r.out.Feed.Authors...)
	}
	r.last(d)
}

func (r *reader) entryElement(d *draft) {
	s := &r.scan
	outer := d.scope
	d.scope = r.inherit(outer)
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

// atomChild reads one child of an entry, or an element of Atom inside of RSS.
func (r *reader) atomChild(d *draft, local string) {
	s, it := &r.scan, &d.item
	switch local {
	case "title":
		if lang := d.scope.lang; it.Title == "" {
			it.Title = r.atomText()
			it.Language = firstOf(it.Language, lang)
		}
	case "id":
		d.id = firstOf(d.id, r.whole(atomStop))
	case "link":
		r.atomLink(d)
	case "published", "issued", "created":
		r.setDate(&it.Published, s.Inner(atomStop))
	case "updated", "modified":
		r.setDate(&it.Updated, s.Inner(atomStop))
	case "author", "contributor":
		if p := r.atomPerson(); local == "author" && p != (courant.Person{}) {
			it.Authors = addPerson(it.Authors, p)
		}
	case "summary", "subtitle", "tagline":
		html, base := r.atomMarkup(d)
		d.summary.offer(html, base, 3)
	case "content":
		r.atomContent(d)
	case "category":
		r.atomCategory(&it.Categories)
	case "rights", "copyright":
		it.Rights = r.atomText()
	case "source":
		r.atomSource(d)
	default:
		s.Skip(atomStop)
	}
}

// atomLink reads a link of an entry.
func (r *reader) atomLink(d *draft) {
	s := &r.scan
	rel := strings.ToLower(strings.TrimSpace(s.Attr("rel")))
	rel = strings.TrimPrefix(rel, "http://www.iana.org/assignments/relation/")
	kind, length := strings.ToLower(s.Attr("type")), s.Attr("length")
	href := d.address(s.Attr("href"))
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
		if len(d.item.Related) < maxList {
			d.item.Related = append(d.item.Related, href)
		}
	}
}

// atomContent reads content, also content that only names its address.
func (r *reader) atomContent(d *draft) {
	src := d.address(r.scan.Attr("src"))
	kind := strings.ToLower(r.scan.Attr("type"))
	html, base := r.atomMarkup(d)
	switch {
	case src != "" && (strings.HasPrefix(kind, "image/") || strings.HasPrefix(kind, "video/") || strings.HasPrefix(kind, "audio/")):
		d.enclosure(src, kind, "")
	case src != "":
		d.guidLink = firstOf(d.guidLink, src)
	default:
		d.content.offer(html, base, 3)
	}
}

// atomMarkup reads a text construct as HTML.
func (r *reader) atomMarkup(d *draft) (html, base string) {
	base = r.ownBase(d)
	kind, encoded := r.textKind()
	switch {
	case kind == "xhtml":
		return unwrap(r.scan.InnerXHTML(atomStop)), base
	case encoded:
		return decodeBase64(r.scan.Inner(atomStop), kind), base
	case kind == "html":
		return r.scan.Inner(atomStop), base
	case strings.HasPrefix(kind, "text/") || kind == "text":
		return escaped(r.scan.Inner(atomStop)), base
	}
	r.scan.Skip(atomStop)
	return "", base
}

// textKind tells how a text construct is written: text, html, xhtml or a media
// type, and whether it is in base64. Atom 0.3 says it with mode.
func (r *reader) textKind() (kind string, encoded bool) {
	kind = strings.ToLower(strings.TrimSpace(r.scan.Attr("type")))
	switch strings.ToLower(r.scan.Attr("mode")) {
	case "base64":
		return htmlKind(kind), true
	case "escaped":
		return htmlKind(kind), false
	case "xml":
		return "xhtml", false
	}
	switch {
	case kind == "" && r.out.Format == "atom03":
		return "xhtml", false // its default mode is xml
	case kind == "" || kind == "text":
		return "text", false
	case kind == "xhtml" || kind == "application/xhtml+xml":
		return "xhtml", false
	case kind == "html" || kind == "text/html":
		return "html", false
	case strings.HasPrefix(kind, "text/"):
		return kind, false
	case strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "/xml"):
		return kind, false
	}
	return kind, true
}

func htmlKind(kind string) string {
	if kind == "" || strings.Contains(kind, "html") {
		return "html"
	}
	return kind
}

func decodeBase64(s, kind string) string {
	s = strings.Join(strings.Fields(s), "")
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		b, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	}
	text := strings.ToValidUTF8(string(b), "\uFFFD")
	switch {
	case err != nil:
		return ""
	case kind == "html" || strings.Contains(kind, "html"):
		return text
	case strings.HasPrefix(kind, "text"):
		return escaped(text)
	case kind == "application/octet-stream" || kind == "":
		return text
	}
	return ""
}

func escaped(s string) string { return html.EscapeString(s) }

// atomText reads a text construct as one line of plain text.
func (r *reader) atomText() string {
	switch kind, encoded := r.textKind(); {
	case encoded:
		return plain(decodeBase64(r.scan.Inner(atomStop), kind))
	case kind == "xhtml":
		return line(markup.Text(r.scan.InnerXHTML(atomStop)))
	case kind == "html":
		return plain(r.scan.Inner(atomStop))
	}
	return line(r.scan.Inner(atomStop))
}

// unwrap takes the div away that xhtml content must have around it.
func unwrap(s string) string {
	s = strings.TrimSpace(s)
	open := strings.IndexByte(s, '>')
	if !strings.HasPrefix(s, "<div") || !strings.HasSuffix(s, "</div>") || open < 0 {
		return s
	}
	inner := s[open+1 : len(s)-len("</div>")]
	depth := 0
	for rest := inner; ; {
		i := strings.Index(rest, "div")
		if i < 0 {
			return inner
		}
		switch {
		case strings.HasSuffix(rest[:i], "</"):
			depth--
		case strings.HasSuffix(rest[:i], "<"):
			depth++
		}
		if depth < 0 {
			return s // the last end tag is that of another div
		}
		rest = rest[i+3:]
	}
}

func (r *reader) atomCategory(list *[]string) {
	s := &r.scan
	word := firstOf(s.Attr("term"), s.Attr("label"))
	text := s.Inner(atomStop)
	*list = addWord(*list, firstOf(word, text))
}

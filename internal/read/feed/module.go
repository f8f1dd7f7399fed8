package feed

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/when"
)

// ownBase returns the xml:base of a piece of markup, or "".
func (r *reader) ownBase(d *draft) string {
	if r.based {
		return d.scope.base
	}
	return ""
}

// setDate reads a date into t unless t is set; it warns of text that is not a date.
func (r *reader) setDate(t *courant.Time, text string) {
	text = strings.TrimSpace(text)
	if text == "" || !t.IsZero() {
		return
	}
	v, zoned, ok := when.Parse(text)
	switch {
	case !ok:
		r.here("bad-date", "the date cannot be read and was left out; use the format of RFC 822 or RFC 3339")
		return
	case !zoned:
		r.here("date-without-zone", "the date has no time zone and UTC was assumed; add the time zone")
	}
	t.Time = v
}

// moduleChild reads one child of an item from the usual extensions.
func (r *reader) moduleChild(d *draft) {
	switch r.scan.Name.Space {
	case "dc":
		r.dublinCore(d)
	case "media":
		r.mediaChild(d)
	case "itunes":
		r.itunesChild(d)
	case "content":
		r.contentChild(d)
	case "xhtml":
		html := r.scan.InnerXHTML(itemChild)
		d.content.offer(html, r.ownBase(d), 3)
	case "turbo", "yandex":
		r.turboChild(d)
	default:
		r.scan.Skip(isItem)
	}
}

// contentChild reads content:encoded, which has priority over every other full text
// but that of Turbo RSS.
func (r *reader) contentChild(d *draft) {
	if r.scan.Name.Local != "encoded" {
		r.scan.Skip(itemChild)
		return
	}
	html := r.scan.Inner(itemChild)
	d.content.offer(html, r.ownBase(d), 4)
}

// dublinCore reads dc: and dcterms:. Its date is used for publication and change
// unless there are better dates.
func (r *reader) dublinCore(d *draft) {
	s, it := &r.scan, &d.item
	switch local := s.Name.Local; local {
	case "title":
		d.title = firstOf(d.title, plain(s.Inner(itemChild)))
	case "creator", "author":
		if p, ok := person(s.Inner(itemChild)); ok {
			it.Authors = addPerson(it.Authors, p)
		}
	case "date", "created", "issued":
		r.setDate(&d.date, s.Inner(itemChild))
		if local == "date" && it.Updated.IsZero() {
			it.Updated = d.date
		}
	case "modified":
		r.setDate(&it.Updated, s.Inner(itemChild))
	case "subject":
		it.Categories = addWord(it.Categories, s.Inner(itemChild))
	case "description", "abstract":
		html := s.Inner(itemChild)
		d.summary.offer(html, r.ownBase(d), 1)
	case "language":
		it.Language = firstOf(it.Language, line(s.Inner(itemChild)))
	case "rights":
		it.Rights = firstOf(it.Rights, r.itemNote(d))
	default:
		s.Skip(itemChild)
	}
}

// itunesChild reads the podcast module, which is used only where elements of RSS are
// missing.
func (r *reader) itunesChild(d *draft) {
	s := &r.scan
	switch s.Name.Local {
	case "author":
		if p, ok := person(s.Inner(itemChild)); ok {
			d.author = addPerson(d.author, p)
		}
	case "title":
		d.title = firstOf(d.title, plain(s.Inner(itemChild)))
	case "summary", "subtitle":
		html := s.Inner(itemChild)
		d.summary.offer(html, r.ownBase(d), 1)
	case "image":
		url := firstOf(s.Attr("href"), s.Attr("url"))
		d.thumb = firstOf(d.thumb, d.address(firstOf(url, s.Inner(itemChild))))
	case "keywords":
		d.item.Categories = addWords(d.item.Categories, s.Inner(itemChild))
	default:
		s.Skip(itemChild)
	}
}

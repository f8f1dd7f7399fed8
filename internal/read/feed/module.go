package feed

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/when"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// ownBase returns the xml:base of a piece of markup, or "".
func (r *reader) ownBase(d *draft) string {
	if r.based {
		return d.scope.base
	}
	return ""
}

// setDate reads a date into t unless t is set; it warns of text that is not a date, such
// as the zero date of a program.
func (r *reader) setDate(t *courant.Time, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	v, zoned, ok := when.Parse(text)
	switch {
	case !ok:
		r.here("bad-date", "the date cannot be read, or only stands where there is none, and was left out; use the format of RFC 822 or RFC 3339")
		return
	case !t.IsZero():
		if !v.Equal(t.Time) {
			r.unused()
		}
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
		p := piece{base: r.ownBase(d), lang: r.ownLang, rank: 3}
		p.html = r.scan.InnerXHTML(itemChild)
		p.name = r.scan.Raw
		r.offer(&d.content, p)
	case "turbo", "yandex":
		r.turboChild(d)
	case "podcast":
		r.podcastChild(d)
	default:
		r.skip(isItem)
	}
}

// contentChild reads content:encoded, which has priority over every other full text
// but that of Turbo RSS.
func (r *reader) contentChild(d *draft) {
	if r.scan.Name.Local != "encoded" {
		r.skip(itemChild)
		return
	}
	r.offer(&d.content, r.piece(d, 4))
}

// dublinCore reads dc: and dcterms:. Its date is used for publication and change
// unless there are better dates.
func (r *reader) dublinCore(d *draft) {
	s, it := &r.scan, &d.item
	switch local := s.Name.Local; local {
	case "title":
		r.spare(&d.title, r.plain(s.Inner(itemChild)))
	case "creator", "author":
		if p, ok := r.person(s.Inner(itemChild)); ok {
			it.Authors = r.addPerson(it.Authors, p)
		}
	case "date", "created", "issued":
		r.setDate(&d.date, s.Inner(itemChild))
		d.dateName = s.Raw
		if local == "date" && it.Updated.IsZero() {
			it.Updated = d.date
		}
	case "modified":
		r.setDate(&it.Updated, s.Inner(itemChild))
	case "subject":
		it.Categories = r.addWord(it.Categories, s.Inner(itemChild))
	case "description", "abstract":
		r.offer(&d.summary, r.piece(d, 1))
	case "language":
		r.first(&it.Language, line(s.Inner(itemChild)))
	case "rights":
		r.first(&it.Rights, r.itemNote(d))
	case "identifier":
		id := r.whole(itemChild)
		r.spare(&d.id, id)
	default:
		r.skip(itemChild)
	}
}

// itunesChild reads the podcast module, which is used only where elements of RSS are
// missing.
func (r *reader) itunesChild(d *draft) {
	s := &r.scan
	switch s.Name.Local {
	case "author":
		if p, ok := r.person(s.Inner(itemChild)); ok {
			d.author, d.authorName = r.addPerson(d.author, p), s.Raw
		}
	case "title":
		r.spare(&d.title, r.plain(s.Inner(itemChild)))
	case "summary", "subtitle":
		r.offer(&d.summary, r.piece(d, 1))
	case "image":
		url := firstOf(s.Attr("href"), s.Attr("url"))
		text := s.Inner(itemChild)
		r.addPicture(d, r.url(d.scope.base, firstOf(url, text)))
	case "keywords":
		d.item.Categories = r.addWords(d.item.Categories, s.Inner(itemChild))
	case "category":
		d.item.Categories = r.addWord(d.item.Categories, s.Attr("text"))
		r.nestedCategories(d)
	case "duration":
		r.spare(&d.duration, strings.TrimSpace(s.Inner(itemChild)))
	default:
		r.skip(itemChild)
	}
}

// nestedCategories reads the text of an itunes:category and the categories inside it.
func (r *reader) nestedCategories(d *draft) {
	s := &r.scan
	s.Children(itemChild, func() {
		if s.Kind() == xmlscan.Text {
			d.item.Categories = r.addWord(d.item.Categories, s.Text)
			return
		}
		d.item.Categories = r.addWord(d.item.Categories, s.Attr("text"))
	})
}

// podcastChild names the elements of the podcast namespace, such as podcast:chapters and
// podcast:transcript. Only its images are read.
func (r *reader) podcastChild(d *draft) {
	s := &r.scan
	if s.Name.Local != "image" {
		r.skip(itemChild)
		return
	}
	url := r.url(d.scope.base, s.Attr("href"))
	s.Skip(itemChild)
	r.addPicture(d, url)
}

// addPicture adds a picture of the item that is not in its text.
func (r *reader) addPicture(d *draft, url string) {
	switch {
	case url == "":
	case len(d.pictures) >= maxImages:
		r.cut.pictures++
	default:
		d.pictures = append(d.pictures, url)
	}
}

package feed

import (
	"slices"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/markup"
)

// draft is an item that is being read. Markup is cleaned at the end, because the
// address that it is relative to may follow it. Until then strings may share the
// memory of the source.
type draft struct {
	item     courant.Item
	scope    scope
	based    bool // the document has an xml:base
	guidLink string

	linkIsPage  bool
	unpublished bool
	id          spare // from elsewhere than the guid
	title       spare // from another module
	remote      file  // content that is elsewhere
	summary     piece
	content     piece
	author      []courant.Person // from another module
	authorName  string           // the element that they come from, "" if they are those of the feed
	pictures    []string
	thumb       spare // a small picture, used if there are no others
	movies      []string
	date        courant.Time // from another module
	dateName    string
	duration    spare // of the first file
	rights      spare // of the feed that it was copied from
	noLang      bool  // the language is declared empty

	turbo             bool   // has a page of Turbo RSS
	heading, headless string // the heading of that page, and the page without it

	published, updated dated
}

// dated is the origin of a date: the rank of its element, of which the highest wins, and
// its name.
type dated struct {
	rank int
	name string
}

// piece is markup, the base of its addresses and its language.
type piece struct {
	html  string
	base  string
	lang  string
	name  string // of the element
	rank  int    // the higher one wins
	loose bool   // it may be plain text, in which line breaks count
}

// offer replaces the piece by one of a higher rank. It names the element of the one that
// is not used, unless both are equal.
func (r *reader) offer(p *piece, q piece) {
	if strings.TrimSpace(q.html) == "" {
		return
	}
	if q.rank > p.rank {
		*p, q = q, *p
	}
	if q.html != "" && strings.TrimSpace(q.html) != strings.TrimSpace(p.html) {
		r.ignore(q.name, "", notNeeded)
	}
}

// piece reads the contents of the current element as markup that may be plain text.
func (r *reader) piece(d *draft, rank int) piece {
	p := piece{base: r.ownBase(d), lang: r.ownLang, rank: rank, loose: true}
	p.html = r.scan.Inner(itemChild)
	p.name = r.scan.Raw
	return p
}

// begin returns an empty draft. Nothing keeps a pointer into it, so that it stays on the
// stack.
func (r *reader) begin(s scope) *draft {
	r.cut, r.itemCuts = &r.itemCuts, cuts{}
	return &draft{scope: s, based: r.based}
}

// add finishes an item and appends it.
func (r *reader) add(d *draft) {
	it := &d.item
	it.Cut = r.scan.Truncated()
	d.headed()
	it.Title = line(it.Title)
	d.title.value = line(d.title.value)
	it.Title = r.or(it.Title, d.title)
	given := r.or(r.identifier(it.ID), spare{r.identifier(d.id.value), d.id.name})
	it.Link = firstOf(it.Link, d.guidLink, resolve("", d.id.value))
	r.addRemote(d)
	it.ID = firstOf(given, it.Link)
	r.checkTurbo(d)
	it.Base = firstOf(d.content.base, d.scope.base)
	said := d.says()
	if !d.noLang {
		it.Language = firstOf(d.content.lang, it.Language, d.summary.lang, d.scope.lang)
	}
	it.Rights = r.or(it.Rights, d.rights)
	r.addAuthors(d)
	r.addDate(d)
	r.addDuration(d)
	r.markup(d)
	r.boundItem(it)
	r.itemCuts.report(r, "item")
	r.cut = &r.feedCuts
	if !said && isEmpty(it) {
		r.here("empty-item", "the item is empty and was left out; remove it, or give it a title, a text or a link")
		return
	}
	it.Hash = r.hasher.hash(it)
	if it.ID == "" {
		it.ID = it.Hash
	}
	complete(it)
	keep(it)
	r.out.Items = append(r.out.Items, *it)
	r.origins = append(r.origins, origin{given: given != "", offset: r.place()})
}

// says reports whether the feed gives the item a text or a language, even if nothing of
// it can be shown.
func (d *draft) says() bool {
	return d.summary.html != "" || d.content.html != "" || d.item.Language != "" || d.noLang
}

// isEmpty reports whether nothing was read of an item.
func isEmpty(it *courant.Item) bool {
	return it.ID == "" && it.Link == "" && it.Title == "" && it.Summary == "" && it.Content == "" && it.Rights == "" && it.Comments == "" &&
		it.Published.IsZero() && it.Updated.IsZero() && it.Turbo == nil && !it.Withdrawn && !it.Cut &&
		len(it.Authors)+len(it.Categories)+len(it.Enclosures)+len(it.Images)+len(it.Videos)+len(it.Related)+len(it.Breadcrumbs)+len(it.Goals) == 0
}

// addRemote uses content that is elsewhere as the link of the item or, if the item has
// another one, as a file.
func (r *reader) addRemote(d *draft) {
	url := d.address(d.remote.url)
	switch {
	case url == "" || url == d.item.Link:
	case d.item.Link == "":
		d.item.Link = url
	default:
		r.attach(d, d.remote)
	}
}

// addAuthors uses the authors of another module if there are no others.
func (r *reader) addAuthors(d *draft) {
	it := &d.item
	if len(it.Authors) == 0 {
		it.Authors = d.author
		return
	}
	for _, p := range d.author {
		if d.authorName != "" && !slices.ContainsFunc(it.Authors, func(q courant.Person) bool { return q.Name == p.Name || q.Email == p.Email }) {
			r.ignore(d.authorName, "", notNeeded)
		}
	}
}

// addDate uses the date of another module if there is no other.
func (r *reader) addDate(d *draft) {
	it := &d.item
	switch {
	case it.Published.IsZero():
		it.Published = d.date
	case !d.date.IsZero() && !d.date.Equal(it.Published.Time) && !d.date.Equal(it.Updated.Time):
		r.ignore(d.dateName, "", notNeeded)
	}
}

// addDuration gives the first audio or video file its duration.
func (r *reader) addDuration(d *draft) {
	if d.duration.value == "" {
		return
	}
	n := seconds(d.duration.value)
	for i := range d.item.Enclosures {
		e := &d.item.Enclosures[i]
		if n > 0 && (strings.HasPrefix(e.Type, "audio") || strings.HasPrefix(e.Type, "video") || len(d.item.Enclosures) == 1) {
			e.Duration = n
			return
		}
	}
	r.ignore(d.duration.name, "", noUse)
}

// complete fills an empty content from the summary and an empty date of publication
// from the date of change. It runs after hashing, so that a new date of change does
// not change the hash.
func complete(it *courant.Item) {
	if it.Content == "" {
		it.Content = it.Summary
	}
	if it.Published.IsZero() && !it.Withdrawn {
		it.Published = it.Updated
	}
}

// markup cleans summary and content, and lists pictures and videos.
func (r *reader) markup(d *draft) {
	it := &d.item
	fallback := it.Link
	if d.based || fallback == "" {
		fallback = d.scope.base
	}
	var found markup.Found
	it.Summary, found = r.cleaned(d.summary, fallback)
	if d.content.html != "" {
		it.Content, found = r.cleaned(d.content, fallback)
	}
	for i := range found.Images {
		it.Images = addURL(it.Images, found.Images[i].URL, &r.cut.pictures)
	}
	for i := range found.Videos {
		if !found.Videos[i].Audio {
			it.Videos = addURL(it.Videos, found.Videos[i].URL, &r.cut.videos)
		}
	}
	for _, e := range it.Enclosures {
		switch {
		case strings.HasPrefix(e.Type, "image/"):
			it.Images = addURL(it.Images, e.URL, &r.cut.pictures)
		case strings.HasPrefix(e.Type, "video/"):
			it.Videos = addURL(it.Videos, e.URL, &r.cut.videos)
		}
	}
	for _, u := range d.pictures {
		it.Images = addURL(it.Images, u, &r.cut.pictures)
	}
	for _, u := range d.movies {
		it.Videos = addURL(it.Videos, u, &r.cut.videos)
	}
	switch {
	case d.thumb.value == "" || slices.Contains(it.Images, d.thumb.value):
	case len(it.Images) == 0:
		it.Images = append(it.Images, d.thumb.value)
	default:
		r.ignore(d.thumb.name, "", notNeeded)
	}
}

// cleaned returns a piece of markup as clean HTML and what it refers to.
func (r *reader) cleaned(p piece, base string) (string, markup.Found) {
	if p.html == "" {
		return "", markup.Found{}
	}
	if len(p.html) > maxContent {
		r.here("too-long", "the text of the item is longer than 512 KiB and its end was left out; shorten it")
		p.html = strings.ToValidUTF8(p.html[:maxContent], "")
	}
	if r.raw {
		return p.html, markup.Found{}
	}
	if p.loose {
		p.html = withBreaks(p.html)
	}
	r.clean.Base = firstOf(p.base, base)
	out, found := r.clean.Append(r.buffer[:0], p.html)
	r.buffer = out
	for _, name := range found.Dropped {
		r.ignore(name, "", inContent)
	}
	if found.Inline > 0 {
		r.here("data-picture", "a picture whose data is in the text (a data: address) was left out; publish the picture and write its address")
	}
	return strings.TrimSpace(string(out)), found
}

// addURL appends an address unless it is in the list; it counts those beyond the limit.
func addURL(list []string, url string, cut *int) []string {
	if slices.Contains(list, url) {
		return list
	}
	if len(list) >= maxImages {
		*cut++
		return list
	}
	return append(list, url)
}

// maxImages is the limit of pictures, and of videos, of one item.
const maxImages = 256

// line makes a title from text that is decoded but may contain tags.
func line(s string) string {
	if len(s) > maxLine {
		s = strings.ToValidUTF8(s[:maxLine], "")
	}
	return markup.Line(s)
}

// plain makes a title from HTML. It names the elements that are left out with their
// contents.
func (r *reader) plain(s string) string {
	if len(s) > 4*maxLine {
		s = strings.ToValidUTF8(s[:4*maxLine], "")
	}
	text, dropped := markup.Title(s)
	for _, name := range dropped {
		r.ignore(name, "", inContent)
	}
	return text
}

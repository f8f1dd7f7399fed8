package feed

import (
	"path"
	"strconv"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
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
	id          string // from elsewhere than the guid
	title       string // from another module
	summary     piece
	content     piece
	author      []courant.Person // from another module
	pictures    []string
	thumb       string // a small picture, used if there are no others
	movies      []string
	date        courant.Time // from another module
	rights      string       // of the feed that it was copied from
	noLang      bool         // the language is declared empty

	turbo             bool   // has a page of Turbo RSS
	heading, headless string // the heading of that page, and the page without it

	publishedRank, updatedRank int
}

// piece is markup and the base of its addresses.
type piece struct {
	html string
	base string
	rank int // the higher one wins
}

// offer replaces the piece by markup of a higher rank.
func (p *piece) offer(html, base string, rank int) {
	if rank > p.rank && strings.TrimSpace(html) != "" {
		*p = piece{html: html, base: base, rank: rank}
	}
}

// add finishes an item and appends it.
func (r *reader) add(d *draft) {
	it := &d.item
	it.Cut = r.scan.Truncated()
	d.headed()
	it.Title = line(firstOf(it.Title, d.title))
	it.Link = firstOf(it.Link, d.guidLink, resolve("", d.id))
	it.ID = firstOf(r.identifier(it.ID), r.identifier(d.id), it.Link)
	r.checkTurbo(d)
	it.Base = d.scope.base
	if !d.noLang {
		it.Language = firstOf(it.Language, d.scope.lang)
	}
	it.Rights = firstOf(it.Rights, d.rights)
	if len(it.Authors) == 0 {
		it.Authors = d.author
	}
	if it.Published.IsZero() {
		it.Published = d.date
	}
	r.markup(d)
	r.boundItem(it)
	it.Hash = r.hasher.hash(it)
	if it.ID == "" {
		it.ID = it.Hash
	}
	complete(it)
	keep(it)
	r.out.Items = append(r.out.Items, *it)
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
		it.Images = r.addURL(it.Images, found.Images[i].URL)
	}
	for i := range found.Videos {
		if !found.Videos[i].Audio {
			it.Videos = r.addURL(it.Videos, found.Videos[i].URL)
		}
	}
	for _, e := range it.Enclosures {
		switch {
		case strings.HasPrefix(e.Type, "image/"):
			it.Images = r.addURL(it.Images, e.URL)
		case strings.HasPrefix(e.Type, "video/"):
			it.Videos = r.addURL(it.Videos, e.URL)
		}
	}
	for _, u := range d.pictures {
		it.Images = r.addURL(it.Images, u)
	}
	for _, u := range d.movies {
		it.Videos = r.addURL(it.Videos, u)
	}
	if len(it.Images) == 0 && d.thumb != "" {
		it.Images = append(it.Images, d.thumb)
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
	r.clean.Base = firstOf(p.base, base)
	out, found := r.clean.Append(r.buffer[:0], p.html)
	r.buffer = out
	return strings.TrimSpace(string(out)), found
}

// addURL appends an address unless it is in the list.
func (r *reader) addURL(list []string, url string) []string {
	if len(list) >= maxImages {
		return list
	}
	for _, u := range list {
		if u == url {
			return list
		}
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

// plain makes a title from HTML.
func plain(s string) string {
	if len(s) > 4*maxLine {
		s = strings.ToValidUTF8(s[:4*maxLine], "")
	}
	return markup.Plain(s)
}

// address resolves a link of the item; see resolve.
func (d *draft) address(ref string) string { return resolve(d.scope.base, ref) }

// resolve returns ref as an absolute address, or "" if it is not an address: prose, or
// a placeholder such as "N/A".
func resolve(base, ref string) string {
	ref = strings.TrimSpace(ref)
	switch strings.ToLower(ref) {
	case "", "n/a", "none", "null", "undefined", "#", "-":
		return ""
	}
	if strings.ContainsAny(ref, "<>") || isProse(ref) {
		return ""
	}
	url := link.Resolve(base, ref)
	if len(url) == len(ref)+1 && url[:len(ref)] == ref {
		return ref // only a host: keep the spelling without the final slash
	}
	return url
}

// isProse reports whether text has several words before its first slash, unlike a path.
func isProse(ref string) bool {
	first, _, slash := strings.Cut(ref, "/")
	blanks := strings.Count(first, " ")
	return blanks > 1 || blanks == 1 && (!slash || strings.Contains(ref, "://"))
}

// pageLink resolves the link of a page. If the link contains more than an address,
// such as markup or prose, it extracts the address.
func (r *reader) pageLink(base, text string) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), "&amp;", "&") // escaped twice
	if url := resolve(base, text); url != "" || text == "" {
		return url
	}
	if i := strings.Index(text, "http"); i > 0 {
		end := strings.IndexAny(text[i:], " \t\r\n\"'<>")
		if end < 0 {
			end = len(text) - i
		}
		if url := resolve("", text[i:i+end]); url != "" {
			r.here("bad-link", "the link contains more than an address and only the address was used; write the address and nothing else")
			return url
		}
	}
	r.here("bad-link", "the link is not a web address and was left out; write the whole address, beginning with http, and nothing else")
	return ""
}

// enclosure adds a file; a missing type is guessed from its name.
func (d *draft) enclosure(url, kind, length string) {
	url = d.address(url)
	if url == "" || len(d.item.Enclosures) >= maxList {
		return
	}
	for _, e := range d.item.Enclosures {
		if e.URL == url {
			return
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(length), 10, 64)
	if err != nil || n < 0 {
		n = 0
	}
	kind = strings.ToLower(strings.TrimSpace(kind))
	d.item.Enclosures = append(d.item.Enclosures, courant.Enclosure{URL: url, Type: firstOf(kind, typeOf(url)), Length: n})
}

// typeOf guesses a media type from the end of an address.
func typeOf(url string) string {
	url, _, _ = strings.Cut(url, "#")
	url, _, _ = strings.Cut(url, "?")
	switch strings.ToLower(path.Ext(url)) {
	case ".jpg", ".jpeg", ".jfif":
		return "image/jpeg"
	case ".png":
		return "image/png"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	case ".avif":
		return "image/avif"
	case ".svg":
		return "image/svg+xml"
	case ".mp4", ".m4v":
		return "video/mp4"
	case ".webm":
		return "video/webm"
	case ".mov":
		return "video/quicktime"
	case ".mp3":
		return "audio/mpeg"
	case ".m4a":
		return "audio/mp4"
	case ".ogg", ".oga":
		return "audio/ogg"
	case ".pdf":
		return "application/pdf"
	}
	return ""
}

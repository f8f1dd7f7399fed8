package sitemap

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/charref"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/kit/when"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// space maps the namespaces of the extensions, in any version, to their usual
// prefixes.
func space(uri, prefix string) string {
	for _, known := range [...]string{"news", "image", "video", "mobile", "xhtml"} {
		if strings.Contains(uri, "sitemap-"+known) || prefix == known {
			return known
		}
	}
	if strings.Contains(uri, "sitemap") {
		return ""
	}
	return prefix
}

func isEntry(n xmlscan.Name) bool {
	return n.Space == "" && (n.Local == "url" || n.Local == "sitemap")
}

// entry reads one url or sitemap; the next one ends it, whatever is still open. It
// returns false to stop reading.
func (r *reader) entry() bool {
	s := &r.scan
	offset, raw := s.Offset, s.Raw
	var u courant.SitemapURL
	s.Children(isEntry, func() {
		if s.Kind() == xmlscan.Start {
			r.child(&u)
		}
	})
	if u.Loc == "" {
		if !s.Truncated() {
			r.warn("entry-without-loc", offset, raw, "the entry has no loc and was left out; add loc")
		}
		return true
	}
	return r.add(u)
}

// child reads an element of an entry. It does not skip the containers of extensions,
// so their children come here too.
func (r *reader) child(u *courant.SitemapURL) {
	s := &r.scan
	switch s.Name.Space + " " + s.Name.Local {
	case " loc":
		r.set(&u.Loc, r.text)
	case " lastmod":
		r.date(&u.Modified)
	case " changefreq":
		r.set(&u.Changes, func() string { return strings.ToLower(r.text()) })
	case " priority":
		r.set(&u.Priority, r.text)
	case "news title":
		r.set(&u.Title, r.text)
	case "news name":
		r.set(&u.Name, r.text)
	case "news language":
		r.set(&u.Language, r.text)
	case "news publication_date":
		r.date(&u.Published)
		r.out.Format = "newssitemap"
	case "image loc":
		u.Images = r.media(u.Images)
	case "video content_loc":
		u.Videos = r.media(u.Videos)
	case "news news", "news publication", "image image", "video video":
		// their children are read
	default:
		r.ignore()
	}
}

// set sets a field to the first of its values; another one is noted.
func (r *reader) set(to *string, read func() string) {
	offset, raw := r.scan.Offset, r.scan.Raw
	text := read()
	switch {
	case r.scan.Truncated(): // half of a value is another value
	case *to == "":
		*to = text
	case text != "" && text != *to:
		r.note(raw, offset, "the entry has two elements %s, and the second one is ignored")
	}
}

func (r *reader) text() string {
	return strings.Clone(markup.Line(r.scan.Inner(isEntry)))
}

func (r *reader) date(to *courant.Time) {
	text := r.text()
	t, _, ok := when.Parse(text)
	if !ok && (text == "" || r.scan.Truncated()) {
		return
	}
	if !ok {
		r.here("bad-date", "the date cannot be read and was left out; write it like 2026-01-31 or 2026-01-31T15:04:05+03:00")
		return
	}
	to.Time = t
}

func (r *reader) media(list []string) []string {
	text := r.text()
	u := link.Resolve(r.opt.URL, plainAddress(text))
	switch {
	case text == "" || r.scan.Truncated():
	case u == "":
		r.here("bad-link", "this is not an address, or it is longer than 2,048 bytes; write it in full, beginning with http:// or https://")
	case len(list) >= maxMedia:
		r.here("too-many", "the entry has more than 1,000 pictures or videos and the others were left out; send fewer")
	default:
		list = append(list, u)
	}
	return list
}

// plainAddress decodes an address that was escaped twice: no parameter has a name like
// amp;.
func plainAddress(ref string) string {
	if strings.IndexByte(ref, ';') < 0 {
		return ref
	}
	return charref.String(ref, true)
}

// add adds an entry; it returns false if the sitemap is full.
func (r *reader) add(u courant.SitemapURL) bool {
	if len(r.out.URLs) >= MaxURLs {
		r.here("too-many-urls", "the sitemap has more than 50,000 addresses and the others were left out; split the sitemap")
		return false
	}
	address := link.Resolve(r.opt.URL, plainAddress(u.Loc))
	if address == "" || len(u.Loc) > maxURL {
		r.here("bad-link", "this is not an address, or it is longer than 2,048 bytes; write it in full, beginning with http:// or https://")
		return true
	}
	if host := link.Host(r.opt.URL); host != "" && r.out.Format != "sitemapindex" && link.Domain(link.Host(address)) != link.Domain(host) {
		r.here("foreign-url", "the address belongs to another site and was left out; list only the sitemap's own site")
		return true
	}
	u.Loc = address
	r.out.URLs = append(r.out.URLs, u)
	return true
}

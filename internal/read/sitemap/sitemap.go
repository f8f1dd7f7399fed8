// Package sitemap reads sitemaps (urlset, index, plain text) with the extensions
// for news, pictures and videos, as sitemaps.org and Google define them.
package sitemap

import (
	"io"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/kit/when"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// The limits of one sitemap.
const (
	MaxURLs    = 50000 // as sitemaps.org says
	maxMedia   = 1000  // pictures and videos of one entry
	maxURL     = 2048
	maxPerCode = 10
)

// Options say where a sitemap comes from.
type Options struct {
	URL         string // of the sitemap; what addresses are relative to
	ContentType string // Content-Type of the response
}

// Read reads a sitemap; its entries are in URLs. The format is sitemap,
// newssitemap (any entry is news) or sitemapindex. The only error is of kind
// courant.Invalid for an empty document; failures of src become warnings.
func Read(src io.Reader, opt Options) (*courant.Reading, error) {
	r := &reader{opt: opt, pieces: xmlscan.NewPieces(src, opt.ContentType), counts: map[string]int{},
		out: &courant.Reading{Format: "sitemap", WellFormed: true, Items: []courant.Item{}, Offers: []courant.Offer{},
			Links: []courant.FeedLink{}, Warnings: []courant.Warning{}, URLs: []courant.SitemapURL{}}}
	f := &r.out.Feed
	f.Authors, f.Categories, f.Hubs = []courant.Person{}, []string{}, []string{}
	first := r.pieces.Next()
	if Text(first) {
		r.lines(first)
	} else {
		r.entries(first)
	}
	r.out.Encoding = r.pieces.Encoding
	if r.pieces.Healed {
		r.out.WellFormed = false
		r.warn("encoding", 0, "", "the bytes do not match the declared encoding, or there are characters that no document may contain, such as NUL; the text was read as "+r.out.Encoding+": declare the real encoding and remove such characters")
	}
	if err := r.pieces.Err(); err != nil {
		r.out.WellFormed = false
		r.warn("truncated", 0, "", "the document could not be read to the end: "+err.Error())
	}
	if strings.TrimSpace(first) == "" {
		return r.out, courant.Errorf(courant.Invalid, "empty: the document is empty")
	}
	return r.out, nil
}

// Text reports whether the beginning of a document looks like a sitemap in plain
// text: an address on each line.
func Text(beginning string) bool {
	n := 0
	for l := range strings.SplitSeq(beginning, "\n") {
		if l = strings.TrimSpace(l); l == "" {
			continue
		}
		if !strings.HasPrefix(l, "http://") && !strings.HasPrefix(l, "https://") || strings.ContainsAny(l, " <>\"") {
			return n > 0 && len(l) < maxURL && strings.HasPrefix(l, "http") // the last line may be cut
		}
		if n++; n >= 10 {
			break
		}
	}
	return n > 0
}

type reader struct {
	opt    Options
	pieces *xmlscan.Pieces
	scan   xmlscan.Scanner
	out    *courant.Reading
	counts map[string]int
}

func (r *reader) warn(code string, offset int, element, text string) {
	if r.counts[code]++; r.counts[code] > maxPerCode {
		return
	}
	line, column := r.pieces.Position(offset)
	r.out.Warnings = append(r.out.Warnings, courant.Warning{Code: code, Line: line, Column: column, Element: strings.Clone(element), Text: text})
}

func (r *reader) here(code, text string) { r.warn(code, r.scan.Offset, r.scan.Raw, text) }

// lines reads plain text, one address per line.
func (r *reader) lines(text string) {
	for ; text != ""; text = r.pieces.Next() {
		offset := 0
		for l := range strings.SplitSeq(text, "\n") {
			r.scan.Offset = offset
			offset += len(l) + 1
			if l = strings.TrimSpace(l); l != "" && !r.add(courant.SitemapURL{Loc: l}) {
				return
			}
		}
	}
}

// entries reads XML; url and sitemap elements are entries even if the root element
// or its namespace is wrong.
func (r *reader) entries(first string) {
	s := &r.scan
	*s = xmlscan.Scanner{Source: first, Refill: r.pieces.Next, Space: space, Report: func(f xmlscan.Fault) {
		r.out.WellFormed = false
		r.warn(f.Code, f.Offset, f.Element, f.Text)
	}}
	for s.Next() != xmlscan.EOF {
		if s.Kind() != xmlscan.Start || s.Name.Space != "" {
			continue
		}
		switch s.Name.Local {
		case "sitemapindex":
			r.out.Format = "sitemapindex"
		case "url", "sitemap":
			if !r.entry() {
				return
			}
		}
	}
}

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
		if text := r.text(); !s.Truncated() {
			u.Loc = text
		}
	case " lastmod":
		r.date(&u.Modified)
	case " changefreq":
		u.Changes = strings.ToLower(r.text())
	case " priority":
		u.Priority = r.text()
	case "news title":
		u.Title = r.text()
	case "news name":
		u.Name = r.text()
	case "news language":
		u.Language = r.text()
	case "news publication_date":
		r.date(&u.Published)
		r.out.Format = "newssitemap"
	case "image loc":
		u.Images = r.media(u.Images)
	case "video content_loc":
		u.Videos = r.media(u.Videos)
	case "video player_loc", "video thumbnail_loc", "xhtml link":
		s.Skip(isEntry)
	}
}

func (r *reader) text() string {
	return strings.Clone(markup.Line(r.scan.Inner(isEntry)))
}

func (r *reader) date(to *courant.Time) {
	t, _, ok := when.Parse(r.text())
	if !ok {
		r.here("bad-date", "the date cannot be read and was left out; write it like 2026-01-31 or 2026-01-31T15:04:05+03:00")
		return
	}
	to.Time = t
}

func (r *reader) media(list []string) []string {
	if u := link.Resolve(r.opt.URL, r.text()); u != "" && len(list) < maxMedia {
		list = append(list, u)
	}
	return list
}

// add adds an entry; it returns false if the sitemap is full.
func (r *reader) add(u courant.SitemapURL) bool {
	if len(r.out.URLs) >= MaxURLs {
		r.here("too-many-urls", "the sitemap has more than 50,000 addresses and the others were left out; split the sitemap")
		return false
	}
	address := link.Resolve(r.opt.URL, u.Loc)
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

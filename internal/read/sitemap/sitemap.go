// Package sitemap reads sitemaps (urlset, index, plain text) with the extensions
// for news, pictures and videos, as sitemaps.org and Google define them.
package sitemap

import (
	"io"
	"strings"

	"github.com/courant-platform/courant"
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
	err := r.finish(first)
	return r.out, err
}

// finish completes the reading; first is the beginning of the document.
func (r *reader) finish(first string) error {
	if r.out.Encoding = r.pieces.Encoding; r.out.Encoding == "" {
		r.out.Encoding = "utf-8"
	}
	if r.pieces.Healed {
		r.out.WellFormed = false
		r.warn("encoding", 0, "", "the bytes do not match the declared encoding, or there are characters that no document may contain, such as NUL; the text was read as "+r.out.Encoding+": declare the real encoding and remove such characters")
	}
	if err := r.pieces.Err(); err != nil {
		r.out.WellFormed = false
		r.warn("truncated", 0, "", "the document could not be read to the end: "+err.Error())
	}
	r.out.Warnings = append(r.out.Warnings, r.notes...)
	if r.untold {
		r.out.Warnings = append(r.out.Warnings, moreNames)
	}
	if strings.TrimSpace(first) == "" {
		r.out.WellFormed = false
		return courant.Errorf(courant.Invalid, "empty: the document is empty")
	}
	return nil
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
	told   map[string]bool // names that were noted
	untold bool            // there are more
	notes  []courant.Warning
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
	found, junk := s.Root(func(n xmlscan.Name) bool { return n.Local == "urlset" || n.Local == "sitemapindex" || isEntry(n) })
	if !found {
		return
	}
	if junk {
		r.out.WellFormed = false
		r.warn("junk-before", 0, "", "there is other data before the sitemap, which was skipped; remove it, also blank lines before the XML declaration")
	}
	around := "" // the element around the entries
	for ok := true; ok; ok = s.Next() != xmlscan.EOF {
		switch {
		case s.Kind() == xmlscan.Text && strings.TrimSpace(s.Text) != "":
			r.note(around, s.Offset, ignoredElement)
		case s.Kind() != xmlscan.Start:
		case isEntry(s.Name):
			if !r.entry() {
				return
			}
		default:
			if around = s.Raw; hasValue(s.Attrs) {
				r.note(around, s.Offset, ignoredElement)
			}
			if s.Name.Local == "sitemapindex" {
				r.out.Format = "sitemapindex"
			}
		}
	}
}

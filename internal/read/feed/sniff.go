package feed

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// kind is what a document is; for what is not read here it ends the sentence
// "this is …".
type kind string

const (
	kindEmpty   kind = "empty"
	kindRSS     kind = "RSS"
	kindAtom    kind = "Atom"
	kindHTML    kind = "an HTML page"
	kindJSON    kind = "JSON, which is not read here"
	kindYML     kind = "a catalogue (yml_catalog)"
	kindSitemap kind = "a sitemap"
	kindOPML    kind = "a list of feeds (opml)"
	kindText    kind = "text without markup"
	kindOther   kind = "another kind of XML"
)

// sniff tells what a document is, and where it begins if there is junk before
// it.
func sniff(src string) (kind, int) {
	start := strings.TrimLeft(src, " \t\r\n")
	if start == "" {
		return kindEmpty, 0
	}
	s := xmlscan.Scanner{Source: src}
	junk := false
	for n := 0; n < 1000; n++ {
		switch s.Next() {
		case xmlscan.EOF:
			return textKind(start), 0
		case xmlscan.Text:
			junk = junk || strings.TrimSpace(s.Text) != ""
		case xmlscan.Start:
			return rootKind(&s, src, junk)
		}
	}
	return kindOther, 0
}

// textKind judges a document without any element.
func textKind(start string) kind {
	if start[0] == '{' || start[0] == '[' || start == "null" {
		return kindJSON
	}
	for _, root := range [...]string{"rss", "rdf", "feed"} {
		if strings.HasPrefix(start, "<"+root) {
			return elementKind(root) // cut off inside of its first tag
		}
	}
	return kindText
}

// rootKind judges by the first element; where that is none of a feed's, a feed
// may still begin further on.
func rootKind(s *xmlscan.Scanner, src string, junk bool) (kind, int) {
	k := elementKind(s.Name.Local)
	if junk && (strings.TrimSpace(src)[0] == '{' || strings.TrimSpace(src)[0] == '[') {
		return kindJSON, 0
	}
	if k == kindRSS || k == kindAtom {
		if junk {
			return k, s.Offset
		}
		return k, 0
	}
	if k != kindOther && k != kindHTML || s.Name.Local == "html" {
		return k, 0
	}
	for _, root := range [...]string{"<rss", "<feed", "<rdf:RDF"} {
		if i := strings.Index(src, root); i >= 0 {
			return elementKind(strings.TrimPrefix(strings.ToLower(root[1:]), "rdf:")), i
		}
	}
	return k, 0
}

// elementKind judges by the name of the root element.
func elementKind(local string) kind {
	switch local {
	case "rss", "rdf", "channel", "turbo", "item":
		return kindRSS
	case "feed", "entry":
		return kindAtom
	case "html", "head", "body", "div", "p", "br", "table", "script", "meta", "title", "b", "a", "h1", "center", "link", "style":
		return kindHTML
	case "yml_catalog":
		return kindYML
	case "urlset", "sitemapindex":
		return kindSitemap
	case "opml":
		return kindOPML
	}
	return kindOther
}

// headWindow is how much of a page is searched for the feeds that it offers.
const headWindow = 256 << 10

// offered returns the feeds that an HTML page names in its head.
func offered(page, url string) []courant.FeedLink {
	s := xmlscan.Scanner{Source: page[:min(len(page), headWindow)]}
	out := []courant.FeedLink{}
	for k := s.Next(); k != xmlscan.EOF && len(out) < maxList; k = s.Next() {
		if k != xmlscan.Start {
			continue
		}
		switch s.Name.Local {
		case "base":
			url = firstOf(link.Resolve(url, s.Attr("href")), url)
		case "link":
			kind := strings.ToLower(strings.TrimSpace(s.Attr("type")))
			if !isFeedType(kind) || !strings.Contains(strings.ToLower(s.Attr("rel")), "alternate") {
				continue
			}
			if href := link.Resolve(url, s.Attr("href")); href != "" {
				out = append(out, courant.FeedLink{URL: strings.Clone(href), Title: markup.Plain(s.Attr("title")), Type: kind})
			}
		}
	}
	return out
}

// isFeedType says whether a media type may be that of a feed.
func isFeedType(t string) bool {
	t, _, _ = strings.Cut(t, ";")
	switch strings.TrimSpace(t) {
	case "application/rss+xml", "application/atom+xml", "application/feed+json", "application/json", "application/rdf+xml",
		"text/xml", "application/xml":
		return true
	}
	return false
}

// firstOf returns the first string that is not empty.
func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

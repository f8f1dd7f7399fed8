package feed

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// kind is the kind of a document. Of documents that are not feeds it completes the
// error text "this is …".
type kind string

const (
	kindEmpty   kind = "empty"
	kindRSS     kind = "RSS"
	kindAtom    kind = "Atom"
	kindHTML    kind = "an HTML page"
	kindJSON    kind = "JSON"
	kindYML     kind = "a catalogue (yml_catalog)"
	kindSitemap kind = "a sitemap"
	kindOPML    kind = "a list of feeds (opml)"
	kindService kind = "an Atom service document"
	kindText    kind = "text without markup"
	kindBinary  kind = "not text"
	kindOther   kind = "another kind of XML"
)

// sniff returns the kind of a document, and the offset of the feed after any junk.
func sniff(src string) (kind, int) {
	start := strings.TrimLeft(src, " \t\r\n")
	if start == "" {
		return kindEmpty, 0
	}
	if start[0] == '{' || start[0] == '[' {
		return kindJSON, 0
	}
	s := xmlscan.Scanner{Source: src}
	junk := false
	for n := 0; n < 1000; n++ {
		switch s.Next() {
		case xmlscan.EOF:
			return jsonBehind(src, textKind(start))
		case xmlscan.Text:
			junk = junk || strings.TrimSpace(s.Text) != ""
		case xmlscan.Start:
			return rootKind(&s, src, junk)
		}
	}
	return kindOther, 0
}

// textKind returns the kind of a document without any element.
func textKind(start string) kind {
	if start == "null" {
		return kindJSON
	}
	for _, root := range [...]string{"rss", "rdf", "feed"} {
		if strings.HasPrefix(start, "<"+root) {
			return elementKind(root) // truncated inside its first tag
		}
	}
	return kindText
}

// rootKind returns the kind by the first element. If that does not begin a feed, it
// looks for one further on.
func rootKind(s *xmlscan.Scanner, src string, junk bool) (kind, int) {
	k := elementKind(s.Name.Local)
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
	return jsonBehind(src, k)
}

// jsonBehind looks for a JSON Feed after junk: its version stands near its beginning.
func jsonBehind(src string, k kind) (kind, int) {
	i := strings.Index(src, "jsonfeed.org/version/")
	if i < 0 || k == kindJSON {
		return k, 0
	}
	if at := strings.LastIndexByte(src[:i], '{'); at >= 0 && i-at < 64 {
		return kindJSON, at
	}
	return k, 0
}

// elementKind returns the kind by the name of the root element.
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
	case "service":
		return kindService
	}
	return kindOther
}

// binaryWindow is how many bytes are searched for control characters.
const binaryWindow = 1024

// isBinary reports whether bytes that are not UTF-16 or UTF-32 have too many control
// characters to be text.
func isBinary(body []byte, encoding string) bool {
	if strings.HasPrefix(encoding, "utf-16") || strings.HasPrefix(encoding, "utf-32") {
		return false
	}
	controls := 0
	for _, c := range body[:min(len(body), binaryWindow)] {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1a && c != 0x1b {
			controls++
		}
	}
	return controls > 2 && controls*50 > min(len(body), binaryWindow)
}

// collections returns the feeds listed in an Atom service document.
func collections(src, url string) []courant.FeedLink {
	s := xmlscan.Scanner{Source: src}
	out := []courant.FeedLink{}
	for k := s.Next(); k != xmlscan.EOF && len(out) < maxList; k = s.Next() {
		switch {
		case k != xmlscan.Start:
		case s.Name.Local == "collection":
			if href := link.Resolve(url, s.Attr("href")); href != "" {
				out = append(out, courant.FeedLink{URL: strings.Clone(href), Type: "application/atom+xml"})
			}
		case s.Name.Local == "title" && len(out) > 0 && out[len(out)-1].Title == "":
			out[len(out)-1].Title = markup.Plain(s.Inner(nil))
		}
	}
	return out
}

// headWindow is how many bytes of a page are searched for links to feeds.
const headWindow = 256 << 10

// offered returns the feeds that an HTML page links to in its head.
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

// isFeedType reports whether feeds are sent with a media type.
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

package feed

import "strings"

// space maps a namespace to its usual prefix. The namespaces of RSS itself and unknown
// default namespaces give "". A prefix that is undeclared, or declared with an unknown
// URI, is kept: feeds get URIs wrong more often than prefixes.
func (r *reader) space(uri, prefix string) string {
	key, ok := spaceOf(strings.ToLower(strings.TrimSuffix(uri, "/")))
	switch {
	case !ok && prefix == "dcterms":
		return "dc"
	case !ok:
		return prefix
	case key == "atom" && prefix == "" && r.rss:
		return "" // RSS that declares Atom as its default namespace
	}
	return key
}

// spaceOf returns the usual prefix of a URI in lower case without a final slash.
func spaceOf(uri string) (string, bool) {
	switch strings.TrimPrefix(strings.TrimPrefix(uri, "https://"), "http://") {
	case "purl.org/rss/1.0", "my.netscape.com/rdf/simple/0.9", "channel.netscape.com/rdf/simple/0.9",
		"backend.userland.com/rss", "backend.userland.com/rss2", "blogs.law.harvard.edu/tech/rss",
		"my.netscape.com/publish/formats/rss-0.91.dtd", "purl.org/net/rss1.1#":
		return "", true
	case "www.w3.org/2005/atom", "purl.org/atom/ns#", "purl.org/atom", "example.com/newformat#":
		return "atom", true
	case "www.w3.org/1999/02/22-rdf-syntax-ns#":
		return "rdf", true
	case "purl.org/dc/elements/1.1", "purl.org/dc/elements/1.0", "purl.org/dc/terms":
		return "dc", true
	case "purl.org/rss/1.0/modules/content":
		return "content", true
	case "purl.org/rss/1.0/modules/syndication":
		return "sy", true
	case "search.yahoo.com/mrss", "tools.search.yahoo.com/mrss", "video.search.yahoo.com/mrss":
		return "media", true
	case "www.itunes.com/dtds/podcast-1.0.dtd", "example.com/dtds/podcast-1.0.dtd":
		return "itunes", true
	case "www.w3.org/1999/xhtml":
		return "xhtml", true
	case "purl.org/atompub/tombstones/1.0":
		return "at", true
	case "www.w3.org/2007/app", "purl.org/atom/app#":
		return "app", true
	case "turbo.yandex.ru":
		return "turbo", true
	case "news.yandex.ru", "news.yandex.ru/schemas/turbo":
		return "yandex", true
	}
	return "", false
}

package link

import "strings"

// Origin returns scheme, host and port of a canonical URL, "" if it has none:
// the scope of one robots.txt (RFC 9309 section 2.3).
func Origin(url string) string {
	i := strings.Index(url, "://")
	if i < 0 {
		return ""
	}
	if end := strings.IndexAny(url[i+3:], "/?#"); end >= 0 {
		return url[:i+3+end]
	}
	return url
}

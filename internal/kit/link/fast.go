package link

import "strings"

// isCanonical is a fast check that a URL is canonical. It may return false for a
// canonical URL, but never true for another.
func isCanonical(s string) bool {
	if !IsPlain(s) || strings.ContainsAny(s, "#;") {
		return false
	}
	_, query, ok := strings.Cut(s, "?")
	return !ok || query != "" && !hasTracking(query)
}

// IsPlain is a fast check that parse would not change an absolute URL: a plain host in
// lower case without a port, a path, no escapes, and no dots that could be segments.
func IsPlain(s string) bool {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok {
		if rest, ok = strings.CutPrefix(s, "http://"); !ok {
			return false
		}
	}
	slash := strings.IndexByte(rest, '/')
	return slash > 0 && len(s) <= MaxLength && plainHost(rest[:slash]) && plainTail(rest[slash:])
}

// plainHost accepts only names whose last label begins with a letter, which excludes IP
// addresses, and none in punycode.
func plainHost(h string) bool {
	label := 0
	for i := range len(h) {
		c := h[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-':
			label++
		case c == '.' && label > 0:
			label = 0
		default:
			return false
		}
		if label > 63 {
			return false
		}
	}
	last := h[strings.LastIndexByte(h, '.')+1:]
	return label > 0 && len(h) <= 253 && last[0] >= 'a' && !strings.Contains(h, "xn--")
}

// plainTail accepts a path, query and fragment of bytes that need no escape.
func plainTail(s string) bool {
	dot := byte('/')
	for i := range len(s) {
		c := s[i]
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9':
		case c == '.':
			if dot == '/' {
				return false
			}
		case strings.IndexByte("/-_~=&?,;:+!*()@$#", c) < 0:
			return false
		}
		dot = c
	}
	return strings.Count(s, "#") < 2
}

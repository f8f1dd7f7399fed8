package link

import "strings"

// pathByte reports whether a byte may stand unescaped in a path.
func pathByte(c byte) bool {
	switch c {
	case '"', '#', '<', '>', '?', '^', '`', '{', '}':
		return false
	}
	return c > ' ' && c < 0x7f
}

// queryByte reports whether a byte may stand unescaped in a query.
func queryByte(c byte) bool {
	switch c {
	case '"', '#', '<', '>', '\'', '`':
		return false
	}
	return c > ' ' && c < 0x7f
}

// fragmentByte reports whether a byte may stand unescaped in a fragment.
func fragmentByte(c byte) bool { return queryByte(c) || c == '#' || c == '\'' }

const upperHex = "0123456789ABCDEF"

// escape escapes the bytes that are not allowed; existing escapes stay.
func escape(s string, allowed func(byte) bool) string {
	n := 0
	for i := range len(s) {
		if !allowed(s[i]) {
			n++
		}
	}
	if n == 0 {
		return s
	}
	b := make([]byte, 0, len(s)+2*n)
	for i := range len(s) {
		if c := s[i]; allowed(c) {
			b = append(b, c)
		} else {
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(b)
}

// normalEscapes normalizes escapes: it decodes letters, digits and "-._~", writes other
// escapes in upper case, and escapes a lone percent sign (so that decoding an escape
// can never create a new one).
func normalEscapes(s string, allowed func(byte) bool) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s)+8)
	for i := 0; i < len(s); i++ {
		c, ok := unescape(s, i)
		switch {
		case !ok && s[i] == '%':
			b = append(b, "%25"...)
		case !ok:
			b = append(b, s[i])
		case isUnreserved(c):
			b = append(b, c)
			i += 2
		default:
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
			i += 2
		}
	}
	return string(b)
}

// unescape reads the escape at s[i], if there is one.
func unescape(s string, i int) (byte, bool) {
	if s[i] != '%' || i+2 >= len(s) {
		return 0, false
	}
	hi, lo := hexDigit(s[i+1]), hexDigit(s[i+2])
	return hi<<4 | lo, hi < 16 && lo < 16
}

func hexDigit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 16
}

func isUnreserved(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

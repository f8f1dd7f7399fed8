package link

import "strings"

// pathByte says whether a byte may stand unescaped in a path.
func pathByte(c byte) bool {
	switch c {
	case '"', '#', '<', '>', '?', '^', '`', '{', '}':
		return false
	}
	return c > ' ' && c < 0x7f
}

// queryByte says whether a byte may stand unescaped in a query.
func queryByte(c byte) bool {
	switch c {
	case '"', '#', '<', '>', '\'', '`':
		return false
	}
	return c > ' ' && c < 0x7f
}

// fragmentByte says whether a byte may stand unescaped in a fragment.
func fragmentByte(c byte) bool { return queryByte(c) || c == '#' || c == '\'' }

const upperHex = "0123456789ABCDEF"

// escape escapes the bytes that must be; what is escaped stays.
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

// normalEscapes gives escapes one spelling: letters, digits and "-._~" stand
// unescaped, digits of escapes are upper case, a lone percent sign is escaped
// (so that undoing an escape can never make a new one).
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

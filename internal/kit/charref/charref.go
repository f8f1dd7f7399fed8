// Package charref decodes the character references of HTML and XML (&amp;,
// &#8217;, &nbsp;) one at a time, without allocating for common ones.
package charref

import (
	"html"
	"strings"
	"unicode/utf8"
)

// maxName is the limit for names; all names of HTML are shorter.
const maxName = 32

// Drop is returned for a reference to a character that documents must not contain.
const Drop = rune(-1)

// Decode reads the reference at the beginning of s, which starts with '&'. It
// returns one rune, for a few names a second one (else 0), and the length of
// the reference, 0 if there is none. If strict, names need a semicolon, as in XML
// and in attributes; otherwise the old names of HTML do not.
func Decode(s string, strict bool) (r, second rune, n int) {
	if len(s) < 3 {
		return 0, 0, 0
	}
	if s[1] == '#' {
		r, n = number(s)
		return r, 0, n
	}
	end := 1
	for end < len(s) && end < maxName && isAlnum(s[end]) {
		end++
	}
	closed := end < len(s) && s[end] == ';'
	if end == 1 || strict && !closed {
		return 0, 0, 0
	}
	if r := common(s[1:end]); r != 0 {
		if closed {
			end++
		}
		return r, 0, end
	}
	return named(s[:end], closed)
}

// Append appends s with its references decoded.
func Append(dst []byte, s string, strict bool) []byte {
	for {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		r, second, n := Decode(s[i:], strict)
		if n == 0 {
			dst = append(dst, '&')
			n = 1
		} else {
			dst = AppendRune(AppendRune(dst, r), second)
		}
		s = s[i+n:]
	}
}

// AppendRune appends a rune returned by Decode; it ignores 0 and Drop.
func AppendRune(dst []byte, r rune) []byte {
	if r <= 0 {
		return dst
	}
	return utf8.AppendRune(dst, r)
}

// String decodes the references of s; it returns s itself if there are none.
func String(s string, strict bool) string {
	if strings.IndexByte(s, '&') < 0 {
		return s
	}
	return string(Append(make([]byte, 0, len(s)), s, strict))
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// number reads &#123; or &#x7b;, with or without the semicolon.
func number(s string) (rune, int) {
	i, base := 2, rune(10)
	if s[2]|0x20 == 'x' {
		i, base = 3, 16
	}
	start, v := i, rune(0)
	for i < len(s) {
		d := digit(s[i])
		if d >= base {
			break
		}
		if v = v*base + d; v > utf8.MaxRune {
			v = utf8.MaxRune + 1
		}
		i++
	}
	if i == start {
		return 0, 0
	}
	if i < len(s) && s[i] == ';' {
		i++
	}
	return legal(v), i
}

func digit(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return 99
}

// Printable returns the character that a C1 control (U+0080 to U+009F) stands for in
// text of windows-1252 that was taken for ISO 8859-1, as browsers do for &#128; to
// &#159;. Other characters, and the five controls that windows-1252 does not define, are
// returned as they are.
func Printable(r rune) rune {
	if r < 0x80 || r > 0x9f {
		return r
	}
	i := r - 0x80
	for _, c := range windows1252 {
		if i--; i < 0 {
			return c
		}
	}
	return r
}

// windows1252 holds what the bytes 0x80 to 0x9F are in windows-1252.
const windows1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"

// legal maps a number to the character that browsers show, or Drop.
func legal(v rune) rune {
	switch {
	case v == '\t' || v == '\n':
		return v
	case v == '\r':
		return '\n'
	case v < ' ' || v == 0x7f || v&0xfffe == 0xfffe || v >= 0xfdd0 && v <= 0xfdef:
		return Drop
	case v >= 0x80 && v < 0xa0:
		return Printable(v)
	case v > utf8.MaxRune || v >= 0xd800 && v < 0xe000:
		return utf8.RuneError
	}
	return v
}

// common decodes the most frequent names without the table.
func common(name string) rune {
	switch name {
	case "amp":
		return '&'
	case "lt":
		return '<'
	case "gt":
		return '>'
	case "quot":
		return '"'
	case "apos":
		return '\''
	case "nbsp":
		return '\u00a0'
	case "laquo":
		return '«'
	case "raquo":
		return '»'
	}
	return 0
}

// named looks up a name in the table of the standard library. ref is the reference
// without its semicolon.
func named(ref string, closed bool) (r, second rune, n int) {
	n = len(ref)
	if closed {
		if s := html.UnescapeString(ref + ";"); s[0] != '&' && s[len(s)-1] != ';' {
			r, size := utf8.DecodeRuneInString(s)
			if size < len(s) {
				second, _ = utf8.DecodeRuneInString(s[size:])
			}
			return r, second, n + 1
		}
		return 0, 0, 0
	}
	s := html.UnescapeString(ref)
	if s[0] == '&' {
		return 0, 0, 0
	}
	r, size := utf8.DecodeRuneInString(s)
	return r, 0, n - (len(s) - size)
}

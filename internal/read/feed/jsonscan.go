package feed

import (
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/courant-platform/courant/internal/kit/charref"
)

// jsonScan parses JSON without copying it and as strictly as RFC 8259. What it refuses
// is left to jsonFeed.slow and healJSON.
type jsonScan struct {
	src string
	pos int
}

// maxJSONDepth is the limit of nested values.
const maxJSONDepth = 1000

func (s *jsonScan) blanks() {
	for s.pos < len(s.src) && isJSONBlank(s.src[s.pos]) {
		s.pos++
	}
}

func isJSONBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// take skips blanks, and the byte c if it comes next.
func (s *jsonScan) take(c byte) bool {
	s.blanks()
	if s.pos < len(s.src) && s.src[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

// value skips a value and returns its source text.
func (s *jsonScan) value(depth int) (text string, ok bool) {
	s.blanks()
	start := s.pos
	if s.pos >= len(s.src) || depth > maxJSONDepth {
		return "", false
	}
	switch c := s.src[s.pos]; c {
	case '"':
		ok = s.quoted()
	case '{', '[':
		ok = s.members(c, depth, nil)
	case 't', 'f', 'n':
		ok = s.word()
	default:
		ok = s.number()
	}
	return s.src[start:s.pos], ok
}

// quoted skips a string.
func (s *jsonScan) quoted() bool {
	for i := s.pos + 1; i < len(s.src); i++ {
		i = plainRun(s.src, i)
		if i >= len(s.src) {
			return false
		}
		switch c := s.src[i]; {
		case c == '"':
			s.pos = i + 1
			return true
		case c < ' ':
			return false
		case c == '\\':
			i++
			if i >= len(s.src) || strings.IndexByte(`"\/bfnrtu`, s.src[i]) < 0 || s.src[i] == 'u' && !isHex4(s.src[i+1:]) {
				return false
			}
		}
	}
	return false
}

// plainRun skips ordinary bytes of a string, eight at a time.
func plainRun(s string, i int) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote, slash := w^('"'*ones), w^('\\'*ones)
		if found := ((w-' '*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & high; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	return i
}

func isHex4(s string) bool {
	if len(s) < 4 {
		return false
	}
	_, err := strconv.ParseUint(s[:4], 16, 16)
	return err == nil && s[0] != '+' && s[0] != '_'
}

func (s *jsonScan) word() bool {
	for _, w := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(s.src[s.pos:], w) {
			s.pos += len(w)
			return true
		}
	}
	return false
}

// number skips a number: digits with at most one point and one exponent.
func (s *jsonScan) number() bool {
	start := s.pos
	for s.pos < len(s.src) && strings.IndexByte("+-.0123456789eE", s.src[s.pos]) >= 0 {
		s.pos++
	}
	text := strings.TrimPrefix(s.src[start:s.pos], "-")
	if text == "" || text[0] < '0' || text[0] > '9' || len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9' {
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return (err == nil || strings.Contains(err.Error(), "range")) && text[len(text)-1] != '.' && !strings.Contains(text, ".e") && !strings.Contains(text, ".E")
}

// members skips an object or a list, which begins with open, and calls f, if it is not
// nil, for each value; name is "" in a list.
func (s *jsonScan) members(open byte, depth int, f func(name, value string, at int)) bool {
	return s.each(open, func(name string) bool {
		at := s.pos
		value, ok := s.value(depth + 1)
		if ok && f != nil {
			f(name, value, at)
		}
		return ok
	})
}

// object skips an object and returns its values; the last value of a repeated name
// wins.
func (s *jsonScan) object(depth int) (jsonObject, bool) {
	o := jsonObject{}
	ok := s.members('{', depth, func(name, value string, _ int) { o[jsonString(name)] = value })
	return o, ok
}

// each is members, but f must skip each value itself.
func (s *jsonScan) each(open byte, f func(name string) bool) bool {
	s.pos++
	end := byte('}')
	if open == '[' {
		end = ']'
	}
	if s.take(end) {
		return true
	}
	for {
		name := ""
		if open == '{' {
			s.blanks()
			start := s.pos
			if s.pos >= len(s.src) || s.src[s.pos] != '"' || !s.quoted() {
				return false
			}
			name = s.src[start:s.pos]
			if !s.take(':') {
				return false
			}
		}
		if s.blanks(); !f(name) {
			return false
		}
		if s.take(end) {
			return true
		}
		if !s.take(',') {
			return false
		}
	}
}

// jsonString decodes a string; without escapes it shares the memory of the source.
func jsonString(quoted string) string {
	s := quoted[1 : len(quoted)-1]
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	for i >= 0 && i+1 < len(s) {
		out.WriteString(s[:i])
		n := 2
		switch c := s[i+1]; c {
		case 'u':
			var r rune
			r, n = jsonRune(s[i:])
			out.WriteRune(r)
		case 'n':
			out.WriteByte('\n')
		case 't':
			out.WriteByte('\t')
		case 'r':
			out.WriteByte('\r')
		case 'b', 'f':
			out.WriteByte(' ') // XML forbids them
		default:
			out.WriteByte(c)
		}
		s = s[i+n:]
		i = strings.IndexByte(s, '\\')
	}
	out.WriteString(s)
	return out.String()
}

// jsonRune reads \uXXXX, or a surrogate pair of them.
func jsonRune(s string) (r rune, n int) {
	if len(s) < 6 {
		return utf8.RuneError, len(s)
	}
	u, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return utf8.RuneError, 6
	}
	r = rune(u)
	if !utf16.IsSurrogate(r) {
		return charref.Printable(r), 6
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if low, err := strconv.ParseUint(s[8:12], 16, 16); err == nil {
			if both := utf16.DecodeRune(r, rune(low)); both != utf8.RuneError {
				return both, 12
			}
		}
	}
	return utf8.RuneError, 6
}

package markup

import (
	"strings"

	"github.com/courant-platform/courant/internal/kit/charref"
)

// maxAttrs is the limit of attributes of an element; others are ignored.
const maxAttrs = 256

type tokenKind uint8

const (
	endOfInput tokenKind = iota
	textToken
	startToken
	endToken
)

// attr is a raw attribute: the name in any case, the value with its references.
type attr struct{ name, value string }

// scanner splits HTML into texts and tags as the HTML standard does, without
// copying and in linear time. It skips comments, declarations and
// the contents of raw-text elements.
type scanner struct {
	src  string
	pos  int
	name string // of the tag, in lower case
	text string // of the text, with its references
	el   element
	atts []attr

	lastEnd map[string]int // cached offsets of the last end tag with a name, or -1
	noEnd   bool           // there is no more '>' in the source
}

// next moves to the next token.
func (s *scanner) next() tokenKind {
	for s.pos < len(s.src) {
		switch rest := s.src[s.pos:]; {
		case isTagStart(rest):
			return s.tag(1, startToken)
		case strings.HasPrefix(rest, "</") && len(rest) > 2 && isLetter(rest[2]):
			return s.tag(2, endToken)
		case strings.HasPrefix(rest, "<![CDATA["):
			return s.cdata()
		case s.isComment(rest):
			s.comment(rest)
		default:
			return s.run(rest)
		}
	}
	return endOfInput
}

// isComment reports whether a comment, a declaration or an instruction begins. One
// without an end is text, and so is any other "<!".
func (s *scanner) isComment(rest string) bool {
	if len(rest) < 2 || rest[0] != '<' || strings.IndexByte("!?/", rest[1]) < 0 || s.noEnd {
		return false
	}
	if rest[1] == '!' && len(rest) > 2 && !isLetter(rest[2]) && strings.IndexByte("-[>", rest[2]) < 0 {
		return false
	}
	s.noEnd = strings.IndexByte(rest, '>') < 0
	return !s.noEnd
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isTagStart(s string) bool { return len(s) > 1 && s[0] == '<' && isLetter(s[1]) }

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// run reads text up to the next tag; a '<' that does not begin a tag is text.
func (s *scanner) run(rest string) tokenKind {
	end := 0
	for {
		i := strings.IndexByte(rest[end+1:], '<')
		if i < 0 {
			end = len(rest)
			break
		}
		end += i + 1
		if end+1 < len(rest) && (isLetter(rest[end+1]) || strings.IndexByte("/!?", rest[end+1]) >= 0) {
			break
		}
	}
	s.text = rest[:end]
	s.pos += end
	return textToken
}

// cdata reads a CDATA section, which HTML does not have, as text.
func (s *scanner) cdata() tokenKind {
	s.pos += len("<![CDATA[")
	rest := s.src[s.pos:]
	if i := strings.Index(rest, "]]>"); i >= 0 {
		s.text = rest[:i]
		s.pos += i + 3
		return textToken
	}
	s.pos = len(s.src)
	s.text = rest
	return textToken
}

// comment skips comments, declarations and instructions.
func (s *scanner) comment(rest string) {
	i := strings.IndexByte(rest, '>')
	if strings.HasPrefix(rest, "<!--") && !strings.HasPrefix(rest[4:], ">") && !strings.HasPrefix(rest[4:], "->") {
		i = commentEnd(rest)
	}
	if i < 0 {
		i = len(rest) - 1
	}
	s.pos += i + 1
}

// commentEnd returns the offset of the '>' of "-->" or "--!>", or -1.
func commentEnd(rest string) int {
	for from := 4; ; {
		i := strings.Index(rest[from:], "--")
		if i < 0 {
			return -1
		}
		from += i + 2
		tail := rest[from:]
		switch {
		case strings.HasPrefix(tail, ">"):
			return from
		case strings.HasPrefix(tail, "!>"):
			return from + 1
		}
		from-- // "--->" ends too
	}
}

// tag reads a tag whose name begins at offset off. An incomplete tag at the end of the
// input is dropped, as in browsers.
func (s *scanner) tag(off int, kind tokenKind) tokenKind {
	i := s.pos + off
	start := i
	for i < len(s.src) && !isBlank(s.src[i]) && s.src[i] != '/' && s.src[i] != '>' {
		i++
	}
	s.name = lower(s.src[start:i])
	s.el = lookup(s.name)
	if i = s.attributes(i); i < 0 {
		s.pos = len(s.src)
		return endOfInput
	}
	s.pos = i
	if kind == startToken && s.el.raw && !(s.name == "iframe" && (s.shut() || !s.closes(s.name))) {
		s.skipRaw() // text after an iframe that is never closed is not its contents
	}
	return kind
}

func lower(s string) string {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'Z' {
			return strings.ToLower(s)
		}
	}
	return s
}

// attributes reads up to the end of the tag and returns the offset after it, or -1 if
// the input ends first.
func (s *scanner) attributes(i int) int {
	src := s.src
	s.atts = s.atts[:0]
	for i < len(src) {
		c := src[i]
		switch {
		case c == '>':
			return i + 1
		case c == '/' || isBlank(c):
			i++
		default:
			if i = s.attribute(i); i < 0 {
				return -1
			}
		}
	}
	return -1
}

// attribute reads one attribute that begins at i.
func (s *scanner) attribute(i int) int {
	src, start := s.src, i
	i++ // an '=' may begin a name
	for i < len(src) && !isBlank(src[i]) && src[i] != '/' && src[i] != '>' && src[i] != '=' {
		i++
	}
	a := attr{name: src[start:i]}
	after := i
	for after < len(src) && isBlank(src[after]) {
		after++
	}
	if after < len(src) && src[after] == '=' {
		if a.value, i = value(src, after+1); i < 0 {
			return -1
		}
	}
	if len(s.atts) < maxAttrs {
		s.atts = append(s.atts, a)
	}
	return i
}

// value reads an attribute's value and returns the offset after it, or -1.
func value(src string, i int) (string, int) {
	for i < len(src) && isBlank(src[i]) {
		i++
	}
	if i >= len(src) {
		return "", -1
	}
	if q := src[i]; q == '"' || q == '\'' {
		end := strings.IndexByte(src[i+1:], q)
		if end < 0 {
			return "", -1
		}
		return src[i+1 : i+1+end], i + end + 2
	}
	start := i
	for i < len(src) && !isBlank(src[i]) && src[i] != '>' {
		i++
	}
	return src[start:i], i
}

// attr returns the decoded value of the first attribute with a name, or "".
func (s *scanner) attr(name string) string {
	v, _ := s.lookupAttr(name)
	return v
}

// has reports whether there is an attribute with a name.
func (s *scanner) has(name string) bool {
	_, ok := s.lookupAttr(name)
	return ok
}

func (s *scanner) lookupAttr(name string) (string, bool) {
	for i := range s.atts {
		if len(s.atts[i].name) == len(name) && strings.EqualFold(s.atts[i].name, name) {
			return charref.String(s.atts[i].value, true), true
		}
	}
	return "", false
}

// skipRaw skips the contents and the end tag of a raw-text element.
func (s *scanner) skipRaw() {
	if s.name == "plaintext" {
		s.pos = len(s.src)
		return
	}
	for {
		rest := s.src[s.pos:]
		i := strings.Index(rest, "</")
		if i < 0 {
			s.pos = len(s.src)
			return
		}
		s.pos += i + 2
		rest = rest[i+2:]
		n := len(s.name)
		if len(rest) <= n || !strings.EqualFold(rest[:n], s.name) {
			continue
		}
		if c := rest[n]; c == '>' || c == '/' || isBlank(c) {
			end := strings.IndexByte(rest, '>')
			if end < 0 {
				end = len(rest) - 1
			}
			s.pos += end + 1
			return
		}
	}
}

// skip skips everything up to the end tag of the element that has just begun.
// Blocks end svg and math, as in the standard.
func (s *scanner) skip() {
	name, foreign := s.name, s.el.foreign
	for depth := 1; depth > 0; {
		at := s.pos
		switch s.next() {
		case endOfInput:
			return
		case startToken:
			if s.name == name {
				depth++
			} else if foreign && s.el.block {
				s.pos = at
				return
			}
		case endToken:
			if s.name == name {
				depth--
			}
		}
	}
}

package xmlscan

import (
	"strings"

	"github.com/courant-platform/courant/internal/kit/charref"
)

// Inner reads the rest of the element that has just begun and returns its
// contents as HTML: text decoded once, so that escaped markup becomes markup, and
// the tags of children without their prefixes. A child for which stop returns
// true ends the element; stop may be nil.
func (s *Scanner) Inner(stop func(Name) bool) string { return s.inner(stop, false) }

// InnerXHTML is Inner for contents that are markup already: references in text stay.
func (s *Scanner) InnerXHTML(stop func(Name) bool) string { return s.inner(stop, true) }

// inner copies nothing if the contents are one piece of text.
func (s *Scanner) inner(stop func(Name) bool, xhtml bool) string {
	depth := s.Depth()
	piece, pieces := "", 0
	s.buffer, s.bases = s.buffer[:0], s.bases[:0]
	for {
		switch s.Next() {
		case EOF:
			return s.pieces(piece, pieces)
		case End:
			if s.Depth() <= depth {
				return s.pieces(piece, pieces)
			}
			s.appendEnd()
			s.closeBase()
			pieces = 2
		case Start:
			if stop != nil && stop(s.Name) {
				s.Interrupt(depth)
				return s.pieces(piece, pieces)
			}
			s.MarkRead()
			s.takePiece(piece, pieces)
			s.appendStart()
			pieces = 2
		case Text:
			if pieces == 0 && s.isFinal(xhtml) {
				piece, pieces = s.Text, 1
				continue
			}
			s.takePiece(piece, pieces)
			s.appendText(xhtml)
			pieces = 2
		}
	}
}

// isFinal reports whether the current text needs no change.
func (s *Scanner) isFinal(xhtml bool) bool {
	if xhtml {
		return !s.CDATA && len(s.entities) == 0
	}
	return s.CDATA || strings.IndexByte(s.Text, '&') < 0
}

// pieces returns what was collected.
func (s *Scanner) pieces(piece string, n int) string {
	if n < 2 {
		return piece
	}
	return string(s.buffer)
}

// takePiece moves the only piece so far into the buffer.
func (s *Scanner) takePiece(piece string, n int) {
	if n == 1 {
		s.buffer = append(s.buffer, piece...)
	}
}

// appendText writes the current text as HTML.
func (s *Scanner) appendText(xhtml bool) {
	switch {
	case xhtml && s.CDATA:
		s.buffer = appendEscaped(s.buffer, s.Text)
	case xhtml:
		s.buffer = append(s.buffer, s.expand(s.Text, true)...)
	case s.CDATA:
		s.buffer = append(s.buffer, s.Text...)
	default:
		s.buffer = s.appendDecoded(s.buffer, s.Text)
	}
}

// appendDecoded decodes references and reports those that XML does not define.
func (s *Scanner) appendDecoded(dst []byte, text string) []byte {
	for {
		i := strings.IndexByte(text, '&')
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		text = text[i:]
		if c, n := predefined(text); n > 0 {
			dst = append(dst, c)
			text = text[n:]
			continue
		}
		if len(s.entities) > 0 {
			if value, n := s.entity(text); n > 0 {
				dst = append(dst, value...)
				text = text[n:]
				continue
			}
		}
		r, second, n := charref.Decode(text, true)
		s.checkReference(text, n)
		if n == 0 {
			dst = append(dst, '&')
			n = 1
		} else {
			dst = charref.AppendRune(charref.AppendRune(dst, r), second)
		}
		text = text[n:]
	}
}

// predefined is a fast path for the five entities of XML.
func predefined(s string) (byte, int) {
	switch {
	case strings.HasPrefix(s, "&lt;"):
		return '<', 4
	case strings.HasPrefix(s, "&gt;"):
		return '>', 4
	case strings.HasPrefix(s, "&amp;"):
		return '&', 5
	case strings.HasPrefix(s, "&quot;"):
		return '"', 6
	case strings.HasPrefix(s, "&apos;"):
		return '\'', 6
	}
	return 0, 0
}

// checkReference reports an unescaped ampersand and named references that only HTML
// has. text is the rest of the current text; n is the length of the reference.
func (s *Scanner) checkReference(text string, n int) {
	at := s.Offset + len(s.Text) - len(text)
	switch {
	case n == 0 && isEntity(text):
		if e, _ := s.declared(text); e == nil && !s.dtd {
			s.fault("undeclared-entity", at, "", "the entity is not declared and was left as it is; write the character itself")
		}
	case n == 0:
		s.fault("unescaped-ampersand", at, "", `the "&" is not escaped; write &amp;`)
	case text[1] != '#' && !s.dtd:
		s.fault("undeclared-entity", at, "", "the entity is not one of XML and was read as an HTML entity; write the character itself")
	}
}

// isEntity reports whether text begins with &name;.
func isEntity(text string) bool {
	i := 1
	for i < len(text) && i < 64 && (isNameStart(text[i]) || i > 1 && strings.IndexByte("0123456789.-", text[i]) >= 0) {
		i++
	}
	return i > 1 && i < len(text) && text[i] == ';'
}

func appendEscaped(dst []byte, s string) []byte {
	for i := range len(s) {
		switch s[i] {
		case '&':
			dst = append(dst, "&amp;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		default:
			dst = append(dst, s[i])
		}
	}
	return dst
}

// appendStart writes the current start tag as HTML.
func (s *Scanner) appendStart() {
	s.openBase()
	s.buffer = append(append(s.buffer, '<'), s.Name.Local...)
	for _, a := range s.Attrs {
		quote := byte('"')
		if strings.IndexByte(a.Value, '"') >= 0 {
			quote = '\''
		}
		if strings.HasPrefix(a.Name, "xmlns") || strings.IndexByte(a.Value, quote) >= 0 {
			continue
		}
		s.buffer = append(append(append(s.buffer, ' '), a.Name...), '=', quote)
		s.buffer = append(append(s.buffer, s.rebased(a)...), quote)
	}
	s.buffer = append(s.buffer, '>')
}

// appendEnd writes the current end tag, if HTML has one.
func (s *Scanner) appendEnd() {
	switch s.Name.Local {
	case "br", "img", "hr", "input", "source", "wbr", "area", "col", "embed", "link", "meta", "param", "track":
		return // have no end tag in HTML
	}
	s.buffer = append(append(append(s.buffer, "</"...), s.Name.Local...), '>')
}

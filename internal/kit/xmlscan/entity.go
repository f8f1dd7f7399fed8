package xmlscan

import (
	"strings"

	"github.com/courant-platform/courant/internal/kit/charref"
)

// The bounds of the entities that a document may declare.
const (
	maxEntities   = 256
	maxEntityText = 4096
)

// declareEntities remembers the internal entities of a document type: name and
// text, with the character references of the text decoded. External ones and
// those of the DTD itself are none of them. The first declaration counts.
func (s *Scanner) declareEntities(subset string) {
	for len(s.entities) < maxEntities {
		_, rest, ok := strings.Cut(subset, "<!ENTITY")
		if !ok {
			return
		}
		subset = rest
		rest = strings.TrimLeft(rest, " \t\r\n")
		end := strings.IndexAny(rest, " \t\r\n")
		if end <= 0 {
			continue
		}
		name, rest := rest[:end], strings.TrimLeft(rest[end:], " \t\r\n")
		if rest == "" || rest[0] != '"' && rest[0] != '\'' {
			continue
		}
		n := strings.IndexByte(rest[1:], rest[0])
		if n < 0 || n > maxEntityText {
			continue
		}
		subset = rest[n+2:]
		if s.entities == nil {
			s.entities = make(map[string]string)
		}
		if _, ok := s.entities[name]; !ok {
			s.entities[name] = charref.String(rest[1:n+1], true)
		}
	}
}

// entity returns the text of a declared entity at the beginning of text and the
// length of its reference, 0 if it is none. What the text refers to is not
// expanded again, and all expansions together are no longer than the document.
func (s *Scanner) entity(text string) (string, int) {
	end := strings.IndexByte(text[:min(len(text), 64)], ';')
	if end < 0 {
		return "", 0
	}
	value, ok := s.entities[text[1:end]]
	if !ok {
		return "", 0
	}
	if s.expanded += len(value); s.expanded > len(s.Source) {
		s.fault("too-many-entities", s.Offset, "", "the entities of the document are longer than the document itself; the others were left as they are")
		clear(s.entities)
		return "", 0
	}
	return value, end + 1
}

// expand returns text with the declared entities in place of their references.
func (s *Scanner) expand(text string, escape bool) string {
	if len(s.entities) == 0 || strings.IndexByte(text, '&') < 0 {
		return text
	}
	var out []byte
	for {
		i := strings.IndexByte(text, '&')
		if i < 0 {
			return string(append(out, text...))
		}
		out = append(out, text[:i]...)
		text = text[i:]
		value, n := s.entity(text)
		switch {
		case n == 0:
			out, n = append(out, '&'), 1
		case escape:
			out = appendEscaped(out, value)
		default:
			out = append(out, value...)
		}
		text = text[n:]
	}
}

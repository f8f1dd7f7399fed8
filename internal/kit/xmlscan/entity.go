package xmlscan

import (
	"strings"

	"github.com/courant-platform/courant/internal/kit/charref"
)

// The limits of the entities that a document may declare.
const (
	maxEntities   = 256
	maxEntityText = 4096     // bytes as declared
	maxExpansion  = 64 << 10 // bytes with the entities in it
	maxNesting    = 16
)

// entity is an internal entity: its text as declared or, after the first use, with all
// references decoded.
type entity struct {
	text  string
	state entityState
}

type entityState uint8

const (
	declared entityState = iota
	expanding
	expanded
	refused // its expansion is recursive or too long
)

// declareEntities stores the internal entities of a document type. It ignores external
// and parameter entities. The first declaration of a name wins.
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
			s.entities = make(map[string]*entity)
		}
		if _, ok := s.entities[name]; !ok {
			s.entities[name] = &entity{text: rest[1 : n+1]}
		}
	}
}

// declared returns the entity of the reference at the beginning of text and the length
// of the reference, or nil.
func (s *Scanner) declared(text string) (*entity, int) {
	end := strings.IndexByte(text[:min(len(text), 64)], ';')
	if end < 0 {
		return nil, 0
	}
	return s.entities[text[1:end]], end + 1
}

// entity expands the reference to a declared entity at the beginning of text. It returns
// the expansion and the length of the reference, or 0 if it cannot be expanded. All
// expansions together are at most as long as the document.
func (s *Scanner) entity(text string) (string, int) {
	e, n := s.declared(text)
	if e == nil || s.spent || !s.expandEntity(e, 0) {
		return "", 0
	}
	if s.expanded += len(e.text); s.expanded > len(s.Source) {
		s.spent = true
		s.fault("too-many-entities", s.Offset, "", "the document's own entities would make it larger than the document itself and the others were left as they are; write the text where it belongs")
		return "", 0
	}
	return e.text, n
}

// expandEntity decodes the references in an entity's text, once, and reports whether
// it could.
func (s *Scanner) expandEntity(e *entity, depth int) bool {
	switch {
	case e.state == expanded:
		return true
	case e.state == refused:
		return false
	case e.state == expanding || depth > maxNesting:
		s.fault("too-many-entities", s.Offset, "", "an entity refers to itself, or entities are nested more than 16 levels deep, and the references were left as they are; write the text where it belongs")
		return false
	}
	e.state = expanding
	out, ok := s.expandText(e.text, depth)
	if !ok {
		e.state = refused
		return false
	}
	e.text, e.state = out, expanded
	return true
}

// expandText returns the text of an entity with its references decoded, or false if it
// is too long or recursive.
func (s *Scanner) expandText(text string, depth int) (string, bool) {
	var out []byte
	for {
		i := strings.IndexByte(text, '&')
		if i < 0 {
			out = append(out, text...)
			return string(out), len(out) <= maxExpansion
		}
		out = append(out, text[:i]...)
		text = text[i:]
		e, n := s.declared(text)
		switch {
		case e != nil && s.expandEntity(e, depth+1):
			out = append(out, e.text...)
		case e != nil:
			return "", false
		default:
			n = s.appendReference(&out, text)
		}
		if len(out) > maxExpansion {
			s.fault("too-many-entities", s.Offset, "", "an entity is longer than 64 KiB with those that it refers to and was left as it is; write the text where it belongs")
			return "", false
		}
		text = text[n:]
	}
}

// appendReference decodes a reference in the text of an entity and returns its length.
func (s *Scanner) appendReference(out *[]byte, text string) int {
	r, second, n := charref.Decode(text, true)
	if n > 0 {
		*out = charref.AppendRune(charref.AppendRune(*out, r), second)
		return n
	}
	if !s.dtd && isEntity(text) {
		s.fault("undeclared-entity", s.Offset, "", "the text of an entity refers to an undeclared entity, which was left as it is; write the character itself")
	}
	*out = append(*out, '&')
	return 1
}

// expand returns text with references to declared entities replaced.
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

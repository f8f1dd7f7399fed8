package sitemap

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

const ignoredElement = "Courant has no use for the element %s, nor for what is inside it, and ignores it"

// maxNames is how many names of ignored elements a reading tells.
const maxNames = 200

const maxNameLength = 64 // of a name in a note, in bytes

// moreNames is the note on the names beyond maxNames.
var moreNames = courant.Warning{Code: "ignored", Level: courant.LevelInfo, Line: 1, Column: 1,
	Text: "the document has more elements of no use than the 200 that are told; use fewer names"}

// note says once for each name that an element is of no use; %s in the text is its name.
func (r *reader) note(name string, offset int, text string) {
	if r.told[name] {
		return
	}
	if len(r.told) >= maxNames {
		r.untold = true
		return
	}
	if r.told == nil {
		r.told = map[string]bool{}
	}
	r.told[strings.Clone(name)] = true
	name = strings.ToValidUTF8(strings.Clone(name[:min(len(name), maxNameLength)]), "")
	line, column := r.pieces.Position(offset)
	r.notes = append(r.notes, courant.Warning{Code: "ignored", Level: courant.LevelInfo, Line: line, Column: column,
		Element: name, Text: strings.ReplaceAll(text, "%s", name)})
}

// ignore skips the rest of the current element and notes its name if it, or an element
// inside it, has a value.
func (r *reader) ignore() {
	s := &r.scan
	offset, raw, depth := s.Offset, s.Raw, s.Depth()
	value := hasValue(s.Attrs)
	for open := true; open; {
		switch s.Next() {
		case xmlscan.EOF:
			open = false
		case xmlscan.End:
			open = s.Depth() > depth
		case xmlscan.Start:
			if open = !isEntry(s.Name); !open {
				s.Interrupt(depth)
			}
			value = value || hasValue(s.Attrs)
		case xmlscan.Text:
			value = value || strings.TrimSpace(s.Text) != ""
		}
	}
	if value {
		r.note(raw, offset, ignoredElement)
	}
}

// hasValue reports whether an attribute has a value that is not about syntax.
func hasValue(attrs []xmlscan.Attr) bool {
	for i := range attrs {
		if name := attrs[i].Name; attrs[i].Value != "" && !strings.HasPrefix(name, "xmlns") && !strings.HasPrefix(name, "xsi:") {
			return true
		}
	}
	return false
}

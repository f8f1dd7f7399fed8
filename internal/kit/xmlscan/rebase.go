package xmlscan

import (
	"strings"

	"github.com/courant-platform/courant/internal/kit/charref"
)

// inlineBase is an xml:base inside the contents that Inner returns: the base of
// addresses in the element at depth.
type inlineBase struct {
	url   string
	depth int
}

// openBase pushes the xml:base of the current Start, if it has one.
func (s *Scanner) openBase() {
	if s.Rebase == nil || len(s.Attrs) == 0 {
		return
	}
	if ref, ok := s.LookupAttr("xml:base"); ok {
		s.bases = append(s.bases, inlineBase{url: s.Rebase(s.base(), strings.TrimSpace(ref)), depth: s.Depth()})
	}
}

// closeBase removes the bases of elements that have ended.
func (s *Scanner) closeBase() {
	for n := len(s.bases); n > 0 && s.bases[n-1].depth >= s.Depth(); n-- {
		s.bases = s.bases[:n-1]
	}
}

// base returns the innermost base, or "".
func (s *Scanner) base() string {
	if n := len(s.bases); n > 0 {
		return s.bases[n-1].url
	}
	return ""
}

// rebased returns the value of an attribute for the output: an address is resolved if
// there is an xml:base.
func (s *Scanner) rebased(a Attr) string {
	base := s.base()
	if base == "" {
		return a.Value
	}
	switch strings.ToLower(a.Name) {
	case "href", "src", "poster", "cite":
		if url := s.Rebase(base, charref.String(s.expand(a.Value, true), true)); url != "" {
			return string(appendEscaped(nil, url))
		}
	}
	return a.Value
}

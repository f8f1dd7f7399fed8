package xmlscan

import "strings"

// Skip skips the rest of the element that has just begun. A child for which stop
// returns true ends the element; stop may be nil.
func (s *Scanner) Skip(stop func(Name) bool) {
	for depth := s.Depth(); ; {
		switch s.Next() {
		case EOF:
			return
		case End:
			if s.Depth() <= depth {
				return
			}
		case Start:
			if stop != nil && stop(s.Name) {
				s.Interrupt(depth)
				return
			}
			s.MarkRead()
		}
	}
}

// MarkRead marks all attributes of the current Start as read; see Scanner.Ignored.
func (s *Scanner) MarkRead() { s.allRead = true }

// reportIgnored reports the attributes that nobody has asked for.
func (s *Scanner) reportIgnored() {
	for i := range s.Attrs {
		if a := &s.Attrs[i]; !a.read && !strings.HasPrefix(a.Name, "xmlns") {
			s.Ignored(a.Name)
		}
	}
}

// Children calls f for every Start and Text inside the element that has just begun.
// If f reads each child to its end, as Inner and Skip do, it is called for direct
// children only. A child for which stop returns true ends the element.
func (s *Scanner) Children(stop func(Name) bool, f func()) {
	for depth := s.Depth(); ; {
		switch s.Next() {
		case EOF:
			return
		case End:
			if s.Depth() <= depth {
				return
			}
		case Start:
			if stop != nil && stop(s.Name) {
				s.Interrupt(depth)
				return
			}
			f()
		case Text:
			f()
		}
	}
}

// Interrupt ends the element at depth, whose end tag is missing, before the current
// Start. Next will return that Start again.
func (s *Scanner) Interrupt(depth int) {
	if depth < len(s.open) {
		s.fault("missing-end-tag", s.Offset, s.open[depth].raw, "the end tag is missing and the element ends where the next one begins; add the end tag")
	}
	s.Unread()
	s.CloseTo(depth)
}

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

// mostFaults is how many faults before the root element are kept until it is known whether
// they are those of other data.
const mostFaults = 10

// Root moves to the first element for which isRoot returns true; found is false if there
// is none. If other data stands before it, or an XML declaration that is not at the
// beginning, junk is true, the document begins at that element, and faults before it are
// not reported.
func (s *Scanner) Root(isRoot func(Name) bool) (found, junk bool) {
	report := s.Report
	var faults []Fault
	s.Report = func(f Fault) {
		if len(faults) < mostFaults {
			faults = append(faults, f)
		}
	}
	for !found {
		switch s.Next() {
		case EOF:
			s.Report = report
			return false, junk
		case Text:
			junk = junk || strings.TrimSpace(s.Text) != ""
		case Start:
			if found = isRoot(s.Name); !found {
				junk = true
				s.CloseTo(0) // junk has tags without an end
			}
		}
	}
	if junk = junk || strings.LastIndex(s.Source[:s.Offset], "<?xml ") > 0; junk {
		s.Unread()
		s.CloseTo(0)
		s.Next()
		faults = nil
	}
	s.Report = report
	for _, f := range faults {
		s.fault(f.Code, f.Offset, f.Element, f.Text)
	}
	return true, junk
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

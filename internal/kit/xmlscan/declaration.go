package xmlscan

import "strings"

// declaration skips comments, instructions and document types.
func (s *Scanner) declaration(rest string) {
	var end int
	switch {
	case strings.HasPrefix(rest, "<!--"):
		if end = strings.Index(rest[4:], "-->"); end >= 0 {
			end += 4 + 2
		}
	case rest[1] == '?':
		end = s.instructionEnd(rest)
	default:
		if end = s.doctypeEnd(rest); end > 0 && len(rest) > 9 && strings.EqualFold(rest[:9], "<!doctype") {
			s.declareEntities(rest[:end])
			s.dtd = s.dtd || strings.Contains(rest[:end], "SYSTEM") || strings.Contains(rest[:end], "PUBLIC")
		}
	}
	if end < 0 {
		s.fault("truncated", s.Offset, "", "the comment or declaration has no end; close it, or send the whole document")
		end = len(rest) - 1
	}
	s.pos += end + 1
}

// instructionEnd returns the offset of the '>' that ends a processing instruction. If
// the question mark before it is missing, as in many XML declarations, that is the
// first '>'.
func (s *Scanner) instructionEnd(rest string) int {
	head := rest
	if i := strings.IndexByte(rest[1:], '<'); i >= 0 && strings.HasPrefix(rest, "<?xml ") {
		head = rest[:i+1]
	}
	if !s.openPI {
		if end := strings.Index(head, "?>"); end > 0 {
			return end + 1
		}
		s.openPI = len(head) == len(rest) // do not search again
	}
	s.fault("bad-tag", s.Offset, "", `the processing instruction has no "?>"; close it with "?>"`)
	return strings.IndexByte(rest, '>')
}

// doctypeEnd returns the offset of the '>' that ends a declaration. It skips '>' inside
// quotes and the internal subset, unless the subset has no end.
func (s *Scanner) doctypeEnd(rest string) int {
	depth := 0
	for i := 0; i < len(rest) && !s.openDTD; i++ {
		switch c := rest[i]; c {
		case '[':
			depth++
		case ']':
			depth--
		case '"', '\'':
			if n := strings.IndexByte(rest[i+1:], c); n >= 0 && depth > 0 {
				i += n + 1
			}
		case '>':
			if depth <= 0 {
				return i
			}
		}
	}
	s.openDTD = true // do not search again
	return strings.IndexByte(rest, '>')
}

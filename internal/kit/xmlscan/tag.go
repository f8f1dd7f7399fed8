package xmlscan

import (
	"strings"

	"github.com/courant-platform/courant/internal/kit/charref"
)

// startTag reads a start tag; it returns false if the tag is left out.
func (s *Scanner) startTag() bool {
	i := s.pos + 1
	start := i
	for i < len(s.Source) && !isBlank(s.Source[i]) && s.Source[i] != '/' && s.Source[i] != '>' && s.Source[i] != '<' {
		i++
	}
	s.Raw = s.Source[start:i]
	s.Attrs, s.allRead = s.Attrs[:0], false
	empty := false
	if i, empty = s.attributes(i); i < 0 {
		s.cut = true
		s.fault("truncated", s.Offset, s.Raw, "the document ends inside a tag; send the whole document")
		s.pos = len(s.Source)
		return false
	}
	s.pos = i
	if len(s.open)+s.over >= MaxDepth {
		s.tooDeep(empty)
		return false
	}
	s.bind()
	s.Name = s.resolve(s.Raw)
	s.push, s.empty = true, empty
	return true
}

// tooDeep counts an element that is left out, so that its end tag can be matched.
func (s *Scanner) tooDeep(empty bool) {
	if !empty {
		s.over++
		s.notice(s.Raw)
	}
	if !s.deep {
		s.deep = true
		s.fault("too-deep", s.Offset, s.Raw, "elements are nested more than 256 levels deep and the tags of the inner ones were left out; reduce the nesting")
	}
}

// notice stores the names of elements beyond MaxDepth: all other end tags belong to
// open elements.
func (s *Scanner) notice(raw string) {
	if s.beyond == nil {
		s.beyond = make(map[string]bool)
	}
	if len(s.beyond) < 64 {
		s.beyond[raw] = true
	}
}

// attributes reads up to the end of the tag and returns the offset after it, -1 if the
// source ends first, and whether the element is empty.
func (s *Scanner) attributes(i int) (int, bool) {
	src := s.Source
	for i < len(src) {
		switch c := src[i]; {
		case c == '>':
			return i + 1, src[i-1] == '/'
		case c == '<':
			s.fault("bad-tag", s.Offset, s.Raw, `the tag has no ">"; close it`)
			return i, false
		case c == '/' || isBlank(c):
			i++
		default:
			i = s.attribute(i)
		}
	}
	return -1, false
}

// attribute reads one attribute.
func (s *Scanner) attribute(i int) int {
	src, start := s.Source, i
	i++
	for i < len(src) && !isBlank(src[i]) && strings.IndexByte("=/><", src[i]) < 0 {
		i++
	}
	a := Attr{Name: src[start:i]}
	for i < len(src) && isBlank(src[i]) {
		i++
	}
	if i < len(src) && src[i] == '=' {
		a.Value, i = s.value(i + 1)
	} else {
		s.fault("bad-attribute", start, s.Raw, "the attribute has no value; write name=\"value\"")
	}
	if len(s.Attrs) < maxAttrs {
		s.Attrs = append(s.Attrs, a)
	}
	return i
}

// value reads an attribute's value and returns the offset after it.
func (s *Scanner) value(i int) (string, int) {
	src := s.Source
	for i < len(src) && isBlank(src[i]) {
		i++
	}
	if i < len(src) && (src[i] == '"' || src[i] == '\'') {
		if end := s.closingQuote(i); end >= 0 {
			return src[i+1 : end], end + 1
		}
		s.fault("bad-attribute", i, s.Raw, "the value of an attribute has no closing quote; add it")
		i++
	} else {
		s.fault("bad-attribute", i, s.Raw, "the value of an attribute has no quotes; add them")
	}
	start := i
	for i < len(src) && !isBlank(src[i]) && src[i] != '>' && src[i] != '<' {
		i++
	}
	return strings.TrimRight(src[start:i], `"'/`), i
}

// closingQuote returns the offset of the quote that closes the one at i, or -1. It
// accepts a value that contains a "<" only if the tag continues after it.
func (s *Scanner) closingQuote(i int) int {
	q, which := s.Source[i], 0
	if q == '\'' {
		which = 1
	}
	if s.noQuote[which] {
		return -1
	}
	n := strings.IndexByte(s.Source[i+1:], q)
	if n < 0 {
		s.noQuote[which] = true
		return -1
	}
	end := i + 1 + n
	if strings.IndexByte(s.Source[i:end], '<') < 0 {
		return end
	}
	s.fault("bad-attribute", i, s.Raw, `the value of an attribute contains a "<"; write &lt;`)
	if end+1 < len(s.Source) && (isBlank(s.Source[end+1]) || strings.IndexByte("/>?", s.Source[end+1]) >= 0) {
		return end
	}
	return -1
}

// endTag reads an end tag and reports whether an element ended. If inner elements are
// still open, it closes the innermost one and does not advance.
func (s *Scanner) endTag(rest string) bool {
	end := 2
	for end < len(rest) && !isBlank(rest[end]) && rest[end] != '>' && rest[end] != '<' {
		end++
	}
	raw := rest[2:end]
	after := s.pos + end
	if end < len(rest) && rest[end] == '>' {
		after++
	} else if end < len(rest) && rest[end] != '<' {
		if gt := strings.IndexAny(rest[end:], "<>"); gt >= 0 && rest[end+gt] == '>' {
			after += gt + 1
		}
	}
	if s.Source[after-1] != '>' {
		s.fault("bad-tag", s.Offset, raw, `the end tag has no ">"; close it`)
	}
	if s.over > 0 && (s.beyond[raw] || s.find(raw) < 0) {
		s.over--
		s.pos = after
		return false
	}
	s.over = 0
	at := s.find(raw)
	if at < 0 {
		s.fault("stray-end-tag", s.Offset, raw, "the end tag has no start tag; remove it")
		s.pos = after
		return false
	}
	if at == len(s.open)-1 {
		if s.open[at].raw != raw {
			s.fault("bad-tag", s.Offset, raw, "the case of the end tag differs from its start tag; write both tags alike")
		}
		s.pos = after
	} else {
		s.fault("missing-end-tag", s.Offset, s.open[len(s.open)-1].raw, "the end tag is missing; add it")
	}
	s.pop()
	return true
}

// maxStrays is how many stray end tags a document may have before find searches only
// the innermost elements.
const maxStrays = 10000

// find returns the index of the innermost open element with a name, or -1.
func (s *Scanner) find(raw string) int {
	last := 0
	if s.strays > maxStrays {
		last = max(len(s.open)-8, 0)
	}
	for i := len(s.open) - 1; i >= last; i-- {
		if s.open[i].raw == raw {
			return i
		}
	}
	for i := len(s.open) - 1; i >= last; i-- {
		if strings.EqualFold(s.open[i].raw, raw) {
			return i
		}
	}
	s.strays++
	return -1
}

// pop closes the innermost element and makes it the current one.
func (s *Scanner) pop() {
	last := s.open[len(s.open)-1]
	s.Name, s.Raw = last.name, last.raw
	s.open = s.open[:len(s.open)-1]
	s.unbind()
}

// maxSpaces limits the namespace declarations in scope, which are searched for every
// tag; maxNames limits the cache of names.
const (
	maxSpaces = 256
	maxNames  = 4096
)

// bind reads the namespace declarations of the current tag.
func (s *Scanner) bind() {
	for _, a := range s.Attrs {
		prefix, ok := strings.CutPrefix(a.Name, "xmlns")
		if !ok || prefix != "" && prefix[0] != ':' {
			continue
		}
		prefix = strings.TrimPrefix(prefix, ":")
		uri := strings.TrimSpace(charref.String(a.Value, true))
		if len(s.spaces) < maxSpaces {
			s.spaces = append(s.spaces, binding{prefix: prefix, key: s.key(uri, prefix), depth: len(s.open)})
		}
	}
}

// unbind removes the declarations of elements that have ended.
func (s *Scanner) unbind() {
	n := len(s.spaces)
	for n > 0 && s.spaces[n-1].depth >= len(s.open) {
		n--
	}
	s.spaces = s.spaces[:n]
}

func (s *Scanner) key(uri, prefix string) string {
	if s.Space == nil {
		return prefix
	}
	return s.Space(uri, prefix)
}

// resolve returns the name of an element.
func (s *Scanner) resolve(raw string) Name {
	n, ok := s.names[raw]
	if !ok {
		n = s.split(raw)
	}
	return Name{Space: s.spaceOf(n.prefix), Local: n.local}
}

// split splits a name and caches it, except that of a root element: a caller that reads
// no further does not need the map.
func (s *Scanner) split(raw string) split {
	if s.Refill != nil {
		raw = strings.Clone(raw) // do not keep the whole piece in memory
	}
	prefix, local, ok := strings.Cut(raw, ":")
	if !ok {
		prefix, local = "", raw
	}
	n := split{prefix, strings.ToLower(local)}
	if len(s.open) == 0 || len(s.names) >= maxNames {
		return n
	}
	if s.names == nil {
		s.names = make(map[string]split)
	}
	s.names[raw] = n
	return n
}

// spaceOf returns the key of a prefix; an undeclared prefix is reported once.
func (s *Scanner) spaceOf(prefix string) string {
	for i := len(s.spaces) - 1; i >= 0; i-- {
		if s.spaces[i].prefix == prefix {
			return s.spaces[i].key
		}
	}
	if prefix == "xml" || prefix == "" {
		return prefix
	}
	if !s.told[prefix] && len(s.told) < 64 {
		if s.told == nil {
			s.told = make(map[string]bool)
		}
		s.told[prefix] = true
		s.fault("undeclared-prefix", s.Offset, s.Raw, "the prefix "+prefix+" is not declared and its usual meaning was used; declare it with xmlns:"+prefix)
	}
	return s.key("", strings.ToLower(prefix))
}

// Attr returns the decoded value of an attribute, or "". It ignores the case of names.
func (s *Scanner) Attr(name string) string {
	v, _ := s.LookupAttr(name)
	return v
}

// LookupAttr is Attr that also reports whether the attribute is there. A prefix is part
// of the name and compared as written.
func (s *Scanner) LookupAttr(name string) (string, bool) {
	for i := range s.Attrs {
		if len(s.Attrs[i].Name) == len(name) && strings.EqualFold(s.Attrs[i].Name, name) {
			s.Attrs[i].read = true
			return charref.String(s.expand(s.Attrs[i].Value, true), true), true
		}
	}
	return "", false
}

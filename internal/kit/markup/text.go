package markup

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/courant-platform/courant/internal/kit/charref"
)

// Text returns the visible text of html in document order: paragraphs are separated by
// one blank line, list items, table rows and line breaks by a line feed, cells by a tab.
// References are decoded and white space is collapsed. Frames give no text.
func Text(html string) string {
	t := writer{scan: scanner{src: legalText(html)}}
	t.out = make([]byte, 0, len(html))
	for kind := t.scan.next(); kind != endOfInput; kind = t.scan.next() {
		switch kind {
		case textToken:
			t.text(t.scan.text)
		case startToken:
			t.start(t.scan.el)
		case endToken:
			t.end(t.scan.el)
		}
	}
	return string(t.out)
}

// The gaps between two pieces of text; the wider one wins.
const (
	noGap = iota
	blankGap
	cellGap
	lineGap
	paragraphGap
)

// writer collects text; a gap is written when more text follows.
type writer struct {
	scan    scanner
	out     []byte
	gap     int
	pre     int // open pre elements
	decoded []byte
}

// widget handles the tag of a widget and reports whether it did. Controls give no text;
// the title of a widget is a paragraph.
func (t *writer) widget(kind string) bool {
	switch kind {
	case "frame", "ad", "share", "callback", "feedback", "form", "search":
		t.scan.skip()
		return true
	case "comments":
		if t.widen(paragraphGap); t.scan.isNext("<a ") { // the link to all comments
			t.scan.next()
			t.scan.skip()
		}
	case "item", "comment", "gallery", "slider", "carousel", "feed":
		t.widen(paragraphGap)
		if title := t.scan.attr("data-title") + t.scan.attr("data-author"); title != "" {
			t.text(string(appendEscapedText(nil, title)))
			t.widen(paragraphGap)
		}
	}
	return false
}

func (t *writer) widen(gap int) { t.gap = max(t.gap, gap) }

func (t *writer) start(el element) {
	switch {
	case el.drop && !el.raw, t.scan.name == "video", t.scan.name == "audio":
		t.scan.skip()
	case t.scan.name == "div" && len(t.scan.atts) > 0 && t.widget(t.scan.attr("data-widget")):
	case t.scan.name == "pre":
		t.pre++
		t.widen(paragraphGap)
	case el.block || t.scan.name == "br":
		t.widen(gapOf(t.scan.name))
	}
}

func (t *writer) end(el element) {
	if t.scan.name == "pre" && t.pre > 0 {
		t.pre--
	}
	if el.block || t.scan.name == "br" {
		t.widen(gapOf(t.scan.name))
	}
}

func gapOf(name string) int {
	switch name {
	case "td", "th":
		return cellGap
	case "li", "dt", "dd", "tr", "br":
		return lineGap
	}
	return paragraphGap
}

// text writes words separated by single spaces; inside pre it writes text unchanged.
func (t *writer) text(s string) {
	if strings.IndexByte(s, '&') >= 0 {
		t.decoded = charref.Append(t.decoded[:0], s, false)
		s = string(t.decoded)
	}
	if t.pre > 0 {
		if strings.TrimSpace(s) != "" || t.gap == noGap {
			t.flushGap()
			t.out = append(t.out, s...)
		}
		return
	}
	for s != "" {
		word := 0
		for word < len(s) && !isBlank(s[word]) {
			word++
		}
		if word > 0 {
			t.flushGap()
			t.out = append(t.out, s[:word]...)
		}
		if s = s[word:]; s != "" {
			t.widen(blankGap)
			s = strings.TrimLeft(s, " \t\n\r\f")
		}
	}
}

// flushGap writes the gap before the next piece, except at the beginning.
func (t *writer) flushGap() {
	if len(t.out) > 0 {
		t.out = append(t.out, [...]string{"", " ", "\t", "\n", "\n\n"}[t.gap]...)
	}
	t.gap = noGap
}

// Plain returns a title as plain text: tags of HTML are dropped, references decoded,
// white space collapsed, characters composed (NFC). A '<' that does not begin a tag of
// HTML stays, and so does the name of an element that the title is about: a start tag
// without attributes whose end tag is missing, as in "How to use <video>".
func Plain(s string) string {
	text, _ := Title(s)
	return text
}

// Title is Plain that also returns the names of the elements that were left out with
// their contents, such as script; see Found.Dropped.
func Title(s string) (text string, dropped []string) {
	if strings.IndexByte(s, '<') >= 0 {
		s, dropped = stripTags(s)
	}
	return Line(charref.String(s, false)), dropped
}

// Line returns text on one line: white space collapsed, controls dropped, NFC.
func Line(s string) string {
	if isLine(s) {
		return s
	}
	s = legalText(s)
	return norm.NFC.String(strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " "))
}

// isLine is a fast check for one line of ASCII without double spaces.
func isLine(s string) bool {
	last := byte(' ')
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c >= 0x7f || c == ' ' && last == ' ' {
			return false
		}
		last = c
	}
	return s == "" || last != ' '
}

// stripTags removes tags, comments and the contents of elements that are not text, which
// it names.
func stripTags(s string) (text string, dropped []string) {
	sc := scanner{src: s}
	out := make([]byte, 0, len(s))
	for sc.pos < len(s) {
		at := sc.pos
		switch kind := sc.next(); {
		case kind == textToken && len(out) == 0:
			out = append(out, strings.TrimLeft(sc.text, " \t\r\n\f")...)
		case kind == textToken:
			out = append(out, sc.text...)
		case kind == endOfInput && isTagStart(s[at:]), kind != endOfInput && !sc.el.known:
			out = append(out, s[at:sc.pos]...) // not a tag of HTML, or one without an end
		case kind == startToken && sc.mentioned(at, out):
			out = append(out, s[at:sc.pos]...)
		case kind == startToken && sc.el.drop:
			dropped = addName(dropped, sc.name)
			if !sc.el.raw {
				sc.skip()
			}
		case kind == startToken && (sc.name == "img" || sc.name == "iframe"):
			dropped = addName(dropped, sc.name)
		case len(out) > 0 && (sc.el.block || sc.name == "br"):
			out = append(out, ' ')
		}
	}
	return string(out), dropped
}

// addName appends a name unless it is in the list or the list is full.
func addName(list []string, name string) []string {
	if len(list) >= maxDropped || slices.Contains(list, name) {
		return list
	}
	return append(list, strings.Clone(name))
}

// mentioned reports whether the start tag at an offset is only the name of an element
// within a sentence; that of a block must come after a blank. Then the scanner continues
// after the tag. before is the text before it, without white space at its beginning.
func (s *scanner) mentioned(at int, before []byte) bool {
	if len(s.atts) > 0 || s.shut() {
		return false
	}
	pos := s.pos
	s.pos = at + strings.IndexByte(s.src[at:], '>') + 1 // raw text has been skipped
	said := !s.closes(s.name) && (!s.el.block && !impliesEnd(s.name) || len(before) > 0 && isBlank(before[len(before)-1]))
	if said {
		return true
	}
	s.pos = pos
	return false
}

// impliesEnd reports whether the end tag of an element is often missing in titles.
func impliesEnd(name string) bool {
	switch name {
	case "br", "wbr", "hr", "p", "img", "li", "dt", "dd", "tr", "td", "th":
		return true
	}
	return false
}

// legalText removes invalid UTF-8, controls and noncharacters, and converts line ends
// to line feeds.
func legalText(s string) string {
	if utf8.ValidString(s) && !hasControl(s) {
		return s
	}
	b := make([]byte, 0, len(s))
	for i, r := range s {
		switch {
		case r == '\r':
			if i+1 < len(s) && s[i+1] == '\n' {
				continue
			}
			r = '\n'
		case r < ' ' && r != '\t' && r != '\n', r == 0x7f, r&0xfffe == 0xfffe:
			continue
		}
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}

// hasControl reports whether legalText has anything to remove. It tests eight bytes at a
// time, then each byte if one may be a control or the lead byte 0xEF.
func hasControl(s string) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		if suspicious(w) && controlIn(s, i, i+8) {
			return true
		}
	}
	return controlIn(s, i, len(s))
}

// suspicious reports whether one of eight bytes is below ' ', or 0x7F, or 0xEF.
func suspicious(w uint64) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	del, lead := w^(0x7f*ones), w^(0xef*ones)
	return ((w-' '*ones)&^w|(del-ones)&^del|(lead-ones)&^lead)&high != 0
}

func controlIn(s string, from, to int) bool {
	for i := from; i < to; i++ {
		c := s[i]
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return true
		}
		if c == 0xef && i+2 < len(s) && s[i+1] == 0xbf && s[i+2] >= 0xbe {
			return true
		}
	}
	return false
}

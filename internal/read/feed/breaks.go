package feed

import (
	"strings"
	"unicode/utf8"
)

// textHTML converts text to HTML: empty lines separate paragraphs, line breaks stay.
func textHTML(s string) string { return breaks(escaped(s), false) }

// paragraphs is textHTML for text in XML, which programs may have wrapped.
func paragraphs(s string) string { return breaks(escaped(s), true) }

// withBreaks is paragraphs for HTML that may be plain text. HTML with a tag stays as it
// is: in HTML line breaks are white space.
func withBreaks(html string) string {
	if strings.IndexByte(html, '\n') < 0 && strings.IndexByte(html, '\r') < 0 || hasTags(html) {
		return html
	}
	return breaks(html, true)
}

// breaks writes the paragraphs and line breaks of text that is escaped already. If wrap
// is set, paragraphs that look wrapped at a fixed width become one line.
func breaks(s string, wrap bool) string {
	if s = strings.TrimSpace(s); strings.IndexByte(s, '\r') >= 0 {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	if strings.IndexByte(s, '\n') < 0 {
		return s
	}
	var parts []string
	var lines []string
	end := func() {
		if len(lines) == 0 {
			return
		}
		separator := "<br>"
		if wrap && isWrapped(lines) {
			separator = "\n"
		}
		parts = append(parts, strings.Join(lines, separator))
		lines = lines[:0]
	}
	for l := range strings.SplitSeq(s, "\n") {
		if l = strings.TrimSpace(l); l == "" {
			end()
			continue
		}
		lines = append(lines, l)
	}
	if end(); len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return "<p>" + strings.Join(parts, "</p><p>") + "</p>"
}

// The widths in characters at which programs and people wrap text.
const (
	minWidth = 60
	maxWidth = 100
)

// isWrapped reports whether the lines of a paragraph are filled: there are at least four,
// and the first word of each would not have fitted into the line before it.
func isWrapped(lines []string) bool {
	const least = 4
	width := 0
	for _, l := range lines {
		width = max(width, utf8.RuneCountInString(l))
	}
	if len(lines) < least || width < minWidth || width > maxWidth {
		return false
	}
	for i := 1; i < len(lines); i++ {
		word, _, _ := strings.Cut(lines[i], " ")
		if utf8.RuneCountInString(lines[i-1])+1+utf8.RuneCountInString(word) <= width {
			return false
		}
	}
	return true
}

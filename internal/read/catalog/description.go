package catalog

import (
	"strings"

	"github.com/courant-platform/courant/internal/kit/charref"
)

// description returns clean HTML. Text without paragraphs keeps its line breaks; markup
// that was escaped twice is decoded.
func (r *reader) description(html string) string {
	if html = trimmed(html); html == "" {
		return ""
	}
	if len(html) > maxDescription {
		r.here("too-long", "the description is longer than 64 KiB and its end was left out; shorten it")
		html = strings.ToValidUTF8(html[:maxDescription], "")
	}
	if strings.IndexByte(html, '&') >= 0 {
		html = markupOnce(html)
	}
	if (strings.IndexByte(html, '\n') >= 0 || strings.IndexByte(html, '\r') >= 0) && !hasBlock(html) {
		html = breakLines(html)
	}
	r.buffer, _ = r.clean.Append(r.buffer[:0], html)
	return strings.TrimSpace(string(r.buffer))
}

// markupOnce decodes HTML that was escaped twice: tags, if there is none that was not,
// and references such as &amp;nbsp;.
func markupOnce(html string) string {
	if strings.Contains(html, "&lt;") && !hasTag(html) {
		if plain := charref.String(html, true); hasTag(plain) {
			html = plain
		}
	}
	const amp = "&amp;"
	if !strings.Contains(html, amp) {
		return html
	}
	var out []byte
	for {
		at := strings.Index(html, amp)
		if at < 0 {
			return string(append(out, html...))
		}
		out = append(out, html[:at+1]...)
		html = html[at+1:]
		if isReference(html[len(amp)-1:]) {
			html = html[len(amp)-1:]
		}
	}
}

// isReference reports whether text is the rest of a reference after its "&", such as
// "nbsp;" or "#39;".
func isReference(text string) bool {
	end := strings.IndexByte(text[:min(len(text), 12)], ';')
	if end < 1 {
		return false
	}
	_, _, n := charref.Decode("&"+text[:end+1], true)
	return n == end+2
}

// hasBlock reports whether HTML has paragraphs, line breaks, lists or tables.
func hasBlock(html string) bool {
	return hasElement(html, func(name string) bool {
		switch name {
		case "p", "br", "div", "ul", "ol", "li", "dl", "dt", "dd", "table", "tr", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "blockquote",
			"pre", "section", "article", "center":
			return true
		}
		return false
	})
}

// hasTag reports whether HTML has an element that descriptions use.
func hasTag(html string) bool {
	return hasBlock(html) || hasElement(html, func(name string) bool {
		switch name {
		case "b", "strong", "i", "em", "u", "span", "font", "a", "img", "small", "sup", "sub":
			return true
		}
		return false
	})
}

// hasElement reports whether HTML has a tag with a name that is wanted.
func hasElement(html string, wanted func(name string) bool) bool {
	const longest = len("blockquote")
	for {
		at := strings.IndexByte(html, '<')
		if at < 0 {
			return false
		}
		html = strings.TrimPrefix(html[at+1:], "/")
		end := 0
		for end < min(len(html), longest) && isAlnum(html[end]) {
			end++
		}
		if wanted(strings.ToLower(html[:end])) {
			return true
		}
	}
}

func isAlnum(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// breakLines writes the line breaks outside of tags as br.
func breakLines(html string) string {
	out := make([]byte, 0, len(html)+64)
	tag, last := false, strings.LastIndexByte(html, '>')
	for i := range len(html) {
		switch c := html[i]; {
		case c == '<' && i < last && (html[i+1]|0x20 >= 'a' && html[i+1]|0x20 <= 'z' || html[i+1] == '/' || html[i+1] == '!'):
			tag = true
			out = append(out, c)
		case tag:
			tag = c != '>'
			out = append(out, c)
		case c == '\n', c == '\r' && (i+1 == len(html) || html[i+1] != '\n'):
			out = append(out, "<br>"...)
		case c != '\r':
			out = append(out, c)
		}
	}
	return string(out)
}

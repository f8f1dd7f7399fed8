package feed

import (
	"encoding/base64"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/courant-platform/courant/internal/kit/charref"
)

// atomMarkup reads a text construct as HTML. It returns base, which its addresses are
// relative to unless elements in it have a base of their own.
func (r *reader) atomMarkup(base string) (html, _ string) {
	kind, encoded := r.textKind()
	switch {
	case kind == "xhtml":
		r.inline = firstOf(base, r.opt.URL)
		return unwrap(r.scan.InnerXHTML(atomStop)), base
	case encoded:
		return r.encodedMarkup(kind), base
	case kind == "html":
		return r.scan.Inner(atomStop), base
	case kind == "text" || strings.HasPrefix(kind, "text/"):
		return paragraphs(r.scan.Inner(atomStop)), base
	}
	r.scan.Skip(atomStop)
	r.here("unknown-type", "text of the type "+strconv.Quote(bounded(kind))+" cannot be shown and was left out; use text, html or xhtml")
	return "", base
}

// encodedMarkup reads text whose type says that it is in base64. If it is not, it is read
// as what it looks like.
func (r *reader) encodedMarkup(kind string) string {
	text := r.scan.Inner(atomStop)
	decoded, ok := decodeBase64(text, kind)
	switch {
	case strings.TrimSpace(text) == "":
	case !ok && hasTags(text):
		r.here("unknown-type", "the text should be in base64 because of its type but is not, and was read as html; use text, html or xhtml")
		return text
	case !ok:
		r.here("unknown-type", "the text should be in base64 because of its type but is not, and was read as text; use text, html or xhtml")
		return paragraphs(text)
	case decoded == "":
		r.here("unknown-type", "the text is in base64 and holds data of the type "+strconv.Quote(bounded(kind))+", which cannot be shown, and was left out; publish the data as a file and link to it")
	}
	return decoded
}

// guessed returns the type of a text construct whose declared type is unknown: xhtml if
// an element comes first, html if there are tags, else text.
func (r *reader) guessed(kind string) string {
	rest := strings.TrimLeft(r.scan.Rest()[:min(len(r.scan.Rest()), guessWindow)], " \t\r\n")
	guess := "text"
	switch {
	case len(rest) > 1 && rest[0] == '<' && rest[1] != '!' && rest[1] != '/' && rest[1] != '?':
		guess = "xhtml"
	case hasTags(rest[:textEnd(rest)]), strings.Contains(rest[:textEnd(rest)], "&lt;/"), strings.Contains(rest[:textEnd(rest)], "&lt;br"), strings.Contains(rest[:textEnd(rest)], "&lt;p"):
		guess = "html"
	}
	r.here("unknown-type", "the type "+strconv.Quote(bounded(kind))+" is not one of text, html and xhtml, and the text was read as "+guess+"; declare its type")
	return guess
}

// guessWindow is how many bytes of a text guessed looks at.
const guessWindow = 4 << 10

// textEnd returns the offset of the end tag after a text or a CDATA section.
func textEnd(s string) int {
	from := 0
	if strings.HasPrefix(s, "<![CDATA[") {
		if from = strings.Index(s, "]]>"); from < 0 {
			return len(s)
		}
	}
	if n := strings.Index(s[from:], "</"); n >= 0 {
		return from + n
	}
	return len(s)
}

// hasTags reports whether text has a tag of HTML.
func hasTags(s string) bool {
	for i := strings.IndexByte(s, '<'); i >= 0; {
		rest := s[i+1:]
		if rest != "" && (rest[0]|0x20 >= 'a' && rest[0]|0x20 <= 'z' || rest[0] == '/' || rest[0] == '!') && strings.IndexByte(rest, '>') > 0 {
			return true
		}
		n := strings.IndexByte(rest, '<')
		if n < 0 {
			return false
		}
		i += n + 1
	}
	return false
}

// textKind returns the type of a text construct (text, html, xhtml or a media type)
// and whether it is in base64. Atom 0.3 declares it with mode.
func (r *reader) textKind() (kind string, encoded bool) {
	declared, _, _ := strings.Cut(strings.ToLower(r.scan.Attr("type")), ";")
	kind = strings.TrimSpace(declared)
	switch strings.ToLower(strings.TrimSpace(r.scan.Attr("mode"))) {
	case "base64":
		return htmlKind(kind), true
	case "escaped":
		return htmlKind(kind), false
	case "xml":
		return "xhtml", false
	}
	switch {
	case kind == "" && r.out.Format == "atom03":
		return "xhtml", false // its default mode is xml
	case kind == "" || kind == "text" || kind == "text/plain":
		return "text", false
	case kind == "xhtml" || kind == "application/xhtml+xml":
		return "xhtml", false
	case kind == "html" || kind == "text/html":
		return "html", false
	case strings.Contains(kind, "html"), !strings.Contains(kind, "/"):
		return r.guessed(kind), false
	case strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "/xml"):
		return kind, false
	case strings.HasPrefix(kind, "text/"):
		return kind, false
	}
	return kind, true
}

// htmlKind treats every HTML type, and a missing type, as html: Atom 0.3 feeds that
// escape their text rarely declare its type.
func htmlKind(kind string) string {
	if kind == "" || strings.Contains(kind, "html") {
		return "html"
	}
	return kind
}

// minBase64 is the shortest line of base64 that is written on several lines.
const minBase64 = 20

// octets is the type of data of any kind.
const octets = "application/octet-stream"

// decodeBase64 returns the decoded text as HTML, or "" if the type is not text. ok is
// false if the text is not in base64.
func decodeBase64(s, kind string) (html string, ok bool) {
	lines := strings.Fields(s)
	if len(lines) > 1 && len(lines[0]) < minBase64 {
		return "", false // words
	}
	s = strings.Join(lines, "")
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		b, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	}
	text := strings.Map(charref.Printable, strings.ToValidUTF8(string(b), "\uFFFD"))
	switch {
	case err != nil || kind == octets && len(s) < minBase64 && !utf8.Valid(b):
		return "", false
	case kind == "html" || strings.Contains(kind, "html"):
		return text, true
	case strings.HasPrefix(kind, "text"):
		return paragraphs(text), true
	case kind == octets && utf8.Valid(b) || kind == "":
		return text, true
	}
	return "", true
}

// escaped converts plain text to HTML.
func escaped(s string) string { return html.EscapeString(s) }

// atomNote reads a text construct as clean HTML; its addresses are relative to base.
func (r *reader) atomNote(base string) string {
	html, base := r.atomMarkup(base)
	return r.note(html, base)
}

// note cleans a short text, such as a description or rights.
func (r *reader) note(html, base string) string {
	html = strings.TrimSpace(html)
	if len(html) > 4*maxLine {
		r.here("too-long", "the text is longer than 16 KiB and its end was left out; shorten it")
		html = strings.ToValidUTF8(html[:4*maxLine], "")
	}
	out, _ := r.cleaned(piece{html: html}, base)
	return out
}

// atomText reads a text construct as one line of plain text.
func (r *reader) atomText() string {
	switch kind, encoded := r.textKind(); {
	case encoded:
		return r.plain(r.encodedMarkup(kind))
	case kind == "xhtml":
		return r.plain(r.scan.InnerXHTML(atomStop))
	case kind == "html":
		return r.plain(r.scan.Inner(atomStop))
	}
	return line(r.scan.Inner(atomStop))
}

// unwrap removes the div that must enclose xhtml content.
func unwrap(s string) string {
	s = strings.TrimSpace(s)
	open := strings.IndexByte(s, '>')
	if !strings.HasPrefix(s, "<div") || !strings.HasSuffix(s, "</div>") || open < 0 || open+1 > len(s)-len("</div>") {
		return s
	}
	inner := s[open+1 : len(s)-len("</div>")]
	depth := 0
	for rest := inner; ; {
		i := strings.Index(rest, "div")
		if i < 0 {
			return inner
		}
		switch {
		case strings.HasSuffix(rest[:i], "</"):
			depth--
		case strings.HasSuffix(rest[:i], "<"):
			depth++
		}
		if depth < 0 {
			return s // the last end tag is that of another div
		}
		rest = rest[i+3:]
	}
}

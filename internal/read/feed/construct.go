package feed

import (
	"encoding/base64"
	"html"
	"strings"

	"github.com/courant-platform/courant/internal/kit/charref"
	"github.com/courant-platform/courant/internal/kit/markup"
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
		return decodeBase64(r.scan.Inner(atomStop), kind), base
	case kind == "html":
		return r.scan.Inner(atomStop), base
	case strings.HasPrefix(kind, "text/") || kind == "text":
		return escaped(r.scan.Inner(atomStop)), base
	}
	r.scan.Skip(atomStop)
	return "", base
}

// textKind returns the type of a text construct (text, html, xhtml or a media type)
// and whether it is in base64. Atom 0.3 declares it with mode.
func (r *reader) textKind() (kind string, encoded bool) {
	kind = strings.ToLower(strings.TrimSpace(r.scan.Attr("type")))
	switch strings.ToLower(r.scan.Attr("mode")) {
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
	case kind == "" || kind == "text":
		return "text", false
	case kind == "xhtml" || kind == "application/xhtml+xml":
		return "xhtml", false
	case kind == "html" || kind == "text/html":
		return "html", false
	case strings.HasPrefix(kind, "text/"):
		return kind, false
	case strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "/xml"):
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

// decodeBase64 returns the decoded text as HTML, or "" if the type is not text.
func decodeBase64(s, kind string) string {
	s = strings.Join(strings.Fields(s), "")
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		b, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	}
	text := strings.Map(charref.Printable, strings.ToValidUTF8(string(b), "\uFFFD"))
	switch {
	case err != nil:
		return ""
	case kind == "html" || strings.Contains(kind, "html"):
		return text
	case strings.HasPrefix(kind, "text"):
		return escaped(text)
	case kind == "application/octet-stream" || kind == "":
		return text
	}
	return ""
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
		return plain(decodeBase64(r.scan.Inner(atomStop), kind))
	case kind == "xhtml":
		return line(markup.Text(r.scan.InnerXHTML(atomStop)))
	case kind == "html":
		return plain(r.scan.Inner(atomStop))
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

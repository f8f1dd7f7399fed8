package markup

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/courant-platform/courant/internal/kit/charref"
)

// maxValue is the limit of free text in an attribute, in bytes.
const maxValue = 4096

// attributes writes the allowed attributes of the current tag in an order that depends
// only on the element, and reports whether the element keeps its tag.
func (c *Cleaner) attributes(out string) bool {
	if c.scan.name == "form" {
		c.dst = append(c.dst, ` data-widget="form"`...)
		return true
	}
	if len(c.scan.atts) == 0 {
		return out != "a"
	}
	switch out {
	case "a":
		if !c.href() {
			return false
		}
	case "td", "th":
		c.number("colspan", 1000)
		c.number("rowspan", 1000)
	case "col", "colgroup":
		c.number("span", 1000)
	case "ol":
		c.listType()
		c.number("start", 1<<31-1)
		c.flag("reversed")
	case "li":
		c.number("value", 1<<31-1)
	case "time", "del", "ins":
		c.textAttr("datetime")
	case "details":
		c.flag("open")
	case "div":
		c.widget()
	case "span":
		if c.scan.attr("data-widget") == "button" {
			c.ownWidget("button")
		}
	}
	c.textAttr("title")
	c.textAttr("lang")
	c.direction()
	return true
}

// href writes the address of a link and reports whether there is one.
func (c *Cleaner) href() bool {
	raw, ok := c.scan.lookupAttr("href")
	if !ok {
		return false
	}
	kind, _ := c.scan.lookupAttr("data-widget")
	widget := kind == "button" || kind == "contact"
	url := c.address(raw)
	switch {
	case url != "":
	case widget:
		url = reach(raw)
	default:
		url = contact(raw)
	}
	if url != "" && c.Link != nil {
		url = c.Link(url)
	}
	if url == "" {
		return false
	}
	c.put("href", url)
	if widget {
		c.ownWidget(kind)
	}
	return true
}

// address returns an absolute http or https address, or "".
func (c *Cleaner) address(raw string) string {
	if raw == "" || len(raw) > 1<<16 {
		return ""
	}
	if strings.Contains(raw, "&amp;") {
		raw = strings.ReplaceAll(raw, "&amp;", "&") // escaped twice: no address contains it
	}
	return c.base.Resolve(raw)
}

// contact returns a mailto: or tel: link, or "" for other links and for those with
// spaces or controls.
func contact(raw string) string {
	raw = strings.TrimSpace(raw)
	if len(raw) < 8 && !strings.HasPrefix(lower(raw), "tel:") || len(raw) > maxValue {
		return ""
	}
	if head := strings.ToLower(raw[:min(len(raw), 7)]); head != "mailto:" && head[:4] != "tel:" {
		return ""
	}
	for i := range len(raw) {
		if raw[i] <= ' ' || raw[i] == 0x7f {
			return ""
		}
	}
	return raw
}

// reach is contact for widgets: exactly one mail address or telephone number, without a
// subject or body.
func reach(raw string) string {
	scheme, to, _ := strings.Cut(strings.TrimSpace(raw), ":")
	switch lower(scheme) {
	case "mailto":
		if isMail(to) {
			return "mailto:" + to
		}
	case "tel":
		to = strings.ReplaceAll(to, " ", "")
		if strings.Trim(to, "0123456789+-()") == "" && strings.ContainsAny(to, "0123456789") && len(to) <= maxPhone {
			return "tel:" + to
		}
	}
	return ""
}

const (
	maxMail  = 254
	maxPhone = 40
)

// isMail reports whether text is one mail address of characters that all programs
// accept unquoted.
func isMail(text string) bool {
	name, host, ok := strings.Cut(text, "@")
	if !ok || name == "" || host == "" || len(text) > maxMail || strings.Contains(host, "@") {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r == 0x7f || strings.ContainsRune(`:?&,;%<>"'()[]\/#`, r) || unicode.IsSpace(r)
	})
}

// put writes an attribute.
func (c *Cleaner) put(name, value string) {
	c.dst = append(append(append(c.dst, ' '), name...), `="`...)
	c.dst = append(appendEscaped(c.dst, value), '"')
}

// textAttr keeps an attribute that is free text.
func (c *Cleaner) textAttr(name string) {
	v, ok := c.scan.lookupAttr(name)
	if !ok {
		return
	}
	if v = strings.TrimSpace(v); v == "" || len(v) > maxValue || name == "lang" && !isLanguage(v) {
		return
	}
	c.put(name, v)
}

// number keeps an attribute that is a number of at most most.
func (c *Cleaner) number(name string, most int) {
	if v, ok := c.scan.lookupAttr(name); ok {
		if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil && n >= 0 && n <= most {
			c.put(name, strconv.Itoa(n))
		}
	}
}

// flag keeps an attribute without its value.
func (c *Cleaner) flag(name string) {
	if _, ok := c.scan.lookupAttr(name); ok {
		c.dst = append(append(append(c.dst, ' '), name...), `=""`...)
	}
}

// listType keeps the style of a list's numbers.
func (c *Cleaner) listType() {
	switch v := c.scan.attr("type"); v {
	case "1", "a", "A", "i", "I":
		c.put("type", v)
	}
}

func (c *Cleaner) direction() {
	switch v := strings.ToLower(c.scan.attr("dir")); v {
	case "ltr", "rtl", "auto":
		c.put("dir", v)
	}
}

// widget keeps the attributes of a widget: what used to be a frame, a form or another
// control.
func (c *Cleaner) widget() {
	if v, ok := c.scan.lookupAttr("data-widget"); ok && isWidget(v) {
		c.ownWidget(v)
	}
}

func isLanguage(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && c != '-' && (c < '0' || c > '9') {
			return false
		}
	}
	return len(s) < 36
}

// appendEscaped writes an attribute's value, escaped.
func appendEscaped(dst []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; c {
		case '&':
			dst = append(dst, "&amp;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		case '"':
			dst = append(dst, "&#34;"...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// appendText writes text with undecoded references: it decodes them and escapes the
// characters of markup again.
func appendText(dst []byte, s string) []byte {
	if strings.IndexByte(s, '&') < 0 && strings.IndexByte(s, '>') < 0 && strings.IndexByte(s, '<') < 0 {
		return append(dst, s...)
	}
	from := 0
	for i := 0; i < len(s); {
		n := 1
		switch s[i] {
		case '<':
			dst = append(append(dst, s[from:i]...), "&lt;"...)
		case '>':
			dst = append(append(dst, s[from:i]...), "&gt;"...)
		case '&':
			dst, n = appendReference(append(dst, s[from:i]...), s[i:])
		default:
			i++
			continue
		}
		i += n
		from = i
	}
	return append(dst, s[from:]...)
}

// appendReference decodes a reference and returns its length.
func appendReference(dst []byte, s string) ([]byte, int) {
	r, second, n := charref.Decode(s, false)
	if n == 0 {
		return append(dst, "&amp;"...), 1
	}
	switch r {
	case '&':
		dst = append(dst, "&amp;"...)
	case '<':
		dst = append(dst, "&lt;"...)
	case '>':
		dst = append(dst, "&gt;"...)
	default:
		dst = charref.AppendRune(charref.AppendRune(dst, r), second)
	}
	return dst, n
}

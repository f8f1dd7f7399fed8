package catalog

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// text returns the rest of the current element as one line of plain text. References
// are decoded once; what looks like a tag after that is text.
func (r *reader) text() string {
	text := strings.TrimSpace(r.inner())
	if len(text) > maxLine {
		r.here("too-long", "the text is longer than 4,096 bytes and its end was left out; shorten it")
	}
	return line(text)
}

// identifier reads the rest of the current element as an id and shortens it to
// courant.MaxID.
func (r *reader) identifier() string {
	text := strings.TrimSpace(r.inner())
	if len(text) > courant.MaxID {
		r.here("too-long", "the id is longer than 512 bytes and was shortened to its beginning and a digest; shorten it")
	}
	return line(courant.ShortID(text))
}

func (r *reader) inner() string {
	if r.merchant {
		return r.scan.Inner(isItemChild)
	}
	return r.scan.Inner(isOfferChild)
}

// isOfferChild reports whether an element ends a text whose end tag is missing.
func isOfferChild(n xmlscan.Name) bool {
	switch n.Local {
	case "offer", "url", "price", "oldprice", "currencyid", "categoryid", "picture", "vendor", "vendorcode", "model", "name",
		"typeprefix", "description", "barcode":
		return n.Space == ""
	}
	return false
}

func isItemChild(n xmlscan.Name) bool { return isItem(n) || n.Space == "g" }

// stop returns the test for elements that end one whose end tag is missing.
func (r *reader) stop() func(xmlscan.Name) bool {
	if r.merchant {
		return isItem
	}
	return isOffer
}

func isOffer(n xmlscan.Name) bool { return n.Local == "offer" && n.Space == "" }

// isItem accepts an item in the namespace of products, which is the default one of some
// feeds.
func isItem(n xmlscan.Name) bool {
	return (n.Space == "" || n.Space == "g") && (n.Local == "item" || n.Local == "entry")
}

// line collapses text into one line of at most maxLine bytes.
func line(s string) string {
	if len(s) > maxLine {
		s = strings.ToValidUTF8(s[:maxLine], "")
	}
	s = strings.Trim(s, " \t\r\n")
	if isLine(s) {
		return s
	}
	return markup.Line(s)
}

// isLine is a fast check that text is one line and has no letters with several
// normal forms: only ASCII, most of Latin, Greek and Cyrillic. It may return false
// for such text, but never true for other text.
func isLine(s string) bool {
	blank := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ' ' && blank, c < ' ', c == 0x7f:
			return false
		case c < 0x80:
			blank = c == ' '
		case c < 0xc3, c > 0xc9 && c < 0xce, c > 0xd3:
			return false
		default:
			blank = false
			i++ // its second byte
		}
	}
	return true
}

// address resolves a link of the catalogue, or returns "" with a warning.
func (r *reader) address(ref string) string {
	ref = strings.TrimSpace(ref)
	if ref == "" {
		return ""
	}
	if isAbsolute(ref) && len(ref) <= link.MaxLength {
		return ref
	}
	out := link.Resolve(r.opt.URL, ref)
	if out == "" {
		r.here("bad-link", "this is not an address; write it in full, beginning with http:// or https://")
	}
	return out
}

// isAbsolute is a fast check for plain absolute addresses; it may miss some.
func isAbsolute(ref string) bool {
	rest, ok := strings.CutPrefix(ref, "http")
	if !ok {
		return false
	}
	rest, ok = strings.CutPrefix(strings.TrimPrefix(rest, "s"), "://")
	if !ok || rest == "" {
		return false
	}
	slash := strings.IndexByte(rest, '/')
	for i := range len(rest) {
		switch c := rest[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '.' && slash > 0:
		case i > slash && slash > 0 && (c >= 'A' && c <= 'Z' || strings.IndexByte("/_=&?%~+,;", c) >= 0):
		default:
			return false
		}
	}
	return slash > 0 && !strings.Contains(rest, "/.")
}

// description returns clean HTML; text without tags keeps its line breaks.
func (r *reader) description(html string) string {
	html = strings.Trim(html, " \t\r\n")
	if html == "" {
		return ""
	}
	if len(html) > maxDescription {
		r.here("too-long", "the description is longer than 64 KiB and its end was left out; shorten it")
		html = strings.ToValidUTF8(html[:maxDescription], "")
	}
	if strings.IndexByte(html, '<') < 0 && strings.IndexByte(html, '\n') >= 0 {
		html = strings.ReplaceAll(strings.ReplaceAll(html, "\r", ""), "\n", "<br>")
	}
	r.buffer, _ = r.clean.Append(r.buffer[:0], html)
	return strings.TrimSpace(string(r.buffer))
}

// price returns a decimal number with a point and no spaces, or "" with a warning.
func (r *reader) price(text string) string {
	p, ok := decimal(text)
	if !ok {
		r.here("bad-price", "this is not a price; write digits with a decimal point, like 1299.90")
	}
	return p
}

// decimal reads a number as people write it: the decimal mark may be a comma, and
// spaces or marks may separate groups of digits, such as thousands. It refuses marks
// in other places, because the number would be ambiguous.
func decimal(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if isDecimal(text) || text == "" {
		return text, true
	}
	text = blanks.Replace(text)
	if n, ok := ungrouped(text); ok {
		return n, isDecimal(n)
	}
	at := strings.LastIndexAny(text, ".,")
	if at < 0 {
		return "", false
	}
	whole, mark, part := text[:at], text[at:at+1], text[at+1:]
	if n, ok := ungrouped(whole); ok && !strings.Contains(whole, mark) {
		whole = n
	}
	if whole == "" {
		whole = "0"
	}
	if part != "" {
		whole += "." + part
	}
	if !isDecimal(whole) || at == 0 && part == "" {
		return "", false
	}
	return whole, true
}

var blanks = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ", "\u2019", "'")

// ungrouped removes the marks between groups of digits. Groups have three digits; the
// first may be shorter, and with commas the groups between the first and the last may
// have two, as in India.
func ungrouped(text string) (string, bool) {
	at := strings.IndexAny(text, " ',.")
	if at < 1 || at > 3 || text[0] == '0' {
		return "", false
	}
	mark := text[at : at+1]
	groups := strings.Split(text, mark)
	for i, g := range groups[1:] {
		last := i == len(groups)-2
		if len(g) != 3 && (len(g) != 2 || mark != "," || last) || strings.Trim(g, "0123456789") != "" {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}

// isDecimal reports whether s is digits with at most one point between them.
func isDecimal(s string) bool {
	point := false
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
		case c == '.' && !point && i > 0 && i < len(s)-1:
			point = true
		default:
			return false
		}
	}
	return s != "" && len(s) <= 32
}

// yes reads a boolean.
func yes(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "1", "yes", "y", "да":
		return true
	}
	return false
}

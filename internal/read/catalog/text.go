package catalog

import (
	"net/url"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/charref"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// text returns the rest of the current element as one line of plain text; what looks
// like a tag after decoding is text.
func (r *reader) text() string {
	text := trimmed(r.inner())
	if len(text) > maxLine {
		r.here("too-long", "the text is longer than 4,096 bytes and its end was left out; shorten it")
	}
	return line(decoded(text))
}

// attr is an attribute as plain text that outlives its piece of the document.
func (r *reader) attr(name string) string {
	text := line(decoded(r.scan.Attr(name)))
	var b bounds
	b.cut(maxName, &text)
	r.tooLong(b)
	return strings.Clone(text)
}

// decoded decodes plain text once more if it was escaped twice, or escaped inside CDATA:
// if each "&" in it begins a reference like &quot; or &#39;.
func decoded(text string) string {
	at := strings.IndexByte(text, '&')
	if at < 0 {
		return text
	}
	for rest := text; at >= 0; at = strings.IndexByte(rest, '&') {
		_, _, n := charref.Decode(rest[at:], true)
		if n == 0 || rest[at+n-1] != ';' {
			return text
		}
		rest = rest[at+n:]
	}
	return charref.String(text, true)
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

// isItemChild is isOfferChild for product feeds.
func isItemChild(n xmlscan.Name) bool {
	return isItem(n) || n.Space == "g" && (isMark(n.Local) || n.Local == "title" || n.Local == "link" || n.Local == "description")
}

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
	if s = trimmed(s); isLine(s) {
		return s
	}
	return markup.Line(s)
}

// trimmed is text without the blanks around it.
func trimmed(s string) string {
	if s == "" || s[0] > ' ' && s[len(s)-1] > ' ' {
		return s
	}
	return strings.Trim(s, " \t\r\n")
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

// address resolves a link of the catalogue, or returns "" with a warning. An address that
// is escaped twice, or percent-encoded as a whole, is decoded.
func (r *reader) address(ref string) string {
	ref = strings.TrimSpace(ref)
	if ref == "" {
		return ""
	}
	const scheme = len("https://")
	if strings.IndexByte(ref, ';') >= 0 || !strings.Contains(ref[:min(len(ref), scheme)], "://") {
		ref = plainAddress(ref)
	}
	out := link.Resolve(r.opt.URL, ref)
	if out == "" {
		r.here("bad-link", "this is not an address; write it in full, beginning with http:// or https://")
	}
	return out
}

// assumeBase resolves relative addresses against the address of the shop, if nobody knows
// where the document comes from.
func (r *reader) assumeBase(shop string) {
	if r.opt.URL == "" && shop != "" {
		r.opt.URL, r.clean.Base = shop, shop
	}
}

// plainAddress decodes an address up to three times: no parameter has a name like amp;
// and no scheme has a percent sign.
func plainAddress(ref string) string {
	for range 3 {
		next := charref.String(ref, true)
		if isEncoded(next) {
			if plain, err := url.PathUnescape(next); err == nil {
				next = plain
			}
		}
		if next == ref {
			break
		}
		ref = next
	}
	return ref
}

// isEncoded reports whether the beginning of an address, http:// or https://, is
// percent-encoded, once or more often.
func isEncoded(ref string) bool {
	const longest = len("https%25253a")
	head := strings.ToLower(ref[:min(len(ref), longest)])
	head, ok := strings.CutPrefix(head, "http")
	head = strings.TrimPrefix(strings.TrimPrefix(head, "s"), ":")
	return ok && (strings.HasPrefix(head, "%3a") || strings.HasPrefix(head, "%25") || strings.HasPrefix(head, "%2f"))
}

// yes reads a boolean.
func yes(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "1", "yes", "y", "да":
		return true
	}
	return false
}

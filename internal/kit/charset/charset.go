// Package charset converts the bytes of a document to UTF-8. It trusts a declared
// encoding only if the bytes agree with it. It never fails: invalid bytes become
// U+FFFD, and characters that XML forbids are dropped. Clean UTF-8 is not copied.
package charset

import (
	"bytes"
	"encoding/binary"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode/utf32"
)

// Decode returns body as UTF-8 and the WHATWG name of its real encoding in lower case.
// healed reports that the encoding differs from the declared one (UTF-8 by default),
// that bytes were replaced, that characters were dropped, or that C1 controls were
// replaced by the characters that they stand for in windows-1252. The encoding is taken from
// the byte order mark, the charset of contentType, the declaration in the text, or the
// bytes themselves, in this order.
func Decode(body []byte, contentType string) (text []byte, name string, healed bool) {
	if name, skip := mark(body); name != "" {
		text, bad := convert(body[skip:], name)
		text, dropped := legal(text)
		text, mended := printable(text)
		return text, name, bad || dropped || mended || contradicts(text, contentType, name)
	}
	declared := label(contentType)
	if declared == "" {
		declared = declaration(body)
	}
	name, sound := choose(body, declared)
	text, bad := body, false
	if !sound {
		text, bad = convert(body, name)
	}
	text, dropped := legal(text)
	text, mended := printable(text)
	return text, name, bad || dropped || mended || name != declared && (declared != "" || name != "utf-8")
}

// contradicts reports whether a document in UTF-16 or UTF-32 declares another encoding.
// head is its decoded beginning.
func contradicts(head []byte, contentType, name string) bool {
	declared := label(contentType)
	if declared == "" {
		head = head[:min(len(head), declarationWindow)]
		if declared = declaration(head); !bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("<?xml")) {
			return false // ignore a meta element
		}
	}
	const family = len("utf-16")
	return name != "utf-8" && declared != "" && declared[:min(len(declared), family)] != name[:family]
}

// Contradicts reports whether the beginning of a document for Stream is UTF-16 or UTF-32
// but declares another encoding, as Decode does for a whole document.
func Contradicts(head []byte, contentType string) bool {
	name, skip := mark(head)
	if name == "" || name == "utf-8" {
		return false
	}
	text, _ := convert(head[skip:], name)
	return contradicts(text, contentType, name)
}

// mark detects a byte order mark, or the zero bytes of UTF-16 and UTF-32 around the
// first character of markup, and returns how many bytes to skip.
func mark(b []byte) (name string, skip int) {
	switch {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		return "utf-8", 3
	case bytes.HasPrefix(b, []byte("\xff\xfe\x00\x00")):
		return "utf-32le", 4
	case bytes.HasPrefix(b, []byte("\x00\x00\xfe\xff")):
		return "utf-32be", 4
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		return "utf-16le", 2
	case bytes.HasPrefix(b, []byte("\xfe\xff")):
		return "utf-16be", 2
	case len(b) < 4:
		return "", 0
	}
	switch zero := [4]bool{b[0] == 0, b[1] == 0, b[2] == 0, b[3] == 0}; zero {
	case [4]bool{false, true, true, true}:
		return "utf-32le", 0
	case [4]bool{true, true, true, false}:
		return "utf-32be", 0
	case [4]bool{false, true, false, true}:
		return "utf-16le", 0
	case [4]bool{true, false, true, false}:
		return "utf-16be", 0
	case [4]bool{false, true, false, false}:
		return only(b[0] == '<', "utf-16le"), 0 // an element name in another script
	case [4]bool{true, false, false, false}:
		return only(b[1] == '<', "utf-16be"), 0
	}
	return "", 0
}

func only(ok bool, name string) string {
	if ok {
		return name
	}
	return ""
}

// label returns the WHATWG name of the charset of a content type, or "".
func label(contentType string) string {
	_, params, err := mime.ParseMediaType(contentType)
	if err == nil {
		return canonical(params["charset"])
	}
	_, rest, ok := strings.Cut(strings.ToLower(contentType), "charset=")
	if !ok {
		return ""
	}
	if end := strings.IndexAny(rest, "; ,"); end >= 0 {
		rest = rest[:end]
	}
	return canonical(strings.Trim(rest, `"'`))
}

// canonical returns the WHATWG name for a label, or "" for an unknown one.
func canonical(label string) string {
	if label == "" {
		return ""
	}
	e, err := htmlindex.Get(label)
	if err != nil {
		return alias(strings.ToLower(label))
	}
	name, err := htmlindex.Name(e)
	if err != nil || name == "replacement" || name == "x-user-defined" {
		return ""
	}
	return name
}

// alias returns the encoding for labels that are in use but not in the standard.
func alias(label string) string {
	switch label {
	case "cp1251", "win-1251", "win1251":
		return "windows-1251"
	case "koi8-r-windows", "koi-8":
		return "koi8-r"
	case "utf", "utf8mb4", "u8":
		return "utf-8"
	case "cp1252", "latin-1", "iso8859_1":
		return "windows-1252"
	case "utf-32":
		return "utf-32be"
	}
	return ""
}

// Unknown returns the name of the encoding that a document declares if no such encoding
// is known, else "". contentType overrides the declaration in the document.
func Unknown(body []byte, contentType string) string {
	_, params, err := mime.ParseMediaType(contentType)
	if name := params["charset"]; err == nil && name != "" {
		return unless(canonical(name) != "", name)
	}
	head := bytes.TrimLeft(body[:min(len(body), declarationWindow)], "\xef\xbb\xbf \t\r\n")
	if !bytes.HasPrefix(head, []byte("<?xml")) {
		return ""
	}
	end := bytes.IndexByte(head, '>')
	if end < 0 {
		return ""
	}
	name := attribute(head[:end], "encoding")
	return unless(canonical(name) != "", strings.ToValidUTF8(name, ""))
}

func unless(known bool, name string) string {
	if known {
		return ""
	}
	return name
}

// declarationWindow is how many bytes of a document are searched for a declaration.
const declarationWindow = 1024

// declaration returns the encoding of the XML declaration or of an HTML meta element.
func declaration(b []byte) string {
	head := bytes.TrimLeft(b, " \t\r\n")
	head = head[:min(len(head), declarationWindow)]
	if bytes.HasPrefix(head, []byte("<?xml")) {
		if end := bytes.IndexByte(head, '>'); end >= 0 {
			return canonical(attribute(head[:end], "encoding"))
		}
	}
	for {
		i := bytes.IndexByte(head, '<')
		if i < 0 {
			return ""
		}
		head = head[i+1:]
		if len(head) < 4 || !bytes.EqualFold(head[:4], []byte("meta")) {
			continue
		}
		tag := head
		if end := bytes.IndexByte(tag, '>'); end >= 0 {
			tag = tag[:end]
		}
		if name := canonical(attribute(bytes.ToLower(tag), "charset")); name != "" {
			if strings.HasPrefix(name, "utf-16") {
				return "utf-8" // as in the standard: text in UTF-16 would not be readable here
			}
			return name
		}
	}
}

// attribute returns the value after name=, with or without quotes.
func attribute(tag []byte, name string) string {
	i := bytes.Index(tag, []byte(name))
	if i < 0 {
		return ""
	}
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(tag[i+len(name):], " \t\r\n"), []byte("="))
	if !ok {
		return ""
	}
	rest = bytes.TrimLeft(rest, " \t\r\n\"'")
	if end := bytes.IndexAny(rest, "\"' \t\r\n;?/>"); end >= 0 {
		rest = rest[:end]
	}
	return string(rest)
}

// convert decodes b and reports whether bytes were replaced.
func convert(b []byte, name string) ([]byte, bool) {
	if name == "utf-8" {
		if utf8.Valid(b) {
			return b, false
		}
		return bytes.ToValidUTF8(b, []byte("\uFFFD")), true
	}
	out, err := codec(name).NewDecoder().Bytes(b)
	if err != nil {
		return bytes.ToValidUTF8(b, []byte("\uFFFD")), true
	}
	return out, bytes.Contains(out, []byte("\uFFFD"))
}

func codec(name string) encoding.Encoding {
	switch name {
	case "utf-32le":
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case "utf-32be":
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	}
	e, err := htmlindex.Get(name)
	if err != nil {
		return encoding.Replacement
	}
	return e
}

// legal drops characters that XML forbids (controls, U+FFFE, U+FFFF) and reports whether
// there were any. It drops a byte order mark at the beginning without reporting it.
func legal(b []byte) (text []byte, dropped bool) {
	b = bytes.TrimPrefix(b, []byte("\uFEFF"))
	first := illegal(b)
	if first < 0 {
		return b, false
	}
	out := append(make([]byte, 0, len(b)), b[:first]...)
	for b = b[first:]; len(b) > 0; {
		switch {
		case isControl(b[0]):
			b = b[1:]
		case isNoncharacter(b):
			b = b[3:]
		default:
			n := illegal(b)
			if n < 0 {
				n = len(b)
			}
			out = append(out, b[:n]...)
			b = b[n:]
		}
	}
	return out, true
}

// illegal returns the offset of the first illegal character, or -1. It tests 32 bytes at a
// time; where one may be a control or 0xEF, eight at a time, and then each.
func illegal(b []byte) int {
	i := 0
	for ; i+32 <= len(b); i += 32 {
		w := (*[32]byte)(b[i:])
		if suspicious(w[:8])|suspicious(w[8:16])|suspicious(w[16:24])|suspicious(w[24:]) == 0 {
			continue
		}
		for j := i; j < i+32; j += 8 {
			if suspicious(b[j:]) == 0 {
				continue
			}
			if at := illegalIn(b, j, j+8); at >= 0 {
				return at
			}
		}
	}
	return illegalIn(b, i, len(b))
}

// suspicious is not 0 if one of the first eight bytes may be below a space or 0xEF.
func suspicious(b []byte) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	w := binary.LittleEndian.Uint64(b)
	lead := w ^ (0xef * ones)
	return ((w-' '*ones)&^w | (lead-ones)&^lead) & high
}

func illegalIn(b []byte, from, to int) int {
	for i := from; i < to; i++ {
		if c := b[i]; c < ' ' && isControl(c) || c == 0xef && isNoncharacter(b[i:]) {
			return i
		}
	}
	return -1
}

func isControl(c byte) bool { return c < ' ' && c != '\t' && c != '\n' && c != '\r' }

func isNoncharacter(b []byte) bool {
	return len(b) >= 3 && b[0] == 0xef && b[1] == 0xbf && (b[2] == 0xbe || b[2] == 0xbf)
}

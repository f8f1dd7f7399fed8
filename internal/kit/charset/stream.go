package charset

import (
	"bytes"
	"io"
)

// streamed reports whether an encoding cannot be cut at a byte that looks like ASCII,
// so that the stream must be decoded first.
func streamed(name string) bool {
	switch name {
	case "utf-16le", "utf-16be", "utf-32le", "utf-32be", "iso-2022-jp":
		return true
	}
	return false
}

// Stream prepares a document that is read in pieces. head is its beginning, r the rest.
// It returns the content type to pass to Decode for every piece, the encoding, and a
// reader of the whole document, which is already decoded if its encoding cannot be cut
// into pieces.
func Stream(head []byte, contentType string, r io.Reader) (pieceType, name string, out io.Reader) {
	r = io.MultiReader(bytes.NewReader(head), r)
	name, skip := mark(head)
	if name != "" {
		if _, err := io.CopyN(io.Discard, r, int64(skip)); err != nil || name == "utf-8" {
			return "text/xml; charset=utf-8", "utf-8", r
		}
		return "text/xml; charset=utf-8", name, codec(name).NewDecoder().Reader(r)
	}
	declared := label(contentType)
	if declared == "" {
		declared = declaration(head)
	}
	name, _ = choose(whole(head), declared)
	if streamed(name) {
		return "text/xml; charset=utf-8", name, codec(name).NewDecoder().Reader(r)
	}
	if declared == "" {
		return "text/xml", name, r
	}
	return "text/xml; charset=" + declared, name, r
}

// whole drops an incomplete UTF-8 character at the end.
func whole(head []byte) []byte {
	for n := 1; n <= 3 && n <= len(head); n++ {
		if c := head[len(head)-n]; c >= 0xc0 {
			return head[:len(head)-n]
		} else if c < 0x80 {
			break
		}
	}
	return head
}

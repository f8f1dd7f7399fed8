package charset

import (
	"bytes"
	"io"
)

// streamed names the encodings that cannot be cut at a byte that looks like
// ASCII: they are decoded before.
func streamed(name string) bool {
	switch name {
	case "utf-16le", "utf-16be", "utf-32le", "utf-32be", "iso-2022-jp":
		return true
	}
	return false
}

// Stream prepares a document that is read piece by piece. head is its beginning.
// It returns the content type with which Decode is to be called for every piece,
// the encoding, and the reader of the document, decoded already where pieces
// of it would make no sense.
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

// whole leaves out the last bytes, which may be a part of a character.
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

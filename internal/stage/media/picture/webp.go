package picture

import (
	"encoding/binary"
	"iter"
)

// The flags of a VP8X chunk (WebP container specification).
const (
	webpXMP     = 1 << 2
	webpExif    = 1 << 3
	webpProfile = 1 << 5
)

// webpChunks iterates over the chunks within the length of the RIFF header, or to where
// the file is truncated.
func webpChunks(file []byte) iter.Seq[chunk] {
	return func(yield func(chunk) bool) {
		rest := file[12:]
		if n := int64(binary.LittleEndian.Uint32(file[4:])) - 4; n >= 0 && n < int64(len(rest)) {
			rest = rest[:n]
		}
		for len(rest) >= 8 {
			n := int64(binary.LittleEndian.Uint32(rest[4:]))
			if n > int64(len(rest)-8) {
				return
			}
			end := min(8+n+n&1, int64(len(rest)))
			if !yield(chunk{name: string(rest[:4]), body: rest[8 : 8+n], whole: rest[:end]}) {
				return
			}
			rest = rest[end:]
		}
	}
}

// examineWebP reads the sizes that the chunks declare. They must agree: the decoder
// allocates by one and reads by the other.
func examineWebP(file []byte) (header, error) {
	h := header{turn: 1}
	n, pixels, images := 0, 0, 0
	for c := range webpChunks(file) {
		width, height := webpSize(c)
		switch {
		case c.name == "ANMF" && len(c.body) >= 16:
			n, pixels, h.animated = n+1, pixels+little24(c.body[6:])*little24(c.body[9:]), true
			if err := frames(n, pixels); err != nil {
				return h, err
			}
			continue
		case c.name == "VP8 " || c.name == "VP8L":
			images++
		case c.name != "VP8X":
			continue
		}
		if err := size(width, height); err != nil {
			return h, err
		}
		if h.Width > 0 && (width != h.Width || height != h.Height) {
			return h, invalid("the WebP declares two different sizes")
		}
		h.Width, h.Height = width, height
	}
	if h.Width == 0 || n == 0 && images == 0 {
		return h, cutOff()
	}
	h.memory = 8*int64(h.Width*h.Height) + 1<<16
	return h, nil
}

// webpSize is the size that a chunk declares for a picture or the canvas, else 0.
func webpSize(c chunk) (width, height int) {
	switch b := c.body; {
	case c.name == "VP8X" && len(b) == 10:
		return little24(b[4:]), little24(b[7:])
	case c.name == "VP8 " && len(b) >= 10 && b[0]&1 == 0 && string(b[3:6]) == "\x9d\x01\x2a":
		return int(binary.LittleEndian.Uint16(b[6:])) & 0x3fff, int(binary.LittleEndian.Uint16(b[8:])) & 0x3fff
	case c.name == "VP8L" && len(b) >= 5 && b[0] == 0x2f:
		bits := binary.LittleEndian.Uint32(b[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	}
	return 0, 0
}

// little24 reads a size that is stored minus one, in three bytes.
func little24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 + 1 }

// stripWebP copies the needed chunks and corrects the flags and the length.
func stripWebP(file []byte) []byte {
	if _, err := examineWebP(file); err != nil {
		return file
	}
	out := append(make([]byte, 0, len(file)+1), file[:12]...)
	flags, profile := 0, false
	for c := range webpChunks(file) {
		switch c.name {
		case "VP8X":
			flags = len(out) + 8
		case "ICCP":
			if len(c.body) > maxProfile {
				continue
			}
			profile = true
		case "VP8 ", "VP8L", "ALPH", "ANIM", "ANMF":
		default:
			continue
		}
		out = append(out, c.whole...)
		if len(out)%2 == 1 {
			out = append(out, 0)
		}
	}
	if flags > 0 {
		out[flags] &^= webpXMP | webpExif
		if !profile {
			out[flags] &^= webpProfile
		}
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out
}

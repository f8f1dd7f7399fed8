package picture

import (
	"encoding/binary"
	"iter"
)

const pngMagic = "\x89PNG\r\n\x1a\n"

// chunk is a part of a PNG (section 5.3) or of a RIFF file.
type chunk struct {
	name  string
	body  []byte
	whole []byte // with length, name and checksum or padding
}

// pngChunks iterates over a PNG up to its IEND, or to where it is truncated.
func pngChunks(file []byte) iter.Seq[chunk] {
	return func(yield func(chunk) bool) {
		for rest := file[len(pngMagic):]; len(rest) >= 12; {
			n := int64(binary.BigEndian.Uint32(rest))
			if n > int64(len(rest)-12) {
				return
			}
			c := chunk{name: string(rest[4:8]), body: rest[8 : 8+n], whole: rest[:12+n]}
			if !yield(c) || c.name == "IEND" {
				return
			}
			rest = rest[12+n:]
		}
	}
}

// examinePNG reads the header and checks that all chunks are there. Decoders allocate
// by the header alone, so a file that is too small for its declared size must be
// rejected before.
func examinePNG(file []byte) (header, error) {
	h := header{turn: 1}
	var ihdr []byte
	data, ended := 0, false
	for c := range pngChunks(file) {
		switch {
		case ihdr == nil && (c.name != "IHDR" || len(c.body) != 13):
			return h, invalid("the PNG does not begin with its header")
		case ihdr == nil:
			ihdr = c.body
			width, height := int64(binary.BigEndian.Uint32(ihdr)), int64(binary.BigEndian.Uint32(ihdr[4:]))
			h.Width, h.Height = int(min(width, 1<<30)), int(min(height, 1<<30))
			if err := size(h.Width, h.Height); err != nil {
				return h, err
			}
		case c.name == "acTL":
			h.animated = true
		case c.name == "IDAT":
			data += len(c.body)
		case c.name == "IEND":
			ended = true
		}
	}
	if !ended {
		return h, cutOff()
	}
	colour, depth, pixels := ihdr[9], ihdr[8], h.Width*h.Height
	if data*mostPacked < pixels*pngChannels(colour)*int(depth)/8 {
		return h, cutOff()
	}
	h.memory = int64(pixels)*pngPixel(colour, depth) + 1<<16
	if ihdr[12] != 0 {
		h.memory += h.memory / 2 // interlaced: each pass is a separate picture
	}
	return h, nil
}

// mostPacked is the highest compression ratio of deflate.
const mostPacked = 1032

// pngChannels is the number of samples of a pixel, by the colour type of section 11.2.1.
func pngChannels(colour byte) int {
	switch colour {
	case 2:
		return 3
	case 4:
		return 2
	case 6:
		return 4
	}
	return 1
}

// pngPixel is the number of bytes of a decoded pixel.
func pngPixel(colour, depth byte) int64 {
	switch {
	case colour == 3:
		return 5 // the index, then red, green, blue and alpha
	case depth == 16:
		return 8
	}
	return 4
}

// stripPNG copies whole chunks, so that their checksums stay right.
func stripPNG(file []byte) []byte {
	out := append(make([]byte, 0, len(file)), pngMagic...)
	ended := false
	for c := range pngChunks(file) {
		if pngNeeded(c) {
			out = append(out, c.whole...)
		}
		ended = c.name == "IEND"
	}
	if !ended {
		return file
	}
	return out
}

// pngNeeded reports whether a chunk is needed to show the picture as intended. A chunk
// whose name begins with an upper-case letter is critical.
func pngNeeded(c chunk) bool {
	switch c.name {
	case "tRNS", "cHRM", "gAMA", "sBIT", "sRGB", "cICP", "mDCV", "cLLI", "bKGD", "pHYs", "acTL", "fcTL", "fdAT":
		return true
	case "iCCP":
		return len(c.body) <= maxProfile
	}
	return c.name[0]&0x20 == 0
}

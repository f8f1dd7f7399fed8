package picture

import (
	"encoding/binary"
	"iter"
	"strings"
)

// Introducers of GIF89a, appendix A, and the labels of extensions.
const (
	gifExtension   = 0x21
	gifImage       = 0x2c
	gifTrailer     = 0x3b
	gifComment     = 0xfe
	gifApplication = 0xff
)

// block is a part of a GIF.
type block struct {
	kind, label byte // the introducer, and an extension's label
	head        []byte
	whole       []byte
}

// gifStart is the offset of the first block, after the screen and its colours; 0 if
// the file is truncated before.
func gifStart(file []byte) int {
	if len(file) < 13 {
		return 0
	}
	at := 13 + gifColours(file[10])
	if at > len(file) {
		return 0
	}
	return at
}

// gifColours is the size of the colour table by its flag byte, in bytes.
func gifColours(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// gifBlocks iterates over the complete blocks of a GIF, including its trailer.
func gifBlocks(file []byte) iter.Seq[block] {
	return func(yield func(block) bool) {
		for rest := file[gifStart(file):]; len(rest) > 0; {
			b := block{kind: rest[0]}
			end := b.cut(rest)
			if end == 0 {
				return
			}
			b.whole, rest = rest[:end], rest[end:]
			if !yield(b) || b.kind == gifTrailer {
				return
			}
		}
	}
}

// cut sets the fields of the block at the start of rest and returns its end, 0 if it is
// truncated.
func (b *block) cut(rest []byte) int {
	switch {
	case b.kind == gifTrailer:
		return 1
	case b.kind == gifExtension && len(rest) > 3:
		b.label, b.head = rest[1], rest[2:]
		return gifData(rest, 2)
	case b.kind == gifImage && len(rest) > 10:
		b.head = rest[1:10]
		return gifData(rest, 10+gifColours(rest[9])+1)
	}
	return 0
}

// gifData returns the end of the sub-blocks that begin at an offset, 0 if they are truncated.
func gifData(rest []byte, at int) int {
	for at < len(rest) {
		n := int(rest[at])
		if at += 1 + n; n == 0 {
			return at
		}
	}
	return 0
}

// examineGIF reads the screen and adds up the frames. One complete frame is enough: we
// decode the first, and browsers show what there is.
func examineGIF(file []byte) (header, error) {
	h := header{turn: 1}
	if gifStart(file) == 0 {
		return h, cutOff()
	}
	h.Width, h.Height = int(binary.LittleEndian.Uint16(file[6:])), int(binary.LittleEndian.Uint16(file[8:]))
	if err := size(h.Width, h.Height); err != nil {
		return h, err
	}
	n, pixels := 0, 0
	for b := range gifBlocks(file) {
		if b.kind != gifImage {
			continue
		}
		n++
		pixels += int(binary.LittleEndian.Uint16(b.head[4:])) * int(binary.LittleEndian.Uint16(b.head[6:]))
		if err := frames(n, pixels); err != nil {
			return h, err
		}
	}
	if n == 0 {
		return h, cutOff()
	}
	h.animated = n > 1
	h.memory = 5*int64(h.Width*h.Height) + 1<<16
	return h, nil
}

// stripGIF copies complete blocks and drops a truncated one.
func stripGIF(file []byte) []byte {
	start := gifStart(file)
	if start == 0 {
		return file
	}
	out := append(make([]byte, 0, len(file)+1), file[:start]...)
	images := 0
	for b := range gifBlocks(file) {
		if b.kind == gifTrailer || !b.needed() {
			continue
		}
		if b.kind == gifImage {
			images++
		}
		out = append(out, b.whole...)
	}
	if images == 0 {
		return file
	}
	return append(out, gifTrailer)
}

// needed reports whether a block is needed to show the picture as intended. The only
// application extension that is needed is the loop count.
func (b block) needed() bool {
	switch {
	case b.kind != gifExtension:
		return true
	case b.label == gifApplication:
		head := string(b.head[:min(12, len(b.head))])
		return strings.HasPrefix(head, "\x0bNETSCAPE2.0") || strings.HasPrefix(head, "\x0bANIMEXTS1.0")
	}
	return b.label != gifComment
}

package gbdt

import "encoding/binary"

// The portable kernel compares eight documents at once, a byte each of a word.
const (
	lanes    = 8
	words    = BlockSize / lanes
	each     = 0x0101010101010101
	lowBits  = each * 0x7f
	highBits = each * 0x80
)

// portable adds trees one after the other: first the numbers of the leaves of
// all documents, split by split, then the leaves.
func portable(s *Scorer, scores *Scores, b *parts, from, to int) {
	for i := from; i < to; i++ {
		t := &s.trees[i]
		var leaf [words]uint64
		for j := len(t.cuts) - 1; j >= 0; j-- {
			c := &t.cuts[j]
			row := (*[BlockSize]byte)(b[c.part][int(c.row)*BlockSize:])
			pushBits(&leaf, row, c.above)
		}
		addLeaves(scores, &leaf, t.leaves)
	}
}

// pushBits shifts the numbers of leaves and appends whether bins lie above a
// cut. Without its high bit a bin and 127-cut carry into the high bit if the bin
// lies above; then the bin's own high bit decides, or that and the carry.
func pushBits(leaf *[words]uint64, row *[BlockSize]byte, above uint8) {
	if above < 128 {
		add := each * uint64(127-above)
		for i := range leaf {
			x := binary.LittleEndian.Uint64(row[i*lanes:])
			leaf[i] = leaf[i]<<1 | ((x&lowBits+add)|x)&highBits>>7
		}
		return
	}
	add := each * uint64(255-above)
	for i := range leaf {
		x := binary.LittleEndian.Uint64(row[i*lanes:])
		leaf[i] = leaf[i]<<1 | (x&lowBits+add)&x&highBits>>7
	}
}

func addLeaves(scores *Scores, leaf *[words]uint64, leaves []uint16) {
	for i, w := range leaf {
		s := (*[lanes]int32)(scores[i*lanes:])
		for j := range s {
			s[j] += int32(leaves[w>>(8*j)&0xff])
		}
	}
}

package gbdt

import "encoding/binary"

// The portable kernel compares eight documents at once: one in each byte of a word.
const (
	lanes    = 8
	words    = BlockSize / lanes
	each     = 0x0101010101010101
	lowBits  = each * 0x7f
	highBits = each * 0x80
)

// wordTree is a tree in the format of the portable kernel.
type wordTree struct {
	cuts [mostDepth]wordCut
	// leaves begins with the tree's leaves. The rest is never read; it exists so that
	// any byte is a valid index and needs no bounds check.
	leaves *[1 << mostDepth]uint16
	depth  int
	flips  uint8 // bits of a leaf's index that are inverted
}

// wordCut compares eight bins x at once: (low bits of x^flip + add | x^flip) has the high
// bit of a byte set where x^flip is above 127-add. Without flip that is a cut below 128.
// With flip it is another cut, inverted; its leaves are stored in inverted order.
type wordCut struct {
	flip, add uint64
	row       int // offset in bytes
	part      uint8
}

func newWordCut(c cut) wordCut {
	w := wordCut{row: int(c.row) * BlockSize, part: c.part, add: each * uint64(127-c.above)}
	if c.above > 127 { // x > c is not ^x > 254-c
		w.flip, w.add = ^uint64(0), each*uint64(c.above-127)
	}
	return w
}

func packWords(trees []rankTree) []wordTree {
	total := 1 << mostDepth
	for i := range trees {
		total += len(trees[i].leaves)
	}
	p := make([]wordTree, len(trees))
	leaves := make([]uint16, total)
	for i, t := range trees {
		for j, c := range t.cuts {
			p[i].cuts[j] = newWordCut(c)
			p[i].flips |= uint8(p[i].cuts[j].flip&1) << j
		}
		for j, leaf := range t.leaves {
			leaves[j^int(p[i].flips)] = leaf
		}
		p[i].depth, p[i].leaves = len(t.cuts), (*[1 << mostDepth]uint16)(leaves)
		leaves = leaves[len(t.leaves):]
	}
	return p
}

// portable adds one tree after the other: first it computes the indexes of the leaves of
// all documents, two splits at a time, then it adds the leaves.
func portable(s *Scorer, scores *Scores, b *parts, from, to int) {
	for i := from; i < to; i++ {
		t := &s.packed.words[i]
		var leaf [words]uint64
		t.number(&leaf, b)
		t.add(scores, &leaf, uint(mostDepth-t.depth))
	}
}

// number computes the indexes of the leaves of 128 documents. Each split shifts the bytes
// right and sets the high bit.
func (t *wordTree) number(leaf *[words]uint64, b *parts) {
	j := 0
	for ; j+1 < t.depth; j += 2 {
		pushTwo(leaf, b.row(&t.cuts[j]), b.row(&t.cuts[j+1]), &t.cuts[j], &t.cuts[j+1])
	}
	if j < t.depth {
		push(leaf, b.row(&t.cuts[j]), &t.cuts[j])
	}
}

func (b *parts) row(c *wordCut) *[BlockSize]byte { return (*[BlockSize]byte)(b.rows[c.part&1][c.row:]) }

func push(leaf *[words]uint64, row *[BlockSize]byte, c *wordCut) {
	for i := range leaf {
		x := binary.LittleEndian.Uint64(row[i*lanes:]) ^ c.flip
		leaf[i] = leaf[i]>>1 | (x&lowBits+c.add|x)&highBits
	}
}

func pushTwo(leaf *[words]uint64, first, second *[BlockSize]byte, c, d *wordCut) {
	low, high, cflip, cadd, dflip, dadd := uint64(lowBits), uint64(highBits), c.flip, c.add, d.flip, d.add
	for i := range leaf {
		x := binary.LittleEndian.Uint64(first[i*lanes:]) ^ cflip
		y := binary.LittleEndian.Uint64(second[i*lanes:]) ^ dflip
		x = (x&low + cadd | x) & high
		y = (y&low + dadd | y) & high
		leaf[i] = leaf[i]>>2 | x>>1 | y
	}
}

// add adds the leaves whose indexes are the high bits of each byte.
func (t *wordTree) add(scores *Scores, leaf *[words]uint64, shift uint) {
	for i, w := range leaf {
		s := (*[lanes]int32)(scores[i*lanes:])
		w >>= shift & 7
		s[0] += int32(t.leaves[uint8(w)])
		s[1] += int32(t.leaves[uint8(w>>8)])
		s[2] += int32(t.leaves[uint8(w>>16)])
		s[3] += int32(t.leaves[uint8(w>>24)])
		s[4] += int32(t.leaves[uint8(w>>32)])
		s[5] += int32(t.leaves[uint8(w>>40)])
		s[6] += int32(t.leaves[uint8(w>>48)])
		s[7] += int32(t.leaves[w>>56])
	}
}

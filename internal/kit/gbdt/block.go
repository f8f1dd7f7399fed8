package gbdt

import "math/bits"

// BlockSize is the number of documents in a block.
const BlockSize = 128

// Block holds the bins of 128 documents: one row of 128 bytes for each feature, in the
// order of Scorer.Stored and Scorer.Computed. Features stored with the documents and
// features computed for a query are separate parts, so that neither is copied and a
// kernel finds a row with an addition; a slice of pointers to rows would have to be
// filled for each block.
type Block struct{ Stored, Computed []byte }

// Scores are the scores of a block's documents.
type Scores [BlockSize]int32

// Mask is a set of a block's documents: document i is bit i%64 of word i/64.
type Mask [BlockSize / 64]uint64

// FirstOf returns the set of a block's first n documents.
func FirstOf(n int) Mask {
	return Mask{ones(n), ones(n - 64)}
}

// ones returns a word whose n lowest bits are set, for any n.
func ones(n int) uint64 { return ^(^uint64(0) << max(0, n)) }

// Count returns the number of documents in a set.
func (m Mask) Count() int { return bits.OnesCount64(m[0]) + bits.OnesCount64(m[1]) }

// AtLeast returns the documents of among whose score is at least threshold.
func (s *Scores) AtLeast(threshold int32, among Mask) Mask {
	for i := range among {
		var reached uint64
		for j := range 64 {
			below := uint64(int64(s[i*64+j])-int64(threshold)) >> 63
			reached |= (below ^ 1) << j
		}
		among[i] &= reached
	}
	return among
}

// Append copies documents of another block after the first n of b, as many as fit, and
// returns the others. It copies the rows that both blocks have. It may overwrite what
// follows the copies in b.
func (b Block) Append(n int, from Block, docs Mask) (left Mask) {
	for half := range docs {
		for docs[half] != 0 && n < BlockSize {
			now := lowest(docs[half], BlockSize-n)
			compress(b.Stored, n, from.Stored, half, now)
			compress(b.Computed, n, from.Computed, half, now)
			docs[half] &^= now
			n += bits.OnesCount64(now)
		}
	}
	return docs
}

// lowest returns the n lowest set bits of a word, or all if there are fewer.
func lowest(word uint64, n int) uint64 {
	if bits.OnesCount64(word) <= n {
		return word
	}
	rest := word
	for range n {
		rest &= rest - 1
	}
	return word &^ rest
}

// compressPlain copies the documents of a set from one half of a block after the first n.
// There must be room for them.
func compressPlain(to []byte, n int, from []byte, half int, docs uint64) {
	var at [64]uint8
	count := 0
	for ; docs != 0; docs &= docs - 1 {
		at[count] = uint8(half*64 + bits.TrailingZeros64(docs))
		count++
	}
	for len(to) >= BlockSize && len(from) >= BlockSize {
		target, source := to[n:BlockSize], from[:BlockSize]
		for i, j := range at[:count] {
			target[i] = source[j]
		}
		to, from = to[BlockSize:], from[BlockSize:]
	}
}

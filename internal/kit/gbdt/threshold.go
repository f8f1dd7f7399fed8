package gbdt

import (
	"math"
	"math/bits"
)

// Threshold returns a score that at least n documents reach, or all if there are fewer.
// It divides the range of scores into 256 equal buckets, instead of sorting, and returns
// the lowest score of a bucket, so more than n documents may reach it. It considers only
// the documents of among, which has a set for each block.
func Threshold(scores []Scores, among []Mask, n int) int32 {
	low, high := extent(scores, among)
	if low > high {
		return math.MinInt32
	}
	shift := max(0, bits.Len32(uint32(high)-uint32(low))-8)
	var parts [256]int
	for i := range scores {
		count(&parts, &scores[i], among[i], low, shift)
	}
	for part := 255; part > 0; part-- {
		if n -= parts[part]; n <= 0 {
			return low + int32(part)<<shift
		}
	}
	return low
}

// extent returns the lowest and the highest score; low > high if there are no documents.
func extent(scores []Scores, among []Mask) (low, high int32) {
	low, high = math.MaxInt32, math.MinInt32
	for i := range scores {
		s := &scores[i]
		if among[i] == FirstOf(BlockSize) {
			for _, v := range s {
				low, high = min(low, v), max(high, v)
			}
			continue
		}
		for half, docs := range among[i] {
			for ; docs != 0; docs &= docs - 1 {
				v := s[half*64+bits.TrailingZeros64(docs)]
				low, high = min(low, v), max(high, v)
			}
		}
	}
	return low, high
}

func count(parts *[256]int, s *Scores, among Mask, low int32, shift int) {
	if among == FirstOf(BlockSize) {
		for _, v := range s {
			parts[uint8(uint32(v-low)>>(shift&31))]++
		}
		return
	}
	for half, docs := range among {
		for ; docs != 0; docs &= docs - 1 {
			v := s[half*64+bits.TrailingZeros64(docs)]
			parts[uint8(uint32(v-low)>>(shift&31))]++
		}
	}
}

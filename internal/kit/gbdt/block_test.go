package gbdt

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func randomScores(r *rand.Rand, blocks int) ([]Scores, []Mask) {
	scores, among := make([]Scores, blocks), make([]Mask, blocks)
	spread := int32(1) << r.IntN(31)
	for i := range scores {
		for j := range scores[i] {
			scores[i][j] = r.Int32N(spread) - r.Int32N(spread)
		}
		switch among[i] = FirstOf(BlockSize); r.IntN(3) {
		case 0:
			among[i] = Mask{r.Uint64(), r.Uint64()}
		case 1:
			among[i] = FirstOf(r.IntN(140))
		}
	}
	if r.IntN(4) == 0 {
		scores[0][3], scores[blocks-1][5] = math.MinInt32, math.MaxInt32
	}
	return scores, among
}

// members returns the scores of a set in the order of documents.
func members(scores []Scores, among []Mask) []int32 {
	var out []int32
	for i := range scores {
		out = append(out, chosen(scores[i][:], among[i])...)
	}
	return out
}

func chosen[T any](row []T, docs Mask) (out []T) {
	for i, v := range row {
		if docs[i/64]>>(i%64)&1 == 1 {
			out = append(out, v)
		}
	}
	return out
}

func TestAThresholdKeepsAtLeastNAndAtMostOneBucketMore(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		scores, among := randomScores(r, 1+r.IntN(4))
		all := members(scores, among)
		n := r.IntN(len(all) + 3)
		threshold := Threshold(scores, among, n)
		for i := range among {
			among[i] = scores[i].AtLeast(threshold, among[i])
		}
		kept := members(scores, among)
		slices.SortFunc(all, func(a, b int32) int { return int(int64(b) - int64(a)) })
		if len(kept) < min(n, len(all)) {
			t.Fatalf("seed %d: %d kept of %d, %d wanted", seed, len(kept), len(all), n)
		}
		if len(all) == 0 || n == 0 {
			continue
		}
		last := int64(all[min(n, len(all))-1]) // the worst score that has to stay
		part := (int64(all[0])-int64(all[len(all)-1]))/128 + 1
		if int64(threshold) <= last-part {
			t.Fatalf("seed %d: threshold %d is more than a part of %d below %d", seed, threshold, part, last)
		}
	}
}

func TestTheThresholdOfNoDocumentsIsTheLowestInt32(t *testing.T) {
	if got := Threshold(make([]Scores, 1), make([]Mask, 1), 5); got != math.MinInt32 {
		t.Error(got)
	}
}

func TestAppendCopiesDocumentsInOrder(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 4))
		rows := r.IntN(5)
		to := Block{make([]byte, rows*BlockSize), make([]byte, BlockSize)}
		want := make([][]byte, rows+1)
		n := 0
		for n < BlockSize {
			from := Block{make([]byte, rows*BlockSize), make([]byte, BlockSize)}
			for i := range from.Stored {
				from.Stored[i] = byte(r.Uint32())
			}
			for i := range from.Computed {
				from.Computed[i] = byte(r.Uint32())
			}
			docs := Mask{r.Uint64() & r.Uint64(), r.Uint64() & r.Uint64() & r.Uint64()}
			left := to.Append(n, from, docs)
			taken := Mask{docs[0] &^ left[0], docs[1] &^ left[1]}
			if left[0]&^docs[0]|left[1]&^docs[1] != 0 || left.Count() > 0 && n+taken.Count() != BlockSize {
				t.Fatalf("seed %d: %v of %v is left behind %d", seed, left, docs, n)
			}
			for i := range want {
				row := slices.Concat(from.Stored, from.Computed)[i*BlockSize:]
				want[i] = append(want[i], chosen(row[:BlockSize], taken)...)
			}
			n += taken.Count()
		}
		if got := slices.Concat(to.Stored, to.Computed); !bytes.Equal(got, slices.Concat(want...)) {
			t.Fatalf("seed %d: the copies differ", seed)
		}
	}
}

func TestAppendPanicsForANegativeOffset(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("documents were copied to before the first")
		}
	}()
	b := Block{Stored: make([]byte, BlockSize)}
	b.Append(-3, Block{Stored: make([]byte, BlockSize)}, FirstOf(2))
}

func TestBothWaysOfCopyingAgree(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 5))
		from, plain := make([]byte, 3*BlockSize), make([]byte, 3*BlockSize)
		for i := range from {
			from[i] = byte(r.Uint32())
		}
		docs, half, n := r.Uint64(), r.IntN(2), r.IntN(BlockSize)
		docs = lowest(docs, BlockSize-n)
		fast := slices.Clone(plain)
		compressPlain(plain, n, from, half, docs)
		compress(fast, n, from, half, docs)
		end := n + Mask{docs}.Count()
		for row := range 3 {
			if at := row * BlockSize; !bytes.Equal(plain[at:at+end], fast[at:at+end]) {
				t.Fatalf("seed %d: they differ in row %d", seed, row)
			}
		}
	}
}

//go:build !purego && !noasm

package gbdt

import (
	"sync"
	"unsafe"
)

// cpu lists the extensions that the processor has and the operating system supports.
type cpu struct {
	avx2 bool
	vbmi bool // AVX-512 F, BW, VBMI and VBMI2: Intel since Ice Lake, AMD since Zen 4
}

// thisCPU detects the extensions once.
var thisCPU = sync.OnceValue(func() cpu {
	const (
		osxsave, avx = 1 << 27, 1 << 28            // leaf 1, ECX
		avx2, f, bw  = 1 << 5, 1 << 16, 1 << 30    // leaf 7, EBX
		vbmi, two    = 1 << 1, 1 << 6              // leaf 7, ECX
		halves       = 1<<1 | 1<<2                 // XCR0: XMM, YMM
		whole        = halves | 1<<5 | 1<<6 | 1<<7 // and masks, ZMM
	)
	if highest, _, _ := cpuid(0); highest < 7 {
		return cpu{}
	}
	if _, _, c := cpuid(1); c&osxsave == 0 || c&avx == 0 {
		return cpu{}
	}
	kept := xgetbv()
	_, b, c := cpuid(7)
	return cpu{
		avx2: b&avx2 != 0 && kept&halves == halves,
		vbmi: b&f != 0 && b&bw != 0 && c&vbmi != 0 && c&two != 0 && kept&whole == whole,
	}
})

// kernels returns the kernels that this machine can run, the fastest first.
func kernels() []kernel {
	var all []kernel
	if thisCPU().vbmi {
		all = append(all, kernel{"avx512vbmi", addVBMI})
	}
	if thisCPU().avx2 {
		all = append(all, kernel{"avx2", addTreesAVX2})
	}
	return append(all, kernel{"portable", portable})
}

// packed holds the trees in the formats of the kernels.
type packed struct {
	words []wordTree

	// at is the index of each tree in shallow or deep.
	at      []int
	shallow []shallowTree
	deep    []deepTree
}

// shallowTree is a tree in the format of the assembly: four cache lines. The low bytes of
// the leaves fill one register, the high bytes another.
type shallowTree struct {
	low, high [1 << shallow]byte
	cuts      [shallow]packedCut
	depth     uint64
	_         [24]byte
}

// deepTree is a tree whose leaves fill four registers for low and four for high bytes.
type deepTree struct {
	low, high [1 << mostDepth]byte
	cuts      [mostDepth]packedCut
	depth     uint64
	_         [56]byte
}

// packedCut is the offset of a row in bytes and the bin to compare with.
type packedCut struct {
	row   uint64 // from the beginning of the part
	part  uint32 // 0 or 8: offset of the part's pointer among the arguments
	above uint32 // the bin, repeated in each byte
}

func pack(trees []rankTree) packed {
	p := packed{words: packWords(trees)}
	for i := range trees {
		if t := &trees[i]; t.deep() {
			to := deepTree{depth: uint64(len(t.cuts))}
			t.pack(to.cuts[:], to.low[:], to.high[:])
			p.at, p.deep = append(p.at, len(p.deep)), append(p.deep, to)
		} else {
			to := shallowTree{depth: uint64(len(t.cuts))}
			t.pack(to.cuts[:], to.low[:], to.high[:])
			p.at, p.shallow = append(p.at, len(p.shallow)), append(p.shallow, to)
		}
	}
	return p
}

func (t *rankTree) pack(cuts []packedCut, low, high []byte) {
	for i, c := range t.cuts {
		cuts[i] = packedCut{uint64(c.row) * BlockSize, uint32(c.part) * 8, uint32(c.above) * (each & 0xffffffff)}
	}
	for i, leaf := range t.leaves {
		low[i], high[i] = byte(leaf), byte(leaf>>8)
	}
}

// addVBMI adds a run of trees with AVX-512 VBMI. The trees of a run are all deep or all
// shallow, so they are consecutive in memory.
func addVBMI(s *Scorer, scores *Scores, b *parts, from, to int) {
	stored, computed := unsafe.SliceData(b.rows[0]), unsafe.SliceData(b.rows[1])
	if at := s.packed.at[from]; s.trees[from].deep() {
		addDeep(scores, stored, computed, &s.packed.deep[at], to-from, b.ahead, b.lines)
	} else {
		addShallow(scores, stored, computed, &s.packed.shallow[at], to-from, b.ahead, b.lines)
	}
	b.ahead += (to - from) * b.lines * 64
}

// addTreesAVX2 adds a run of trees with AVX2, deep trees with the portable kernel: looking
// up 256 leaves sixteen at a time would be too slow.
func addTreesAVX2(s *Scorer, scores *Scores, b *parts, from, to int) {
	if s.trees[from].deep() {
		portable(s, scores, b, from, to)
		return
	}
	stored, computed := unsafe.SliceData(b.rows[0]), unsafe.SliceData(b.rows[1])
	addAVX2(scores, stored, computed, &s.packed.shallow[s.packed.at[from]], to-from)
}

// addShallow adds n trees to the scores of 128 documents. With each tree it prefetches
// lines cache lines, starting ahead bytes after stored.
//
//go:noescape
func addShallow(scores *Scores, stored, computed *byte, trees *shallowTree, n, ahead, lines int)

// addDeep is addShallow for trees of seven or eight splits.
//
//go:noescape
func addDeep(scores *Scores, stored, computed *byte, trees *deepTree, n, ahead, lines int)

// addAVX2 adds n trees to the scores of 128 documents.
//
//go:noescape
func addAVX2(scores *Scores, stored, computed *byte, trees *shallowTree, n int)

// compress copies documents like compressPlain. It may overwrite what follows them in a
// row.
func compress(to []byte, n int, from []byte, half int, docs uint64) {
	rows := min(len(to), len(from)) / BlockSize
	if rows == 0 || !thisCPU().vbmi {
		compressPlain(to, n, from, half, docs)
		return
	}
	_ = to[n] // bounds check: the assembly has none
	compressRows(&to[0], n, &from[half*64], rows, docs)
}

// compressRows copies the documents of a set from 64 bytes of each row after the first n
// bytes of the target row. There must be room for them.
//
//go:noescape
func compressRows(to *byte, n int, from *byte, rows int, docs uint64)

func cpuid(leaf uint32) (a, b, c uint32)

func xgetbv() uint32

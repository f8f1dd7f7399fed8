package gbdt

// parts holds the rows of a block that the trees need, and what a kernel may prefetch:
// lines cache lines (64 bytes) per tree, starting ahead bytes after the beginning of the
// stored rows.
type parts struct {
	rows         [2][]byte
	ahead, lines int
}

// parts returns the rows for the trees [from, to). The next block probably follows this
// one in memory and is needed for the same trees, so it is prefetched.
func (s *Scorer) parts(b Block, from, to int) parts {
	rows := s.prefix[to].rows
	p := parts{rows: [2][]byte{first(b.Stored, rows[0]), first(b.Computed, rows[1])}}
	if n := to - from; n > 0 {
		p.ahead, p.lines = len(b.Stored), (rows[0]*BlockSize/64+n-1)/n
	}
	return p
}

// kernel is an implementation of adding trees. All kernels give the same integers.
type kernel struct {
	name string
	// add adds a run of trees.
	add func(s *Scorer, scores *Scores, b *parts, from, to int)
}

// first returns the first rows of a part. It panics if there are fewer, even if the
// capacity suffices: the memory after the part belongs to another block.
func first(part []byte, rows int) []byte {
	return part[:len(part):len(part)][:rows*BlockSize]
}

// Kernel returns the name of the kernel used on this machine: "avx512vbmi",
// "avx2" or "portable".
func Kernel() string { return kernels()[0].name }

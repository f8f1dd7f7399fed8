package gbdt

// parts are the rows of a block, cut to what the trees need, and what a kernel
// may ask the memory for meanwhile: so many lines of 64 bytes with each tree,
// from some way behind the begin of the stored rows.
type parts struct {
	rows         [2][]byte
	ahead, lines int
}

// parts cuts a block for the trees [from, to). The next block is likely to lie
// behind this one, and to be wanted for the same trees.
func (s *Scorer) parts(b Block, from, to int) parts {
	rows := s.prefix[to].rows
	p := parts{rows: [2][]byte{first(b.Stored, rows[0]), first(b.Computed, rows[1])}}
	if n := to - from; n > 0 {
		p.ahead, p.lines = len(b.Stored), (rows[0]*BlockSize/64+n-1)/n
	}
	return p
}

// kernel is a way to add trees. All kernels give the same integers.
type kernel struct {
	name string
	// add adds a run of trees.
	add func(s *Scorer, scores *Scores, b *parts, from, to int)
}

// first are the first rows of a part. It panics if there are fewer, even where
// the memory behind the part would do: that is another block's.
func first(part []byte, rows int) []byte {
	return part[:len(part):len(part)][:rows*BlockSize]
}

// Kernel is the name of the kernel that scores on this machine: "avx512vbmi",
// "avx2" or "portable".
func Kernel() string { return kernels()[0].name }

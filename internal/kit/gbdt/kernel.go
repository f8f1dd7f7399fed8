package gbdt

// parts are the rows of a block, cut to what the trees need.
type parts [2][]byte

// kernel is a way to add trees. All kernels give the same integers.
type kernel struct {
	name string
	// add adds a run of trees.
	add func(s *Scorer, scores *Scores, b *parts, from, to int)
}

// reference adds trees document by document. Tests hold the others to it.
func reference(s *Scorer, scores *Scores, b *parts, from, to int) {
	for doc := range scores {
		for i := from; i < to; i++ {
			t := &s.trees[i]
			leaf := 0
			for j, c := range t.cuts {
				if b[c.part][int(c.row)*BlockSize+doc] > c.above {
					leaf |= 1 << j
				}
			}
			scores[doc] += int32(t.leaves[leaf])
		}
	}
}

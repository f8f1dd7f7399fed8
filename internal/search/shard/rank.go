package shard

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/courant-platform/courant/internal/kit/gbdt"
)

// ranking is the ranking of one set of documents for a query.
type ranking struct {
	x       *index
	q       *Query
	m       *Model
	relaxed bool
	hits    []uint8   // by document: how many words it has without stemming
	shares  []float32 // by category: fraction of the documents that lies in it

	room *rankingRoom
}

// rankingRoom is the memory of a ranking, which the next one reuses.
type rankingRoom struct {
	blocks []gbdt.Block
	docs   [][gbdt.BlockSize]uint32
	masks  []gbdt.Mask
	scores []gbdt.Scores
	stored []byte // rows of blocks whose documents were copied together
	rows   []byte // rows of computed features
}

const (
	// One in keepPart candidates, and at least keepLeast, are scored by all trees.
	keepPart  = 10
	keepLeast = 512
	// cutLeast candidates are ranked whatever the share.
	cutLeast = 192
	// dense is the number of candidates from which a block is scored in place.
	dense = 24
)

// ranked is a document with its score.
type ranked struct {
	doc   uint32
	score float64
}

// rank returns the best documents of a set, of which it ranks only the share with the
// best priors. considered is how many were ranked, scored how many by all trees.
func (r *ranking) rank(in set, n, top int, share float64) (best []ranked, considered, scored int) {
	considered = r.cut(in, n, share)
	if considered == 0 || top == 0 {
		return nil, considered, 0
	}
	if r.m == nil {
		return r.plain(in, top), considered, 0
	}
	r.gather(in)
	room := r.room
	least := max(top, keepLeast, considered/keepPart)
	if r.m.first < r.m.scorer.Trees() && considered > least {
		r.score(0, r.m.first)
		r.narrow(least)
	}
	clear(room.scores)
	r.score(0, r.m.scorer.Trees())
	for i := range room.masks {
		scored += room.masks[i].Count()
	}
	return r.final(top), considered, scored
}

// cut drops what exceeds the share: documents with the worst priors of their categories.
// It does not go below cutLeast: that would change results and save nothing.
func (r *ranking) cut(in set, n int, share float64) int {
	if share >= 1 {
		return n
	}
	keep := max(int(math.Ceil(share*float64(n))), min(n, cutLeast))
	if keep == n {
		return n
	}
	const parts = 1 << 10
	var counts [parts]int
	in.each(func(d uint32) { counts[r.x.rank[d]>>6]++ })
	limit, before := 0, 0
	for limit < parts-1 && before+counts[limit] <= keep {
		before += counts[limit]
		limit++
	}
	left := keep - before // that are kept of the part at the limit
	in.keep(func(d uint32) bool {
		part := int(r.x.rank[d] >> 6)
		if part == limit && left > 0 {
			left--
			return true
		}
		return part < limit
	})
	return keep
}

// plain ranks without a model: by prior.
func (r *ranking) plain(in set, top int) (best []ranked) {
	in.each(func(d uint32) { best = append(best, ranked{d, -float64(r.x.rank[d])}) })
	return r.x.first(best, top)
}

// first is the best by score. Ties are broken by id, so that all replicas agree.
func (x *index) first(all []ranked, top int) []ranked {
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(x.id[a.doc], x.id[b.doc]))
	})
	return all[:min(top, len(all))]
}

// gather arranges the candidates in blocks: dense blocks in place, all other candidates
// copied together.
func (r *ranking) gather(in set) {
	room := r.room
	room.docs, room.masks, room.blocks = room.docs[:0], room.masks[:0], room.blocks[:0]
	room.stored, room.rows = room.stored[:0], room.rows[:0]
	rows := len(r.m.stored) * gbdt.BlockSize
	var sparse []uint32
	for b := 0; 2*b < len(in); b++ {
		mask := gbdt.Mask{in[2*b]}
		if 2*b+1 < len(in) {
			mask[1] = in[2*b+1]
		}
		switch n := mask.Count(); {
		case n == 0:
		case n >= dense:
			r.block(gbdt.Block{Stored: r.x.bins[b*rows : (b+1)*rows]}, mask, uint32(b*gbdt.BlockSize))
		default:
			for half, w := range mask {
				for ; w != 0; w &= w - 1 {
					sparse = append(sparse, uint32(b*gbdt.BlockSize+half*64+bits.TrailingZeros64(w)))
				}
			}
		}
	}
	r.collect(sparse, rows)
	r.compute()
}

// block adds a block of consecutive documents.
func (r *ranking) block(b gbdt.Block, mask gbdt.Mask, first uint32) {
	room := r.room
	room.blocks, room.masks = append(room.blocks, b), append(room.masks, mask)
	room.docs = append(room.docs, [gbdt.BlockSize]uint32{})
	docs := &room.docs[len(room.docs)-1]
	most := uint32(r.x.size() - 1)
	for i := range docs {
		docs[i] = min(first+uint32(i), most)
	}
}

// collect copies the bins of single documents together.
func (r *ranking) collect(sparse []uint32, rows int) {
	room := r.room
	blocks := (len(sparse) + gbdt.BlockSize - 1) / gbdt.BlockSize
	room.stored = slices.Grow(room.stored[:0], blocks*rows)[:blocks*rows]
	for b := range blocks {
		part := sparse[b*gbdt.BlockSize : min((b+1)*gbdt.BlockSize, len(sparse))]
		to := room.stored[b*rows : (b+1)*rows]
		for i, d := range part {
			from := r.x.bins[int(d)/gbdt.BlockSize*rows:][:rows]
			for at, j := i, int(d)%gbdt.BlockSize; at < rows; at, j = at+gbdt.BlockSize, j+gbdt.BlockSize {
				to[at] = from[j]
			}
		}
		room.blocks, room.masks = append(room.blocks, gbdt.Block{Stored: to}), append(room.masks, gbdt.FirstOf(len(part)))
		room.docs = append(room.docs, [gbdt.BlockSize]uint32{})
		docs := &room.docs[len(room.docs)-1]
		for i := range docs {
			docs[i] = part[min(i, len(part)-1)]
		}
	}
}

// compute computes the features of the query, and clears the scores.
func (r *ranking) compute() {
	room, rows := r.room, len(r.m.computed)*gbdt.BlockSize
	room.rows = slices.Grow(room.rows[:0], len(room.blocks)*rows)[:len(room.blocks)*rows]
	features := r.m.scorer.Computed()
	known := make([][]uint16, len(r.m.computed))
	for i, of := range r.m.computed {
		known[i] = make([]uint16, of.keys(r.x))
	}
	for b := range room.blocks {
		to := room.rows[b*rows : (b+1)*rows]
		for i, of := range r.m.computed {
			of.fill(r, &features[i], known[i], room.docs[b][:], to[i*gbdt.BlockSize:])
		}
		room.blocks[b].Computed = to
	}
	room.scores = slices.Grow(room.scores[:0], len(room.blocks))[:len(room.blocks)]
	clear(room.scores)
}

// score adds trees to the scores of all blocks.
func (r *ranking) score(from, to int) {
	for b := range r.room.blocks {
		r.m.scorer.Score(&r.room.scores[b], r.room.blocks[b], from, to)
	}
}

// narrow keeps the n best documents, and copies them together.
func (r *ranking) narrow(n int) {
	room := r.room
	limit := gbdt.Threshold(room.scores, room.masks, n)
	stored, computed := len(r.m.stored)*gbdt.BlockSize, len(r.m.computed)*gbdt.BlockSize
	next := narrowed{}
	for b := range room.blocks {
		next.add(room.blocks[b], room.scores[b].AtLeast(limit, room.masks[b]), &room.docs[b], stored, computed)
	}
	room.blocks, room.docs, room.masks = append(room.blocks[:0], next.blocks...), append(room.docs[:0], next.docs...), room.masks[:0]
	for b := range next.blocks {
		room.masks = append(room.masks, gbdt.FirstOf(min(next.n-b*gbdt.BlockSize, gbdt.BlockSize)))
	}
	room.scores = room.scores[:len(room.blocks)]
}

// narrowed is the blocks that narrow fills.
type narrowed struct {
	blocks []gbdt.Block
	docs   [][gbdt.BlockSize]uint32
	n      int
}

func (w *narrowed) add(b gbdt.Block, mask gbdt.Mask, docs *[gbdt.BlockSize]uint32, stored, computed int) {
	for mask.Count() > 0 {
		if w.n == len(w.blocks)*gbdt.BlockSize {
			w.blocks = append(w.blocks, gbdt.Block{Stored: make([]byte, stored), Computed: make([]byte, computed)})
			w.docs = append(w.docs, [gbdt.BlockSize]uint32{})
		}
		at, last := w.n%gbdt.BlockSize, len(w.blocks)-1
		left := w.blocks[last].Append(at, b, mask)
		for half := range mask {
			for m := mask[half] &^ left[half]; m != 0; m &= m - 1 {
				w.docs[last][at] = docs[half*64+bits.TrailingZeros64(m)]
				at++
				w.n++
			}
		}
		mask = left
	}
}

// final sorts the best by their scores, which are rounded alike in all shards.
func (r *ranking) final(top int) (best []ranked) {
	room := r.room
	limit := gbdt.Threshold(room.scores, room.masks, top)
	trees := r.m.scorer.Trees()
	for b := range room.blocks {
		mask := room.scores[b].AtLeast(limit, room.masks[b])
		for half, w := range mask {
			for ; w != 0; w &= w - 1 {
				i := half*64 + bits.TrailingZeros64(w)
				best = append(best, ranked{room.docs[b][i], r.m.scorer.Estimate(room.scores[b][i], 0, trees)})
			}
		}
	}
	return r.x.first(best, top)
}

package gbdt

import (
	"fmt"
	"math"
)

// Scorer is a model compiled for blocks. It is immutable and safe for concurrent use.
//
// A score is a sum of quantised leaves: each leaf is an integer number of steps above the
// lowest leaf of its tree, and all trees share the step, so a larger score means a larger
// prediction, whatever the model's scale. The step is as small as allows the sums of
// about sixteen trees to fit 16 bits: leaves have 12 bits if all trees have the same
// range, up to 16 bits for a tree with a wider range. The error of a score is at most
// half a step per tree, which is 1/8192 of the total range of the trees, unless the range
// of one tree is sixteen times the average.
type Scorer struct {
	model            *Model
	stored, computed []Feature
	trees            []rankTree
	prefix           []prefix // prefix[n] is for the first n trees
	step             float64
	kernel           kernel
	packed           packed
}

// rankTree is a tree over the rows of a block.
type rankTree struct {
	cuts   []cut
	leaves []uint16
	end    int // end of the run of trees whose scores fit 16 bits; see runs
}

// deep reports whether the tree has more leaves than a register has bytes.
func (t *rankTree) deep() bool { return len(t.cuts) > shallow }

// shallow is the limit of splits of a tree whose leaves fit into a 64-byte register.
const shallow = 6

// cut is a split over bins: it is true for bins above it.
type cut struct {
	part  uint8 // part of the block: 0 is stored, 1 computed
	above uint8
	row   int32 // index within the part
}

// Compile compiles a model for blocks. The rows of features for which computed returns
// true are in Block.Computed, all others in Block.Stored; if computed is nil, all are
// stored. It returns an error if a feature has more than 255 borders or the sum of the
// leaves is infinite or NaN.
func Compile(m *Model, computed func(Feature) bool) (*Scorer, error) {
	s := &Scorer{model: m, kernel: kernels()[0]}
	rows := map[int]cut{}
	for i := range m.trees {
		var cuts []cut
		for _, split := range m.trees[i].splits {
			f := m.features[int(split.flat)]
			if n := len(f.Borders); n > mostBorders {
				return nil, fmt.Errorf("compile model: %q has %d borders, the limit is %d", f.Name, n, mostBorders)
			}
			c := s.rowOf(&f, rows, computed)
			c.above = f.Bin(split.border) // a value on its border is not above it
			cuts = append(cuts, c)
		}
		s.trees = append(s.trees, rankTree{cuts: cuts})
	}
	if err := s.quantise(); err != nil {
		return nil, fmt.Errorf("compile model: %w", err)
	}
	s.runs()
	s.packed = pack(s.trees)
	return s, nil
}

// rowOf returns the row of a feature; the first use assigns the next one. rows is indexed
// by flat index.
func (s *Scorer) rowOf(f *Feature, rows map[int]cut, computed func(Feature) bool) cut {
	c, ok := rows[f.Flat]
	switch {
	case ok:
	case computed != nil && computed(*f):
		c = cut{part: 1, row: int32(len(s.computed))}
		s.computed = append(s.computed, *f)
	default:
		c = cut{row: int32(len(s.stored))}
		s.stored = append(s.stored, *f)
	}
	rows[f.Flat] = c
	return c
}

// Stored returns the features of the rows of Block.Stored, in the order in which the
// trees first use them.
func (s *Scorer) Stored() []Feature { return s.stored }

// Computed returns the features of the rows of Block.Computed, in the same order.
func (s *Scorer) Computed() []Feature { return s.computed }

// Trees returns the number of trees.
func (s *Scorer) Trees() int { return len(s.trees) }

// Rows returns how many rows of each part of a block the first trees need.
func (s *Scorer) Rows(trees int) (stored, computed int) {
	r := s.prefix[trees].rows
	return r[0], r[1]
}

// Score adds the trees [from, to) to the scores of a block's documents. The block must
// have the rows that Rows(to) returns, else Score panics.
func (s *Scorer) Score(scores *Scores, b Block, from, to int) {
	parts := s.parts(b, from, to)
	for from < to {
		end := min(to, s.trees[from].end)
		s.kernel.add(s, scores, &parts, from, end)
		from = end
	}
}

// Estimate converts a score of the trees [from, to) to their approximate part of the
// prediction. The bias is included if from is 0.
func (s *Scorer) Estimate(score int32, from, to int) float64 {
	sum := s.prefix[to].base - s.prefix[from].base + float64(s.step*float64(score))
	if from == 0 {
		sum += s.model.bias
	}
	return sum
}

// Bound returns the largest possible error of Estimate: at most half a step for each
// tree, plus the rounding of floating-point sums.
func (s *Scorer) Bound(from, to int) float64 {
	p, q := &s.prefix[from], &s.prefix[to]
	roundings := float64(4 * (to + 4))
	return q.deviation - p.deviation + roundings*0x1p-53*(2*q.size+2*s.step*float64(q.most)+math.Abs(s.model.bias))
}

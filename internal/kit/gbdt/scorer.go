package gbdt

import (
	"fmt"
	"math"
)

// Scorer is a model made ready for blocks. It does not change and may be used by
// several goroutines.
//
// A score is a sum of whole leaves: each tree's leaves are counted from its
// lowest one, in steps that all trees share, so that a larger score is a larger
// prediction, whatever the model's scale. The step is as fine as lets the sums
// of some sixteen trees fit 16 bits: leaves of 12 bits where all trees spread
// alike, up to 16 for a tree that spreads wider than others. So a score is wrong
// by half a step for each tree at most, which is 1/8192 of what the trees spread
// together, unless one spreads sixteen times as wide as they do on average.
type Scorer struct {
	model            *Model
	stored, computed []Feature
	trees            []rankTree
	prefix           []prefix // what the first trees are, one more than there are trees
	step             float64
	kernel           kernel
	packed           packed
}

// rankTree is a tree over the rows of a block.
type rankTree struct {
	cuts   []cut
	leaves []uint16
	end    int // where the run of trees ends whose scores fit 16 bits, see runs
}

// deep says whether the tree has more leaves than a register has bytes.
func (t *rankTree) deep() bool { return len(t.cuts) > shallow }

// shallow is how many splits have leaves that a register has a byte for.
const shallow = 6

// cut holds for bins above it.
type cut struct {
	part  uint8 // of the block: stored or computed
	above uint8
	row   int32 // within the part
}

// Compile prepares a model for blocks. Rows of features for which computed says
// so are looked for in Block.Computed, all others in Block.Stored; nil means
// that all are stored. A feature with more than 255 borders is an error, and so
// are leaves whose sums are no numbers.
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
			c.above = f.Bin(split.border) // which lies on its border, not above
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

// rowOf finds the row of a feature, the next one if this is its first use. rows are
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

// Stored are the features of the rows of Block.Stored, in the order in which
// the trees first use them.
func (s *Scorer) Stored() []Feature { return s.stored }

// Computed are the features of the rows of Block.Computed, in the same order.
func (s *Scorer) Computed() []Feature { return s.computed }

// Trees is how many trees there are.
func (s *Scorer) Trees() int { return len(s.trees) }

// Rows is how many rows of either part of a block the first trees need.
func (s *Scorer) Rows(trees int) (stored, computed int) {
	r := s.prefix[trees].rows
	return r[0], r[1]
}

// Score adds the trees [from, to) to the scores of a block's documents. The
// block must have the Rows that the first to trees need.
func (s *Scorer) Score(scores *Scores, b Block, from, to int) {
	parts := s.parts(b, from, to)
	for from < to {
		end := min(to, s.trees[from].end)
		s.kernel.add(s, scores, &parts, from, end)
		from = end
	}
}

// Estimate is about what the trees [from, to) add to a prediction, by a score of
// theirs; the bias is added with tree 0.
func (s *Scorer) Estimate(score int32, from, to int) float64 {
	sum := s.prefix[to].base - s.prefix[from].base + float64(s.step*float64(score))
	if from == 0 {
		sum += s.model.bias
	}
	return sum
}

// Bound is how far Estimate may be from the prediction: half a step for each
// tree at most, and the rounding of floating-point sums.
func (s *Scorer) Bound(from, to int) float64 {
	p, q := &s.prefix[from], &s.prefix[to]
	roundings := float64(4 * (to + 4))
	return q.deviation - p.deviation + roundings*0x1p-53*(2*q.size+2*s.step*float64(q.most)+math.Abs(s.model.bias))
}

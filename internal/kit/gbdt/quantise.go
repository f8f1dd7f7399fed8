package gbdt

import (
	"errors"
	"math"
)

// prefix holds sums over a Scorer's first trees.
type prefix struct {
	rows      [2]int  // rows of each part that they need
	base      float64 // sum of their lowest leaves
	deviation float64 // sum of their largest rounding errors
	size      float64 // sum of their leaves' largest magnitudes
	most      int     // largest score
}

const (
	mostScore = 1 << 30 // below the maximum of int32, because of rounding
	runBits   = 16      // bits of a lane in which kernels add the trees of a run
	runTrees  = 16      // approximate number of trees in a run
)

// quantise converts leaves to multiples of s.step and computes the prefixes.
func (s *Scorer) quantise() error {
	spread, widest := 0.0, 0.0
	for i := range s.trees {
		low, high := s.limits(i)
		spread += high - low
		widest = max(widest, high-low)
	}
	n := float64(max(1, len(s.trees)))
	s.step = max(spread*runTrees/(n*math.MaxUint16), widest/math.MaxUint16, spread/mostScore)
	p := prefix{}
	s.prefix = append(s.prefix, p)
	for i := range s.trees {
		s.quantiseTree(i, &p)
		s.prefix = append(s.prefix, p)
	}
	if total := p.size + spread + math.Abs(s.model.bias); math.IsInf(total, 0) || math.IsNaN(total) {
		return errors.New("the leaf values are too large: their sum overflows")
	}
	return nil
}

// leaf returns a leaf multiplied by the scale of the model.
func (s *Scorer) leaf(tree, leaf int) float64 {
	return s.model.scale * s.model.trees[tree].leaves[leaf]
}

func (s *Scorer) limits(tree int) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := range s.model.trees[tree].leaves {
		low, high = min(low, s.leaf(tree, i)), max(high, s.leaf(tree, i))
	}
	return low, high
}

func (s *Scorer) quantiseTree(i int, p *prefix) {
	t := &s.trees[i]
	low, high := s.limits(i)
	t.leaves = make([]uint16, len(s.model.trees[i].leaves))
	deviation, most := 0.0, 0
	for j := range t.leaves {
		above := s.leaf(i, j) - low
		steps := 0.0
		if s.step > 0 {
			steps = min(math.Round(above/s.step), math.MaxUint16)
		}
		t.leaves[j] = uint16(steps)
		deviation = max(deviation, math.Abs(steps*s.step-above))
		most = max(most, int(steps))
	}
	for _, c := range t.cuts {
		p.rows[c.part] = max(p.rows[c.part], int(c.row)+1)
	}
	p.base += low
	p.deviation += deviation
	p.size += max(math.Abs(low), math.Abs(high))
	p.most += most
}

// runs groups consecutive trees that a kernel may add in 16 bits: the sum of their
// largest scores fits. All trees of a run are shallow, or all are deep.
func (s *Scorer) runs() {
	begin, sum := 0, 0
	for i := range s.trees {
		most := s.prefix[i+1].most - s.prefix[i].most
		if sum+most >= 1<<runBits || s.trees[i].deep() != s.trees[begin].deep() {
			s.endRun(begin, i)
			begin, sum = i, 0
		}
		sum += most
	}
	s.endRun(begin, len(s.trees))
}

func (s *Scorer) endRun(begin, end int) {
	for i := begin; i < end; i++ {
		s.trees[i].end = end
	}
}

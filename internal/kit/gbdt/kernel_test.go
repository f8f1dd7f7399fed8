package gbdt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// shape holds the parameters of a random model.
type shape struct {
	trees, features      int
	leastDepth, mostDeep int
	borders              int // of a feature, at most
	wild                 bool
}

// randomModel draws a model of features with each treatment of NaN.
func randomModel(r *rand.Rand, s shape) *Model {
	m := &Model{scale: 1, width: s.features, features: map[int]Feature{}}
	if s.wild {
		m.scale, m.bias = r.NormFloat64(), 100*r.NormFloat64()
	}
	for i := range s.features {
		m.features[i] = randomFeature(r, i, s)
	}
	for range s.trees {
		depth := s.leastDepth + r.IntN(s.mostDeep-s.leastDepth+1)
		t := tree{leaves: make([]float64, 1<<depth)}
		for range depth {
			t.splits = append(t.splits, randomSplit(r, m.features[r.IntN(s.features)]))
		}
		size := 1.0
		if s.wild {
			size = math.Exp2(float64(r.IntN(12)))
		}
		for i := range t.leaves {
			t.leaves[i] = size * r.NormFloat64()
		}
		m.trees = append(m.trees, t)
	}
	return m
}

func randomSplit(r *rand.Rand, f Feature) split {
	return split{flat: int32(f.Flat), nan: f.nan, border: f.Borders[r.IntN(len(f.Borders))]}
}

func randomFeature(r *rand.Rand, flat int, s shape) Feature {
	f := Feature{Name: fmt.Sprint("f", flat), Flat: flat}
	f.nan = r.IntN(2) == 0
	for range 1 + r.IntN(s.borders) {
		f.Borders = append(f.Borders, float32(r.NormFloat64()))
	}
	slices.Sort(f.Borders)
	f.Borders = slices.Compact(f.Borders)
	return f
}

// randomValues draws a document: numbers on borders, beside them and missing.
func randomValues(r *rand.Rand, m *Model) []float32 {
	values := make([]float32, m.width)
	for i := range m.trees {
		for _, s := range m.trees[i].splits {
			x := float32(r.NormFloat64())
			switch r.IntN(8) {
			case 0:
				x = s.border
			case 1:
				x = float32(math.NaN())
			case 2:
				x = math.Nextafter32(s.border, 9)
			}
			values[s.flat] = x
		}
	}
	return values
}

// fill draws 128 documents and their bins.
func fill(r *rand.Rand, m *Model, s *Scorer) (Block, [][]float32) {
	b := Block{make([]byte, len(s.stored)*BlockSize), make([]byte, len(s.computed)*BlockSize)}
	docs := make([][]float32, BlockSize)
	for doc := range docs {
		docs[doc] = randomValues(r, m)
		for i := range s.stored {
			b.Stored[i*BlockSize+doc] = s.stored[i].Bin(docs[doc][s.stored[i].Flat])
		}
		for i := range s.computed {
			b.Computed[i*BlockSize+doc] = s.computed[i].Bin(docs[doc][s.computed[i].Flat])
		}
	}
	return b, docs
}

func compile(t testing.TB, m *Model) *Scorer {
	t.Helper()
	s, err := Compile(m, func(f Feature) bool { return f.Flat%5 == 1 })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// check compares all kernels with the reference, and all scores with Predict.
func check(t *testing.T, seed uint64, s shape) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	m := randomModel(r, s)
	scorer := compile(t, m)
	b, docs := fill(r, m, scorer)
	from := r.IntN(s.trees + 1)
	for _, span := range [][2]int{{0, s.trees}, {from, s.trees}, {0, from}, {from, from}, {from, min(from+1, s.trees)}} {
		want := wrongOnPurpose(r)
		start := want
		reference(scorer, &want, &parts{rows: [2][]byte{b.Stored, b.Computed}}, span[0], span[1])
		for _, k := range kernels() {
			scorer.kernel = k
			got := start
			scorer.Score(&got, b, span[0], span[1])
			if got != want {
				t.Fatalf("seed %d, %+v: %s differs from the reference in trees %v", seed, s, k.name, span)
			}
		}
	}
	var scores Scores
	scorer.Score(&scores, b, 0, s.trees)
	for doc, values := range docs {
		exact := m.Predict(values)
		if off := math.Abs(scorer.Estimate(scores[doc], 0, s.trees) - exact); off > scorer.Bound(0, s.trees) {
			t.Fatalf("seed %d, %+v: off by %v, more than %v", seed, s, off, scorer.Bound(0, s.trees))
		}
	}
}

// wrongOnPurpose returns initial scores other than zero, because Score adds to them.
func wrongOnPurpose(r *rand.Rand) Scores {
	var s Scores
	for i := range s {
		s[i] = r.Int32N(1 << 20)
	}
	return s
}

// reference adds trees document by document; all kernels must give its scores.
func reference(s *Scorer, scores *Scores, b *parts, from, to int) {
	for doc := range scores {
		for i := from; i < to; i++ {
			t := &s.trees[i]
			leaf := 0
			for j, c := range t.cuts {
				if b.rows[c.part][int(c.row)*BlockSize+doc] > c.above {
					leaf |= 1 << j
				}
			}
			scores[doc] += int32(t.leaves[leaf])
		}
	}
}

func TestAllKernelsGiveTheSameIntegers(t *testing.T) {
	for depth := range mostDepth + 1 {
		for i, s := range []shape{
			{trees: 1, features: 1, borders: 1},
			{trees: 40, features: 3, borders: 255},
			{trees: 300, features: 300, borders: 40, wild: true},
			{trees: 65, features: 30, borders: 255, wild: true},
		} {
			s.leastDepth, s.mostDeep = depth, depth
			check(t, uint64(depth*10+i), s)
			s.leastDepth = 0
			check(t, uint64(depth*10+i+5), s)
		}
	}
}

func FuzzKernels(f *testing.F) {
	f.Add(uint64(1), uint16(20), uint16(3), uint8(0), uint8(8), uint8(255), true)
	f.Add(uint64(2), uint16(300), uint16(300), uint8(6), uint8(6), uint8(30), false)
	f.Fuzz(func(t *testing.T, seed uint64, trees, features uint16, least, most, borders uint8, wild bool) {
		deepest := int(most) % (mostDepth + 1)
		check(t, seed, shape{
			trees: int(trees) % 301, features: 1 + int(features)%300,
			leastDepth: int(least) % (deepest + 1), mostDeep: deepest,
			borders: 1 + int(borders)%mostBorders, wild: wild,
		})
	})
}

package gbdt

import (
	"math/rand/v2"
	"testing"
)

// The models of the benchmarks: 1,000 trees of depth 6 over 256 features.
const (
	benchTrees    = 1000
	benchFeatures = 256
)

func benchModel(b *testing.B) (*rand.Rand, *Model, *Scorer) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	m := randomModel(r, shape{trees: benchTrees, features: benchFeatures, leastDepth: 6, mostDeep: 6, borders: 255})
	s, err := Compile(m, nil)
	if err != nil {
		b.Fatal(err)
	}
	return r, m, s
}

// noise fills blocks with bins, all in one piece as an index holds them.
func noise(r *rand.Rand, s *Scorer, blocks int) []Block {
	row := len(s.stored) * BlockSize
	all := make([]byte, blocks*row)
	for i := range all {
		all[i] = byte(r.Uint32())
	}
	out := make([]Block, blocks)
	for i := range out {
		out[i].Stored = all[i*row : (i+1)*row]
	}
	return out
}

// perTree reports nanoseconds per document and tree.
func perTree(b *testing.B, docs, trees int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(docs*trees), "ns/doc/tree")
}

func BenchmarkPredict(b *testing.B) {
	r, m, _ := benchModel(b)
	docs := make([][]Value, 64)
	for i := range docs {
		docs[i] = randomValues(r, m)
	}
	for b.Loop() {
		for _, values := range docs {
			m.Predict(values)
		}
	}
	perTree(b, len(docs), benchTrees)
}

func BenchmarkExact(b *testing.B) {
	r, _, s := benchModel(b)
	block := noise(r, s, 1)[0]
	for b.Loop() {
		for doc := range BlockSize {
			s.Exact(block, doc)
		}
	}
	perTree(b, BlockSize, benchTrees)
}

func BenchmarkScore(b *testing.B) {
	all := append(kernels(), kernel{"reference", reference, plainPack})
	for _, k := range all {
		b.Run(k.name, func(b *testing.B) {
			r, _, s := benchModel(b)
			s.kernel, s.packed = k, k.pack(s.trees)
			block := noise(r, s, 1)[0]
			var scores Scores
			for b.Loop() {
				scores = Scores{}
				s.Score(&scores, block, 0, benchTrees)
			}
			perTree(b, BlockSize, benchTrees)
		})
	}
}

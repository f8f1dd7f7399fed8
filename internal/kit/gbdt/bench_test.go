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

// noise fills blocks with random bins, consecutive in memory as in an index.
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
	docs := make([][]float32, 64)
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

func BenchmarkScore(b *testing.B) {
	all := append(kernels(), kernel{"reference", reference})
	for _, k := range all {
		b.Run(k.name, func(b *testing.B) {
			r, _, s := benchModel(b)
			s.kernel = k
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

// Trees of eight splits have 256 leaves.
func BenchmarkScoreDeep(b *testing.B) {
	for _, k := range kernels() {
		b.Run(k.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			m := randomModel(r, shape{trees: benchTrees, features: benchFeatures, leastDepth: 8, mostDeep: 8, borders: 255})
			s := compile(b, m)
			s.kernel = k
			block, _ := fill(r, m, s)
			var scores Scores
			for b.Loop() {
				scores = Scores{}
				s.Score(&scores, block, 0, benchTrees)
			}
			perTree(b, BlockSize, benchTrees)
		})
	}
}

// The query of a leaf category: 50,000 documents.
const benchDocs = 50_000

func benchQuery(b *testing.B, run func(s *Scorer, blocks []Block)) {
	for _, k := range kernels() {
		b.Run(k.name, func(b *testing.B) {
			r, _, s := benchModel(b)
			s.kernel = k
			blocks := noise(r, s, (benchDocs+BlockSize-1)/BlockSize)
			for b.Loop() {
				run(s, blocks)
			}
			perTree(b, benchDocs, benchTrees)
		})
	}
}

func BenchmarkQueryAllTrees(b *testing.B) {
	benchQuery(b, func(s *Scorer, blocks []Block) {
		scores := make([]Scores, len(blocks))
		for i := range blocks {
			s.Score(&scores[i], blocks[i], 0, benchTrees)
		}
	})
}

// 12 trees for all documents, all trees for the best tenth.
func BenchmarkQueryCascade(b *testing.B) {
	benchQuery(b, func(s *Scorer, blocks []Block) {
		const first, kept = 12, benchDocs / 10
		scores, among := make([]Scores, len(blocks)), make([]Mask, len(blocks))
		for i := range blocks {
			s.Score(&scores[i], blocks[i], 0, first)
			among[i] = FirstOf(benchDocs - i*BlockSize)
		}
		best := gather(s, blocks, scores, among, kept)
		scores = make([]Scores, len(best))
		for i := range best {
			s.Score(&scores[i], best[i], 0, benchTrees)
		}
	})
}

// gather copies the best n documents into new blocks.
func gather(s *Scorer, blocks []Block, scores []Scores, among []Mask, n int) []Block {
	threshold := Threshold(scores, among, n)
	row := len(s.stored) * BlockSize
	var best []Block
	count := 0
	for i := range blocks {
		left := scores[i].AtLeast(threshold, among[i])
		for left.Count() > 0 {
			if count/BlockSize == len(best) {
				best = append(best, Block{Stored: make([]byte, row)})
			}
			before := left.Count()
			left = best[count/BlockSize].Append(count%BlockSize, blocks[i], left)
			count += before - left.Count()
		}
	}
	return best
}

func BenchmarkThreshold(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	scores, among := make([]Scores, benchDocs/BlockSize), make([]Mask, benchDocs/BlockSize)
	for i := range scores {
		among[i] = FirstOf(BlockSize)
		for j := range scores[i] {
			scores[i][j] = r.Int32N(1 << 16)
		}
	}
	for b.Loop() {
		Threshold(scores, among, benchDocs/10)
	}
	perTree(b, benchDocs, 1)
}

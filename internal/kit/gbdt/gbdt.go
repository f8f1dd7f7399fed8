// Package gbdt evaluates models of gradient-boosted oblivious trees as CatBoost
// exports them to JSON. Read and Model.Predict do it plainly, with CatBoost's
// own comparisons; Compile turns a model into a Scorer, which ranks blocks of
// 128 documents whose features are bins of one byte: some forty times faster in
// plain Go, several hundred times by AVX-512.
//
// The scores of a Scorer are integers. Every kernel gives the same ones, on any
// machine; Scorer.Bound says how far they may be from the model.
//
// Models with categorical features, several classes, texts, embeddings or trees
// that are not oblivious are refused.
package gbdt

// mostDepth is how many splits a tree may have.
const mostDepth = 8

// Model is a sum of trees, scaled and shifted. It does not change and may be
// used by several goroutines.
type Model struct {
	trees       []tree
	scale, bias float64
	features    map[int]Feature // by flat index
	width       int
}

// tree has 1<<len(splits) leaves. Split i decides bit i of the leaf's number.
type tree struct {
	splits []split
	leaves []float64
}

// split holds for a number above its border.
type split struct {
	flat   int32 // where the value stands
	border float32
	nan    bool // whether it holds for NaN
}

// Trees is how many trees the model has.
func (m *Model) Trees() int { return len(m.trees) }

// Width is how many values Predict needs: one more than the largest flat index
// of a feature that CatBoost names in the model.
func (m *Model) Width() int { return m.width }

// Predict gives CatBoost's raw prediction (RawFormulaVal). Values stand at their
// feature's flat index, that is in the order of the columns of the training
// pool; there must be at least Width of them. NaN says that one is missing.
func (m *Model) Predict(values []float32) float64 {
	sum := 0.0
	for i := range m.trees {
		sum += m.trees[i].value(values)
	}
	return m.finish(sum)
}

// finish turns the sum of leaves into the prediction. The conversion keeps the
// product from being fused with the sum, which would round otherwise on some
// processors.
func (m *Model) finish(sum float64) float64 { return float64(m.scale*sum) + m.bias }

func (t *tree) value(values []float32) float64 {
	leaf := 0
	for i := range t.splits {
		if s := &t.splits[i]; s.holds(values[s.flat]) {
			leaf |= 1 << i
		}
	}
	return t.leaves[leaf]
}

func (s *split) holds(x float32) bool {
	return x > s.border || s.nan && x != x
}

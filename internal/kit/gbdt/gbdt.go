// Package gbdt evaluates models of gradient-boosted oblivious trees as CatBoost
// exports them to JSON. Read and Model.Predict are the reference, with CatBoost's
// own comparisons; Compile converts a model to a Scorer, which scores blocks of 128
// documents whose features are bins of one byte: about forty times faster in plain Go,
// several hundred times with AVX-512.
//
// The scores of a Scorer are integers. All kernels give the same scores on all machines;
// Scorer.Bound returns how far they may be from the model.
//
// Models with categorical features, several classes, texts, embeddings or trees
// that are not oblivious are refused.
package gbdt

// mostDepth is the limit of splits in a tree.
const mostDepth = 8

// Model is a sum of trees, scaled and shifted. It is immutable and safe for concurrent
// use.
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

// split is true for a value above its border.
type split struct {
	flat   int32 // index of the value
	border float32
	nan    bool // whether it is true for NaN
}

// Trees returns the number of trees.
func (m *Model) Trees() int { return len(m.trees) }

// Width returns how many values Predict needs: one more than the largest flat index of a
// feature in the model.
func (m *Model) Width() int { return m.width }

// Predict returns CatBoost's raw prediction (RawFormulaVal). values are indexed by the
// flat index of the feature, which is the order of the columns of the training pool;
// there must be at least Width of them. NaN is a missing value.
func (m *Model) Predict(values []float32) float64 {
	sum := 0.0
	for i := range m.trees {
		sum += m.trees[i].value(values)
	}
	return m.finish(sum)
}

// finish converts the sum of leaves to the prediction. The explicit conversion to float64
// prevents a fused multiply-add, which would round differently on some processors.
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

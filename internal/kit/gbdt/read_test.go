package gbdt_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/courant-platform/courant/internal/kit/gbdt"
)

// whole is a valid model, which the tests damage.
const whole = `{"features_info":{
	"float_features":[{"feature_index":0,"flat_feature_index":2,"feature_id":"price","borders":[0.5,1.5],"nan_value_treatment":"AsTrue"},
		{"feature_index":1,"flat_feature_index":0,"feature_name":"rating","borders":[0.5]}]},
	"oblivious_trees":[
		{"leaf_values":[1,2,3,4],"splits":[
			{"split_type":"FloatFeature","float_feature_index":0,"border":1.5},
			{"split_type":"FloatFeature","float_feature_index":1,"border":0.5}]},
		{"leaf_values":[0.25],"splits":null}],
	"scale_and_bias":[2,[10]]}`

func TestASmallModelByHand(t *testing.T) {
	m, err := gbdt.Read([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if m.Width() != 3 || m.Trees() != 2 {
		t.Errorf("width %d, trees %d", m.Width(), m.Trees())
	}
	for _, c := range []struct {
		rating, price, want float64
	}{
		{0, 1.5, 2*1.25 + 10},
		{0, 1.6, 2*2.25 + 10},
		{1, 1, 2*3.25 + 10},
		{1, math.NaN(), 2*4.25 + 10},
	} {
		if got := m.Predict([]float32{float32(c.rating), 0, float32(c.price)}); got != c.want {
			t.Errorf("%v, %v: %v, want %v", c.rating, c.price, got, c.want)
		}
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{whole, "", "unexpected end of JSON input"},
		{whole, "{}", "oblivious_trees is missing"},
		{"oblivious_trees", "trees", "not oblivious"},
		{"[2,[10]]", "[2]", "scale_and_bias must have 2 elements, not 1"},
		{"[2,[10]]", "[2,[10,11]]", "2 biases"},
		{"[2,[10]]", `[2,"10"]`, "bias: "},
		{"[2,[10]]", `["2",10]`, "scale: "},
		{"[0.5,1.5]", "[1.5,1.5]", `float feature "price": borders must ascend, but border 1 is not above`},
		{"[0.5,1.5]", "[1.5,1e99]", "1e99"},
		{"AsTrue", "AsBefore", `unknown nan_value_treatment "AsBefore"`},
		{`"flat_feature_index":2`, `"flat_feature_index":-1`, "flat index -1 is not between"},
		{`"flat_feature_index":2`, `"flat_feature_index":99999999`, "flat index 99999999 is not between"},
		{`"flat_feature_index":2`, `"flat_feature_index":0`, `float feature "rating": duplicate flat index 0`},
		{`"border":1.5`, `"border":1.25`, `tree 0: split 0: 1.25 is not a border of "price"`},
		{`"float_feature_index":0`, `"float_feature_index":7`, "there is no float feature 7"},
		{`"feature_index":1`, `"feature_index":0`, `float feature "rating": duplicate index 0`},
		{"[1,2,3,4]", "[1,2,3]", "tree 0: 2 splits need 4 leaves, not 3"},
		{"[1,2,3,4]", "[1,2,3,4,5,6,7,8]", "tree 0: 2 values per leaf"},
		{`"FloatFeature","float_feature_index":1`, `"OneHotFeature","cat_feature_index":0`, `tree 0: split 1: split_type must be FloatFeature, not "OneHotFeature"`},
		{`"splits":null`, `"splits":[{},{},{},{},{},{},{},{},{}]`, "tree 1: 9 splits, the limit is 8"},
	} {
		_, err := gbdt.Read([]byte(strings.Replace(whole, c.old, c.new, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), "read model: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in place of %s: %v, want %s", c.new, c.old, err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(whole))
	paths, err := filepath.Glob("testdata/refused*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := gbdt.Read(text)
		if err != nil {
			return
		}
		values := make([]float32, m.Width())
		predicted := m.Predict(values)
		s, err := gbdt.Compile(m, nil)
		if err != nil {
			return
		}
		b, scores := blockOf(s, values), gbdt.Scores{}
		s.Score(&scores, b, 0, s.Trees())
		if off := math.Abs(s.Estimate(scores[0], 0, s.Trees()) - predicted); off > s.Bound(0, s.Trees()) {
			t.Errorf("off by %v, more than %v", off, s.Bound(0, s.Trees()))
		}
	})
}

package gbdt

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// mostFlat is the limit of the index of a feature, and so of the values of a document.
const mostFlat = 1 << 20

// The JSON of CatBoost 1.x (catboost/libs/model/model_export/json_model_helpers.cpp).
type (
	modelJSON struct {
		Features     featuresJSON      `json:"features_info"`
		Trees        *[]treeJSON       `json:"oblivious_trees"`
		Asymmetric   json.RawMessage   `json:"trees"`
		ScaleAndBias []json.RawMessage `json:"scale_and_bias"`
	}
	featuresJSON struct {
		Floats []floatJSON `json:"float_features"`
	}
	floatJSON struct {
		Index   int       `json:"feature_index"`
		Flat    int       `json:"flat_feature_index"`
		ID      string    `json:"feature_id"`
		Name    string    `json:"feature_name"`
		Borders []float32 `json:"borders"`
		NaN     string    `json:"nan_value_treatment"`
	}
	treeJSON struct {
		Leaves []float64   `json:"leaf_values"`
		Splits []splitJSON `json:"splits"`
	}
	splitJSON struct {
		Type   string  `json:"split_type"`
		Float  int     `json:"float_feature_index"`
		Border float32 `json:"border"`
	}
)

// Read reads a model in the format of CatBoost's save_model(…, format="json"). It takes
// memory in proportion to the length of the text, whatever the text says.
func Read(text []byte) (*Model, error) {
	var j modelJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	m, err := j.model()
	if err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	return m, nil
}

func (j *modelJSON) model() (*Model, error) {
	if len(j.Asymmetric) > 0 {
		return nil, errors.New("the trees are not oblivious; train the model with grow_policy=SymmetricTree")
	}
	if j.Trees == nil {
		return nil, errors.New("oblivious_trees is missing")
	}
	scale, bias, err := scaleAndBias(j.ScaleAndBias)
	if err != nil {
		return nil, err
	}
	known, err := j.Features.known()
	if err != nil {
		return nil, err
	}
	m := &Model{scale: scale, bias: bias, features: known.byFlat, width: known.width}
	for i, t := range *j.Trees {
		read, err := t.tree(known)
		if err != nil {
			return nil, fmt.Errorf("tree %d: %w", i, err)
		}
		m.trees = append(m.trees, read)
	}
	return m, nil
}

// scaleAndBias reads [scale, [bias]], or [scale, bias] as in versions before 0.24.
func scaleAndBias(j []json.RawMessage) (scale, bias float64, err error) {
	if len(j) == 0 {
		return 1, 0, nil
	}
	if len(j) != 2 {
		return 0, 0, fmt.Errorf("scale_and_bias must have 2 elements, not %d", len(j))
	}
	if err := json.Unmarshal(j[0], &scale); err != nil {
		return 0, 0, fmt.Errorf("scale: %w", err)
	}
	if json.Unmarshal(j[1], &bias) == nil {
		return scale, bias, nil
	}
	var each []float64
	if err := json.Unmarshal(j[1], &each); err != nil {
		return 0, 0, fmt.Errorf("bias: %w", err)
	}
	if len(each) != 1 {
		return 0, 0, fmt.Errorf("scale_and_bias has %d biases, but only models with one output are supported", len(each))
	}
	return scale, each[0], nil
}

// known holds the features that splits may refer to.
type known struct {
	byIndex, byFlat map[int]Feature
	width           int
}

func (j *featuresJSON) known() (*known, error) {
	k := &known{byIndex: map[int]Feature{}, byFlat: map[int]Feature{}}
	for _, f := range j.Floats {
		nan, err := holdsForNaN(f.NaN)
		if err == nil {
			err = ascending(f.Borders)
		}
		if err == nil {
			err = k.add(f.Index, Feature{Name: f.name(), Flat: f.Flat, Borders: f.Borders, nan: nan})
		}
		if err != nil {
			return nil, fmt.Errorf("float feature %q: %w", f.name(), err)
		}
	}
	return k, nil
}

func (k *known) add(index int, f Feature) error {
	if f.Flat < 0 || f.Flat > mostFlat {
		return fmt.Errorf("flat index %d is not between 0 and %d", f.Flat, mostFlat)
	}
	if _, twice := k.byIndex[index]; twice {
		return fmt.Errorf("duplicate index %d", index)
	}
	if _, twice := k.byFlat[f.Flat]; twice {
		return fmt.Errorf("duplicate flat index %d", f.Flat)
	}
	k.byIndex[index], k.byFlat[f.Flat] = f, f
	k.width = max(k.width, f.Flat+1)
	return nil
}

func (f *floatJSON) name() string {
	return cmp.Or(f.Name, f.ID, strconv.Itoa(f.Flat))
}

func holdsForNaN(treatment string) (bool, error) {
	switch treatment {
	case "AsIs", "AsFalse", "":
		return false, nil
	case "AsTrue":
		return true, nil
	}
	return false, fmt.Errorf("unknown nan_value_treatment %q", treatment)
}

func ascending(borders []float32) error {
	for i := 1; i < len(borders); i++ {
		if borders[i-1] >= borders[i] {
			return fmt.Errorf("borders must ascend, but border %d is not above the previous one", i)
		}
	}
	return nil
}

func (j *treeJSON) tree(k *known) (tree, error) {
	if len(j.Splits) > mostDepth {
		return tree{}, fmt.Errorf("%d splits, the limit is %d", len(j.Splits), mostDepth)
	}
	switch n := 1 << len(j.Splits); {
	case len(j.Leaves) == n:
	case len(j.Leaves) > n && len(j.Leaves)%n == 0:
		return tree{}, fmt.Errorf("%d values per leaf, but only models with one output are supported", len(j.Leaves)/n)
	default:
		return tree{}, fmt.Errorf("%d splits need %d leaves, not %d", len(j.Splits), n, len(j.Leaves))
	}
	t := tree{leaves: j.Leaves}
	for i, s := range j.Splits {
		read, err := s.split(k)
		if err != nil {
			return tree{}, fmt.Errorf("split %d: %w", i, err)
		}
		t.splits = append(t.splits, read)
	}
	return t, nil
}

func (j *splitJSON) split(k *known) (split, error) {
	if j.Type != "FloatFeature" {
		return split{}, fmt.Errorf("split_type must be FloatFeature, not %q", j.Type)
	}
	f, ok := k.byIndex[j.Float]
	if !ok {
		return split{}, fmt.Errorf("there is no float feature %d", j.Float)
	}
	if _, ok := slices.BinarySearch(f.Borders, j.Border); !ok {
		return split{}, fmt.Errorf("%v is not a border of %q", j.Border, f.Name)
	}
	return split{flat: int32(f.Flat), border: j.Border, nan: f.nan}, nil
}

package gbdt_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/courant-platform/courant/internal/kit/gbdt"
)

// fixture is a file of training/fixtures.py with the predictions of CatBoost.
type fixture struct {
	Model       json.RawMessage
	Rows        [][]cell
	Predictions []float64

	name string
}

// cell reads a value as the script writes it.
type cell float32

func (c *cell) UnmarshalJSON(text []byte) error {
	var number float32
	if json.Unmarshal(text, &number) == nil {
		*c = cell(number)
		return nil
	}
	var word string
	if err := json.Unmarshal(text, &word); err != nil {
		return err
	}
	other, err := strconv.ParseFloat(word, 32)
	*c = cell(other)
	return err
}

// fixtures reads all files with predictions.
func fixtures(t testing.TB) []fixture {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal("no fixtures", err)
	}
	var all []fixture
	for _, path := range paths {
		f := fixture{name: strings.TrimSuffix(filepath.Base(path), ".json")}
		if strings.HasPrefix(f.name, "refused") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &f); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, f)
	}
	return all
}

func (f *fixture) read(t testing.TB) *gbdt.Model {
	t.Helper()
	m, err := gbdt.Read(f.Model)
	if err != nil {
		t.Fatalf("%s: %v", f.name, err)
	}
	return m
}

func (f *fixture) row(i int) []float32 {
	row := make([]float32, len(f.Rows[i]))
	for j, c := range f.Rows[i] {
		row[j] = float32(c)
	}
	return row
}

func TestPredictionsEqualThoseOfCatBoost(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			m := f.read(t)
			for i, want := range f.Predictions {
				got := m.Predict(f.row(i))
				if math.Abs(got-want) > 1e-12*max(1, math.Abs(want)) {
					t.Errorf("row %d: %v, CatBoost says %v", i, got, want)
				}
			}
		})
	}
}

func TestUnsupportedModelsAreRefused(t *testing.T) {
	for name, want := range map[string]string{
		"refused_lossguide":  "read model: the trees are not oblivious; train the model with grow_policy=SymmetricTree",
		"refused_multiclass": "read model: scale_and_bias has 3 biases, but only models with one output are supported",
		"refused_onehot":     `read model: tree 0: split 3: split_type must be FloatFeature, not "OneHotFeature"`,
		"refused_ctr":        `read model: tree 1: split 1: split_type must be FloatFeature, not "OnlineCtr"`,
	} {
		text, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := gbdt.Read(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package gbdt_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/courant-platform/courant/internal/kit/gbdt"
)

// blockOf is a block whose first documents have the given values.
func blockOf(s *gbdt.Scorer, docs ...[]float32) gbdt.Block {
	rows := func(features []gbdt.Feature) []byte {
		out := make([]byte, len(features)*gbdt.BlockSize)
		for i := range features {
			for doc, values := range docs {
				out[i*gbdt.BlockSize+doc] = features[i].Bin(values[features[i].Flat])
			}
		}
		return out
	}
	return gbdt.Block{Stored: rows(s.Stored()), Computed: rows(s.Computed())}
}

func TestScoresOfRealModelsAreWithinTheBound(t *testing.T) {
	for _, f := range fixtures(t) {
		m := f.read(t)
		s, err := gbdt.Compile(m, func(f gbdt.Feature) bool { return f.Flat == 1 })
		if err != nil {
			t.Fatal(err)
		}
		var docs [][]float32
		for i := range f.Rows {
			docs = append(docs, f.row(i))
		}
		b, scores := blockOf(s, docs...), gbdt.Scores{}
		s.Score(&scores, b, 0, s.Trees()/2)
		s.Score(&scores, b, s.Trees()/2, s.Trees())
		bound := s.Bound(0, s.Trees())
		for i, values := range docs {
			exact := m.Predict(values)
			if off := math.Abs(s.Estimate(scores[i], 0, s.Trees()) - exact); off > bound {
				t.Errorf("%s, row %d: off by %v, more than %v", f.name, i, off, bound)
			}
		}
		if spread := slices.Max(f.Predictions) - slices.Min(f.Predictions); bound > 0.02*spread+1e-9 {
			t.Errorf("%s: a bound of %v for predictions that spread by %v", f.name, bound, spread)
		}
	}
}

func TestRowsAreInTheOrderOfFirstUse(t *testing.T) {
	m, err := gbdt.Read([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	s, err := gbdt.Compile(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := s.Stored()
	if len(all) != 2 || all[0].Name != "price" || all[1].Name != "rating" {
		t.Errorf("%+v", all)
	}
	if before, _ := s.Rows(0); before != 0 {
		t.Errorf("no trees need %d rows", before)
	}
	s, err = gbdt.Compile(m, func(f gbdt.Feature) bool { return f.Name == "rating" })
	if err != nil {
		t.Fatal(err)
	}
	if stored, computed := s.Rows(1); stored != 1 || computed != 1 || s.Computed()[0].Name != "rating" {
		t.Errorf("%d rows stored, %d computed", stored, computed)
	}
}

func TestAMissingRowPanicsInsteadOfReadingTheNextBlock(t *testing.T) {
	m, err := gbdt.Read([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	s, err := gbdt.Compile(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("the missing row was found somewhere")
		}
	}()
	two := make([]byte, 2*gbdt.BlockSize)
	s.Score(&gbdt.Scores{}, gbdt.Block{Stored: two[:gbdt.BlockSize]}, 0, s.Trees())
}

func TestABinIsTheNumberOfBordersBelow(t *testing.T) {
	f := gbdt.Feature{Borders: []float32{-1, 0, 2}}
	for x, want := range map[float64]uint8{-2: 0, -1: 0, -0.5: 1, 0: 1, math.Copysign(0, -1): 1, 2: 2, 2.1: 3, math.Inf(1): 3, math.Inf(-1): 0} {
		if got := f.Bin(float32(x)); got != want {
			t.Errorf("%v is in bin %d, want %d", x, got, want)
		}
	}
	if got := f.Bin(float32(math.NaN())); got != 0 {
		t.Errorf("NaN is in bin %d", got)
	}
}

func TestModelsThatCannotBeQuantisedAreRefused(t *testing.T) {
	borders := "1.5"
	for i := 2; i <= 256; i++ {
		borders += fmt.Sprint(",", i)
	}
	text := strings.Replace(whole, "0.5,1.5", borders, 1)
	for _, c := range []struct{ text, want string }{
		{text, `"price" has 256 borders, the limit is 255`},
		{strings.Replace(whole, "[1,2,3,4]", "[1e308,-1e308,3,4]", 1), "too large"},
	} {
		m, err := gbdt.Read([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := gbdt.Compile(m, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

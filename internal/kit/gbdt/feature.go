package gbdt

import "slices"

// mostBorders is how many borders leave room for bins of one byte.
const mostBorders = 255

// Feature is what one row of a block holds: a numeric feature, or one category
// of a categorical feature. Each category that a model asks for has a row of
// its own, so that all splits are one comparison, bin > cut, and kernels need
// no other.
type Feature struct {
	Name        string
	Flat        int       // where its value stands in the values for Model.Predict
	Borders     []float32 // of a numeric feature, ascending
	Categorical bool
	Category    Value // of a categorical feature

	nan bool // whether splits hold for NaN
}

// Bin is the number of borders below a number, or 1 for the feature's category
// and 0 for others. NaN goes where the model sends it.
func (f *Feature) Bin(v Value) uint8 {
	if f.Categorical {
		if v == f.Category {
			return 1
		}
		return 0
	}
	x := v.number()
	if x != x {
		if f.nan {
			return uint8(len(f.Borders))
		}
		return 0
	}
	below, _ := slices.BinarySearch(f.Borders, x)
	return uint8(below)
}

package gbdt

import "slices"

// mostBorders is how many borders leave room for bins of one byte.
const mostBorders = 255

// Feature is what one row of a block holds.
type Feature struct {
	Name    string
	Flat    int       // where its value stands in the values for Model.Predict
	Borders []float32 // ascending

	nan bool // whether splits hold for NaN
}

// Bin is the number of borders below a number. NaN goes where the model sends it.
func (f *Feature) Bin(x float32) uint8 {
	if x != x {
		if f.nan {
			return uint8(len(f.Borders))
		}
		return 0
	}
	below, _ := slices.BinarySearch(f.Borders, x)
	return uint8(below)
}

package gbdt

import "slices"

// mostBorders is the limit of borders for which bins fit into one byte.
const mostBorders = 255

// Feature is the feature of one row of a block.
type Feature struct {
	Name    string
	Flat    int       // index of its value in the argument of Model.Predict
	Borders []float32 // ascending

	nan bool // whether splits are true for NaN
}

// Bin returns the number of borders below a value. NaN gets the lowest or the highest
// bin, as the model says.
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

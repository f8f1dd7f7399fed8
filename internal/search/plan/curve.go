package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/courant-platform/courant"
)

// Point says that ranking a share of the candidates loses a part of the clicks.
type Point struct {
	Share float64 `json:"share"`
	Lost  float64 `json:"lost"`
}

// Curve is what shares lose, in straight lines between points. Below the last one it
// goes to the loss of everything at a share of 0.
type Curve []Point

// Measured is the loss of clicks where candidates are left out by a prior that makes
// up half of what people see in an offer, among a million offers: the worse of the
// figures for queries with 1,000 to 9,999 and for those with more answers.
func Measured() Curve {
	return Curve{{1, 0}, {0.7, 0}, {0.5, 0.0005}, {0.1, 0.027}}
}

// ReadCurve reads a JSON array of points in any order.
func ReadCurve(text []byte) (Curve, error) {
	var c Curve
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, courant.Errorf(courant.Invalid, `must be a list such as [{"share":0.5,"lost":0.0005}]: %w`, err)
	}
	slices.SortFunc(c, func(a, b Point) int { return cmp.Compare(b.Share, a.Share) })
	for i, p := range c {
		switch {
		case p.Share < 0 || p.Share > 1 || p.Lost < 0 || p.Lost > 1:
			return nil, courant.Errorf(courant.Invalid, "share and lost must be between 0 and 1, not %g and %g", p.Share, p.Lost)
		case i > 0 && p.Share == c[i-1].Share:
			return nil, courant.Errorf(courant.Invalid, "share %g is listed twice", p.Share)
		case i > 0 && p.Lost < c[i-1].Lost:
			return nil, courant.Errorf(courant.Invalid, "share %g must not lose less than share %g", p.Share, c[i-1].Share)
		}
	}
	if len(c) == 0 {
		return nil, courant.Errorf(courant.Invalid, "must have at least one point")
	}
	return c, nil
}

// Lost is the part of clicks that a share loses.
func (c Curve) Lost(share float64) float64 {
	above := Point{1, 0}
	for _, p := range c {
		if share >= p.Share {
			return line(p, above, share)
		}
		above = p
	}
	return line(Point{0, 1}, above, share)
}

func line(a, b Point, share float64) float64 {
	if b.Share <= a.Share {
		return b.Lost
	}
	return a.Lost + (b.Lost-a.Lost)*min((share-a.Share)/(b.Share-a.Share), 1)
}

// String is the curve for people.
func (c Curve) String() (s string) {
	for i, p := range c {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%.3g %% lost at %.3g %%", 100*p.Lost, 100*p.Share)
	}
	return s
}

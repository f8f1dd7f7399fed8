package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/courant-platform/courant"
)

// Point is the fraction of clicks that is lost at a share.
type Point struct {
	Share float64 `json:"share"`
	Lost  float64 `json:"lost"`
}

// Curve is the fraction of clicks lost by share, linear between points. Below the last
// point it rises to 1 at a share of 0.
type Curve []Point

// Measured is the loss measured on a million generated offers, where the prior by which
// candidates are left out accounts for half of what people see in an offer. It is the
// worse of the values for queries with 1,000 to 9,999 answers and with more.
func Measured() Curve {
	return Curve{{1, 0}, {0.7, 0}, {0.5, 0.0005}, {0.1, 0.027}}
}

// ReadCurve parses a JSON array of points in any order. Fails with Invalid.
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

// Lost is the fraction of clicks lost at a share.
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

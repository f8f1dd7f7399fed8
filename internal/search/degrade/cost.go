package degrade

import (
	"math"
	"time"
)

// Work is what a query took.
type Work struct {
	Matched    int           // candidates that passed the filter
	Considered int           // candidates that were ranked; fewer than Matched at a share below 1
	CPU        time.Duration // of all threads
}

// Estimate is what a query costs on average, in CPU seconds.
type Estimate struct {
	Fixed  float64 // whatever the share
	Ranked float64 // for ranking all its candidates
	Each   float64 // for ranking one candidate
	Seen   int     // number of queries that it was learnt from
}

const fewSeen = 20

// Known reports whether enough queries were seen to rely on the estimate.
func (e Estimate) Known() bool { return e.Seen >= fewSeen && e.Full() > 0 }

// Full is the cost at a share of 1.
func (e Estimate) Full() float64 { return e.Fixed + e.Ranked }

// At is the cost at a share.
func (e Estimate) At(share float64) float64 { return e.Fixed + share*e.Ranked }

// FixedPart is the fraction of the full cost that does not depend on the share.
func (e Estimate) FixedPart() float64 {
	if e.Full() <= 0 {
		return 0
	}
	return e.Fixed / e.Full()
}

// Cost learns what queries cost: an amount per query, per candidate that matched
// (filters and facets) and per candidate that was ranked. It solves weighted least
// squares over about the last thousand queries, with a ridge towards a guess for when
// the queries do not tell the three apart, such as when everything is ranked.
type Cost struct {
	Memory float64 // number of queries that are remembered, 1000 unless set

	seen    int
	moments [terms + 1][terms + 1]float64 // weighted sums of products; the last is the CPU
	guess   Estimate                      // of Average, kept until much has changed
}

// terms are the regressors: 1, matched, considered.
const terms = 3

const (
	ridge     = 0.01 // weight of the guess, relative to the spread of the data
	unlikely  = 5    // times the expected cost; higher costs are clipped to that
	refreshed = 16   // queries between two solutions of the equations
)

// guessed is the fraction of the mean cost that each term has before the data says
// otherwise.
func guessed() [terms]float64 { return [terms]float64{0.05, 0.05, 0.9} }

// Learn adds a finished query. The cost of an outlier, such as a query during a pause
// of the machine, is clipped to a few times the expected cost.
func (c *Cost) Learn(w Work) {
	if w.CPU <= 0 || w.Matched < 0 || w.Considered < 0 {
		return
	}
	y := w.CPU.Seconds()
	if c.seen >= fewSeen {
		if expected := c.guess.Fixed + float64(w.Considered)*c.guess.Each; expected > 0 {
			y = min(y, unlikely*expected)
		}
	}
	row := [terms + 1]float64{1, float64(w.Matched), float64(w.Considered), y}
	keep := 1 - 1/or(c.Memory, 1000)
	for i := range row {
		for j := range row {
			c.moments[i][j] = keep*c.moments[i][j] + row[i]*row[j]
		}
	}
	c.seen++
	if c.seen <= fewSeen || c.seen%refreshed == 0 {
		c.guess = c.solve()
	}
}

// Average is the cost of a query of the usual size.
func (c *Cost) Average() Estimate { return c.guess }

// solve solves the equations in units of the means, so that all numbers are near 1.
func (c *Cost) solve() Estimate {
	n, matched, y := c.moments[0][0], c.moments[0][1], c.moments[0][terms]
	e := Estimate{Seen: c.seen}
	if matched <= 0 || y <= 0 {
		e.Fixed = y / max(n, 1)
		return e
	}
	scale := [terms + 1]float64{1, n / matched, n / matched, n / y}
	var a [terms][terms]float64
	var b [terms]float64
	prior := guessed()
	for i := range terms {
		for j := range terms {
			a[i][j] = c.moments[i][j] * scale[i] * scale[j] / n
		}
		b[i] = c.moments[i][terms]*scale[i]*scale[terms]/n + ridge*prior[i]
		a[i][i] += ridge
	}
	part := positive(a, b)
	mean := y / n
	e.Fixed, e.Ranked = mean*(part[0]+part[1]), mean*part[2]
	e.Each = e.Ranked * n / matched
	return e
}

// positive solves a·x = b for x ≥ 0: while an x is negative, it fixes the least at 0.
func positive(a [terms][terms]float64, b [terms]float64) (x [terms]float64) {
	var out [terms]bool
	for range terms {
		x = eliminate(a, b, out)
		least := 0
		for i := range x {
			if x[i] < x[least] {
				least = i
			}
		}
		if x[least] >= 0 {
			break
		}
		out[least] = true
	}
	return x
}

// eliminate is Gaussian elimination for a symmetric positive definite matrix; the x in
// out are 0.
func eliminate(a [terms][terms]float64, b [terms]float64, out [terms]bool) (x [terms]float64) {
	for i := range terms {
		if out[i] {
			a[i], b[i] = [terms]float64{}, 0
			for j := range terms {
				a[j][i] = 0
			}
			a[i][i] = 1
		}
	}
	for i := range terms {
		for j := i + 1; j < terms; j++ {
			f := a[j][i] / a[i][i]
			for k := i; k < terms; k++ {
				a[j][k] -= f * a[i][k]
			}
			b[j] -= f * b[i]
		}
	}
	for i := terms - 1; i >= 0; i-- {
		x[i] = b[i]
		for j := i + 1; j < terms; j++ {
			x[i] -= a[i][j] * x[j]
		}
		if x[i] /= a[i][i]; math.IsNaN(x[i]) {
			x[i] = 0
		}
	}
	return x
}

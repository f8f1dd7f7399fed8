package degrade

// Ladder turns a share into what is left out, the least missed first: the width of
// the cascade, then trees of its second stage, then candidates with the worst
// priors, then the long tail of facets; then stale answers are good enough, and
// programs are turned away. The filter and the totals are never touched. Bounds are
// parts of the full value.
type Ladder struct {
	First float64 // part of the ranking work that the cascade's first stage is, 0.4 unless set
	Width float64 // narrowest second stage, 0.5 unless set
	Trees float64 // fewest trees of the second stage, 0.5 unless set

	Facets float64 // share below which facets list their most frequent values alone, 0.3 unless set
	Stale  float64 // share below which a cached answer may be old, 0.2 unless set
	Bots   float64 // share below which programs are turned away, DefaultBots unless set
}

// DefaultBots is the share below which programs are turned away.
const DefaultBots = 0.15

// Cut is what is left of the work at a share: 1 is everything.
type Cut struct {
	Width  float64 // of candidates that go on to the second stage
	Trees  float64 // of the second stage
	Prefix float64 // of candidates, in the order of their priors

	Facets bool // the long tail is left out; counts that are given stay exact
	Stale  bool
	Bots   bool
}

// At is the cut whose ranking work is the share. Each rung is used up before the
// next: a lower share never gives more of anything.
func (l Ladder) At(share float64) Cut {
	share = between(0, share, 1)
	first, width, trees := or(l.First, 0.4), or(l.Width, 0.5), or(l.Trees, 0.5)
	c := Cut{Width: 1, Trees: 1, Prefix: 1,
		Facets: share < or(l.Facets, 0.3), Stale: share < or(l.Stale, 0.2), Bots: share < or(l.Bots, DefaultBots)}
	second := 1 - first // the work of the second stage in full
	c.Width = between(width, (share-first)/second, 1)
	c.Trees = between(trees, (share-first)/(second*c.Width), 1)
	c.Prefix = between(0, share/(first+second*c.Width*c.Trees), 1)
	return c
}

// Work is the ranking work of a cut as a part of the full one.
func (l Ladder) Work(c Cut) float64 {
	first := or(l.First, 0.4)
	return c.Prefix * (first + (1-first)*c.Width*c.Trees)
}

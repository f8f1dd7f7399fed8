package degrade

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func near(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if math.Abs(got-want) > by {
		t.Errorf("%s is %.4f, not %.4f", what, got, want)
	}
}

func TestTheLinearPolicyFallsFromNinetyPercentToItsFloor(t *testing.T) {
	for _, c := range []struct{ use, share float64 }{{0, 1}, {0.9, 1}, {0.95, 0.75}, {1, 0.5}} {
		l := &Linear{}
		near(t, "the share", l.Share(Signals{Elapsed: Period, Capacity: 4, Used: 4 * c.use}), c.share, 1e-9)
	}
	l := &Linear{Floor: 0.05}
	near(t, "the floor", l.Share(Signals{Elapsed: Period, Capacity: 4, Used: 4}), 0.05, 1e-9)
}

func TestTheLinearPolicyAveragesOverItsWindow(t *testing.T) {
	l := &Linear{Window: 10 * time.Second}
	l.Share(Signals{Elapsed: Period, Capacity: 1, Used: 0.8})
	for range 4 * 4 { // 4 s
		if s := l.Share(Signals{Elapsed: Period, Capacity: 1, Used: 1}); s < 0.8 {
			t.Fatalf("it fell to %.2f within 4 s", s)
		}
	}
	if s := l.Share(Signals{}); s != l.Share(Signals{}) {
		t.Error("no time has passed, yet the share moves")
	}
}

// usual is a query of 20 ms, of which 2 ms do not depend on the share.
func usual() Estimate { return Estimate{Fixed: 0.002, Ranked: 0.018, Each: 0.018 / 50000, Seen: 1000} }

// stream asks a policy for some seconds at a rate of Poisson arrivals.
func stream(f *FeedForward, r *rand.Rand, rate float64, d time.Duration, more func(*Signals)) (shares []float64) {
	for range int(d / Period) {
		s := Signals{Elapsed: Period, Capacity: 8, Arrivals: poisson(r, rate*Period.Seconds()), Cost: usual()}
		s.Used = min(rate*s.Cost.At(or(f.share, 1)), 8)
		s.Queries = s.Used
		if more != nil {
			more(&s)
		}
		shares = append(shares, f.Share(s))
	}
	return shares
}

func poisson(r *rand.Rand, mean float64) (n int) {
	for x := r.ExpFloat64(); x < mean; x += r.ExpFloat64() {
		n++
	}
	return n
}

func TestFeedForwardFindsTheShareThatFits(t *testing.T) {
	f, r := &FeedForward{}, rand.New(rand.NewPCG(1, 1))
	for _, share := range stream(f, r, 328, 20*time.Second, nil) { // 82 %
		if share < 1 {
			t.Fatalf("a share of %.2f at a load of 82 %%", share)
		}
	}
	shares := stream(f, r, 492, time.Minute, nil) // 123 %
	want := (0.95/1.23 - 0.1) / 0.9
	if min(shares[0], shares[1]) > want+0.1 {
		t.Errorf("after half a second of overload the shares are %.2f and %.2f", shares[0], shares[1])
	}
	mean := 0.0
	for _, s := range shares[40:] {
		mean += s / float64(len(shares)-40)
	}
	near(t, "the share in a steady overload", mean, want, 0.03)
}

func TestFeedForwardRisesSlowly(t *testing.T) {
	f, r := &FeedForward{}, rand.New(rand.NewPCG(1, 1))
	low := stream(f, r, 2000, 5*time.Second, nil)
	back := stream(f, r, 200, 15*time.Second, nil)
	last := low[len(low)-1]
	for i, s := range back {
		if s > last+0.1*Period.Seconds()+1e-9 {
			t.Fatalf("period %d: from %.3f to %.3f", i, last, s)
		}
		last = s
	}
	if last < 1 {
		t.Errorf("the share is still %.2f", last)
	}
}

func TestFeedForwardKeepsItsFloor(t *testing.T) {
	f := &FeedForward{}
	s := stream(f, rand.New(rand.NewPCG(1, 1)), 20000, 5*time.Second, nil)
	near(t, "the share under any load", s[len(s)-1], DefaultFloor, 1e-9)
}

func TestFeedForwardDoesNothingBeforeCostsAreKnown(t *testing.T) {
	f := &FeedForward{}
	if s := f.Share(Signals{Elapsed: Period, Capacity: 1, Arrivals: 1e6}); s != 1 {
		t.Errorf("the share is %g", s)
	}
	if s := f.Share(Signals{}); s != 1 {
		t.Errorf("without time the share is %g", s)
	}
}

func TestFeedForwardLeavesRoomForWhatElseRuns(t *testing.T) {
	f := &FeedForward{}
	shares := stream(f, rand.New(rand.NewPCG(1, 1)), 328, 30*time.Second, func(s *Signals) { s.Used = min(s.Queries+3, 8) })
	if s := shares[len(shares)-1]; s > 0.85 {
		t.Errorf("with 3 of 8 cores taken by others the share is %.2f", s)
	}
}

func TestSlowSignalsCorrectTheTarget(t *testing.T) {
	for name, bad := range map[string]func(*Signals){
		"wait":      func(s *Signals) { s.Wait = 30 * time.Millisecond },
		"run delay": func(s *Signals) { s.RunDelay = 8 },
		"pressure":  func(s *Signals) { s.Pressure = 1 },
	} {
		f, r := &FeedForward{}, rand.New(rand.NewPCG(1, 1))
		before := stream(f, r, 492, 20*time.Second, nil)
		after := stream(f, r, 492, 20*time.Second, bad)
		calm := stream(f, r, 492, 2*time.Minute, nil)
		if a, b := last(before), last(after); b > a-0.03 {
			t.Errorf("%s: from %.2f to %.2f", name, a, b)
		}
		near(t, name+": the share afterwards", last(calm), last(before), 0.06)
	}
}

func last(s []float64) float64 { return s[len(s)-1] }

func TestARateFollowsAStepAtOnceAndIsCalmOtherwise(t *testing.T) {
	x, r := rate{}, rand.New(rand.NewPCG(7, 7))
	low, high := math.Inf(1), 0.0
	for i := range 4000 {
		x.add(float64(poisson(r, 100)), 0.25)
		if i > 40 {
			low, high = min(low, x.mean), max(high, x.mean)
		}
	}
	if low < 330 || high > 480 {
		t.Errorf("a steady 400 a second was taken for %.0f to %.0f", low, high)
	}
	x.add(150, 0.25)
	x.add(150, 0.25)
	near(t, "the rate after a step to 600", x.mean, 600, 60)
}

func TestAFixedShareStays(t *testing.T) {
	for _, c := range []struct{ set, share float64 }{{0.5, 0.5}, {-1, 0}, {2, 1}} {
		near(t, "the share", Fixed(c.set).Share(Signals{}), c.share, 0)
	}
}

func TestOneShareForAllShardsIsTheLeast(t *testing.T) {
	share, why := Together(Report{Share: 1}, Report{Share: 0.7}, Report{Share: 0.9})
	if share != 0.7 || why != Load {
		t.Errorf("%g, %s", share, why)
	}
	if share, why = Together(); share != 1 || why != None {
		t.Errorf("of none: %g, %s", share, why)
	}
}

func TestCostsAreLearntFromQueriesThatWereCut(t *testing.T) {
	var c Cost
	r := rand.New(rand.NewPCG(1, 1))
	for range 5000 {
		matched := 10000 + r.IntN(80000)
		considered := int(float64(matched) * (0.4 + 0.6*r.Float64()))
		cpu := 0.001 + float64(matched)*40e-9 + float64(considered)*300e-9
		cpu *= math.Exp(0.3*r.NormFloat64() - 0.045)
		c.Learn(Work{matched, considered, seconds(cpu)})
	}
	e := c.Average()
	near(t, "ms fixed", 1e3*e.Fixed, 1+50000*40e-6, 1.2)
	near(t, "ms ranked", 1e3*e.Ranked, 50000*300e-6, 2)
	near(t, "ns each", 1e9*e.Each, 300, 40)
}

func TestCostsOfUncutQueriesAddUp(t *testing.T) {
	var c Cost
	for range 200 {
		c.Learn(Work{1000, 1000, 10 * time.Millisecond})
	}
	e := c.Average()
	near(t, "ms in full", 1e3*e.Full(), 10, 0.05)
	near(t, "the fixed part", e.FixedPart(), 0.1, 0.05)
}

func TestOutliersCountLittle(t *testing.T) {
	var c Cost
	for i := range 2000 {
		w := Work{1000, 1000, 10 * time.Millisecond}
		if i%100 == 99 {
			w.CPU = 10 * time.Second
		}
		c.Learn(w)
	}
	if full := c.Average().Full(); full > 0.011 {
		t.Errorf("one in a hundred makes a query cost %.4f s", full)
	}
}

func TestACostThatChangesIsLearntAnew(t *testing.T) {
	var c Cost
	for _, ms := range []time.Duration{1, 20} {
		for range 5000 {
			c.Learn(Work{1000, 1000, ms * time.Millisecond})
		}
	}
	near(t, "ms in full", 1e3*c.Average().Full(), 20, 0.5)
}

func TestImpossibleWorkIsIgnored(t *testing.T) {
	var c Cost
	for _, w := range []Work{{}, {-1, 1, 1}, {1, -1, 1}, {1, 1, -1}} {
		c.Learn(w)
	}
	if e := c.Average(); e != (Estimate{}) || e.Known() || e.FixedPart() != 0 {
		t.Errorf("%+v", e)
	}
	for range 100 {
		c.Learn(Work{0, 0, time.Millisecond}) // queries that match nothing
	}
	near(t, "ms of queries that match nothing", 1e3*c.Average().Full(), 1, 0.01)
}

func TestUnderAQuotaTheKernelsDelaysSayNothing(t *testing.T) {
	for _, quota := range []bool{true, false} {
		f := &FeedForward{}
		shares := stream(f, rand.New(rand.NewPCG(1, 1)), 340, 60*time.Second, func(s *Signals) {
			s.Quota, s.RunDelay, s.Pressure = quota, 8, 1
		})
		if last := shares[len(shares)-1]; (last == 1) != quota {
			t.Errorf("with a quota: %v, the share is %.2f", quota, last)
		}
	}
}

func TestAtTheFloorTheSlackStays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	f := &FeedForward{}
	stream(f, r, 6000, 60*time.Second, func(s *Signals) { s.Wait = time.Second })
	if f.share != DefaultFloor || f.slack > 0.05 {
		t.Fatalf("after a minute at the floor the share is %.2f, the trim %.2f", f.share, f.slack)
	}
	if shares := stream(f, r, 200, 15*time.Second, nil); shares[len(shares)-1] < 1 {
		t.Errorf("15 s later the share is %.2f", shares[len(shares)-1])
	}
}

package degrade

import (
	"math"
	"time"
)

// FeedForward computes the share from the arrivals, before the CPU use shows them:
//
//	demand = arrivals × cost of a query at full share
//	share  = (target × capacity / demand − fixed) / (1 − fixed)
//
// where fixed is the fraction of a query's cost that does not depend on the share.
// Signals that do not saturate correct the target slowly, because learnt costs may be
// wrong and other programs run too. The share falls at once and rises slowly.
type FeedForward struct {
	Target float64 // fraction of the capacity to use, 0.95 unless set
	Floor  float64 // least share, DefaultFloor unless set
	Rise   float64 // most that the share rises per second, 0.1 unless set

	arrivals   rate
	background float64 // cores used by anything but queries, averaged
	slack      float64 // fraction by which the target is reduced
	share      float64 // 0 before the first call, which means 1
}

const (
	backgroundSpan = 5.0 // seconds
	mostBackground = 0.5 // of the capacity; the scheduler leaves at least the rest to queries
	mostSlack      = 0.5
	slackGrows     = 0.05 // per second, at a strain of 2
	slackShrinks   = 0.01 // per second, at a strain of 0

	// At these values the strain is 1; below them nothing is wrong.
	wellWait     = 20 * time.Millisecond
	wellRunDelay = 0.5 // of the capacity
	wellPressure = 0.9
)

// Share is the share at which the arriving work fits the capacity.
func (f *FeedForward) Share(s Signals) float64 {
	dt := s.Elapsed.Seconds()
	if dt <= 0 || s.Capacity <= 0 {
		return or(f.share, 1)
	}
	f.arrivals.add(float64(s.Arrivals), dt)
	f.background += (s.Used - s.Queries - f.background) * min(dt/backgroundSpan, 1)
	f.adjust(s, dt)
	if !s.Cost.Known() {
		return or(f.share, 1) // nothing learnt yet; the gate's brake limits the load
	}
	share := f.fitting(s)
	share = min(share, or(f.share, 1)+or(f.Rise, 0.1)*dt)
	f.share = between(or(f.Floor, DefaultFloor), share, 1)
	return f.share
}

// fitting is the share that the formula gives.
func (f *FeedForward) fitting(s Signals) float64 {
	capacity := s.Capacity - between(0, f.background, mostBackground*s.Capacity)
	demand := f.arrivals.mean * s.Cost.Full()
	if demand <= 0 {
		return 1
	}
	fixed := s.Cost.FixedPart()
	if fixed >= 1 {
		return 1 // ranking less would not help
	}
	room := or(f.Target, 0.95) * (1 - f.slack) * capacity / demand
	return (room - fixed) / (1 - fixed)
}

// adjust changes the slack by the worst of the signals that do not saturate.
func (f *FeedForward) adjust(s Signals, dt float64) {
	slots := max(math.Round(s.Capacity), 1)
	strain := s.Wait.Seconds() / max(wellWait.Seconds(), usualWait(s.Cost.Full()*stretch(s.Capacity, slots), slots))
	if !s.Quota {
		strain = max(strain, s.RunDelay/(wellRunDelay*s.Capacity), s.Pressure/wellPressure)
	}
	switch {
	case strain > 1 && f.share <= or(f.Floor, DefaultFloor) && f.share > 0:
		// The share is at the floor; more slack would only delay its rise later.
	case strain > 1:
		f.slack += min(strain-1, 1) * slackGrows * dt
	default:
		f.slack -= (1 - strain) * slackShrinks * dt
	}
	f.slack = between(0, f.slack, mostSlack)
}

// rate estimates the arrivals of a stream: an average while it is steady, which starts
// again when the stream changes. A change is a sum of deviations that chance does not
// explain (CUSUM), relative to how irregular the stream is.
type rate struct {
	mean     float64 // per second
	spread   float64 // variance relative to a Poisson stream, at least 1
	up, down drift
	begun    bool
}

// drift sums deviations in one direction, and the arrivals since the sum was zero.
type drift struct{ sum, count, time float64 }

const (
	rateSpan    = 2.0 // seconds that are averaged
	driftSlack  = 1.0 // deviation that counts as chance
	driftChange = 3.5 // sum that counts as a change
)

func (r *rate) add(count, dt float64) {
	if !r.begun {
		r.begun, r.mean, r.spread = true, count/dt, 1
		return
	}
	expected := max(r.mean*dt, 1)
	z := (count - expected) / math.Sqrt(expected)
	r.spread += (between(-3, z, 3)*between(-3, z, 3) - r.spread) * min(dt/(10*rateSpan), 1)
	r.spread = max(r.spread, 1)
	z /= math.Sqrt(r.spread)
	switch {
	case r.up.add(z, count, dt):
		r.restart(r.up)
	case r.down.add(-z, count, dt):
		r.restart(r.down)
	default:
		r.mean += (count/dt - r.mean) * min(dt/rateSpan, 1)
	}
}

// restart begins with the rate since the change began.
func (r *rate) restart(d drift) {
	r.mean, r.up, r.down = d.count/d.time, drift{}, drift{}
}

func (d *drift) add(z, count, dt float64) (changed bool) {
	d.sum += z - driftSlack
	if d.sum <= 0 {
		*d = drift{}
		return false
	}
	d.count, d.time = d.count+count, d.time+dt
	return d.sum > driftChange
}

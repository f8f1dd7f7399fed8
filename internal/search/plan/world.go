// Package plan simulates a search under load in virtual time: zones of servers with the
// admission control, policies and pickers that serve, random queries, and zones that are
// lost and return. The same seed gives the same run. It calculates how many servers can
// be removed.
package plan

import (
	"cmp"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/search/degrade"
)

// World is what is simulated. Zero values stand for the defaults given here.
type World struct {
	Zones    int // 3
	Shards   int // 2; a query asks all of them
	Replicas int // of a shard in a zone, 1
	Cores    int // of a server, 8

	Fixed  time.Duration // CPU time of a query at one shard whatever the share, 2 ms
	Ranked time.Duration // CPU time of ranking all its candidates there, 18 ms
	Spread float64       // standard deviation of the logarithm of a query's candidates, 0.3
	Noise  float64       // standard deviation of the logarithm of the CPU time at the same candidates, 0.2

	Deadline time.Duration // of a query, 500 ms
	Length   time.Duration
	Load     func(time.Duration) float64 // demand at full share relative to the capacity of all zones
	Switches []Switch                    // in order of time

	Policy func() degrade.Policy // of each server; FeedForward
	Blind  bool                  // gates follow the policy alone
	Curve  Curve                 // clicks lost by share; Measured()
	Seed   uint64
}

// Switch switches a zone off or on. Requests that ran there are lost, and retried
// elsewhere.
type Switch struct {
	At   time.Duration
	Zone int
	On   bool
}

// filled is the world with its defaults.
func (w World) filled() World {
	w.Zones, w.Shards = cmp.Or(w.Zones, 3), cmp.Or(w.Shards, 2)
	w.Replicas, w.Cores = cmp.Or(w.Replicas, 1), cmp.Or(w.Cores, 8)
	if w.Fixed == 0 && w.Ranked == 0 {
		w.Fixed, w.Ranked = 2*time.Millisecond, 18*time.Millisecond
	}
	w.Spread, w.Noise = cmp.Or(w.Spread, 0.3), cmp.Or(w.Noise, 0.2)
	w.Deadline = cmp.Or(w.Deadline, 500*time.Millisecond)
	if w.Policy == nil {
		w.Policy = func() degrade.Policy { return &degrade.FeedForward{} }
	}
	if w.Load == nil {
		w.Load = Steady(0.6)
	}
	if len(w.Curve) == 0 {
		w.Curve = Measured()
	}
	return w
}

// check refuses worlds that cannot be simulated.
func (w World) check() error {
	switch {
	case w.Zones < 1, w.Shards < 1, w.Replicas < 1, w.Cores < 1:
		return courant.Errorf(courant.Invalid, "zones, shards, replicas and cores must be at least 1, not %d, %d, %d and %d", w.Zones, w.Shards, w.Replicas, w.Cores)
	case w.Fixed < 0, w.Ranked < 0:
		return courant.Errorf(courant.Invalid, "the cost of a query must not be negative")
	}
	for _, s := range w.Switches {
		if s.Zone < 0 || s.Zone >= w.Zones {
			return courant.Errorf(courant.Invalid, "a switch must name a zone from 0 to %d, not %d", w.Zones-1, s.Zone)
		}
	}
	return nil
}

// Capacity is how many queries per second all zones answer at full share.
func (w World) Capacity() float64 {
	w = w.filled()
	return float64(w.Zones*w.Replicas*w.Cores) / (w.Fixed + w.Ranked).Seconds()
}

// Steady is a constant load.
func Steady(load float64) func(time.Duration) float64 {
	return func(time.Duration) float64 { return load }
}

// Lost are the switches for an outage of the last of several zones, and their return.
func Lost(zones, lost int, from, to time.Duration) (all []Switch) {
	for z := zones - lost; z < zones; z++ {
		all = append(all, Switch{At: from, Zone: z})
	}
	for z := zones - lost; z < zones; z++ {
		all = append(all, Switch{At: to, Zone: z, On: true})
	}
	return all
}

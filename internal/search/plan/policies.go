package plan

import (
	"context"
	"time"

	"github.com/courant-platform/courant/internal/search/degrade"
)

// Way is a way to handle overload: a policy, with or without the brake.
type Way struct {
	Name   string
	Policy func() degrade.Policy
	Blind  bool
}

// Ways are those that are compared: none, the linear policy, and feed-forward.
func Ways() []Way {
	linear := func(window time.Duration) func() degrade.Policy {
		return func() degrade.Policy { return &degrade.Linear{Window: window} }
	}
	everything := func() degrade.Policy { return degrade.Fixed(1) }
	forward := func() degrade.Policy { return &degrade.FeedForward{} }
	return []Way{
		{"no degradation", everything, true},
		{"linear 90-100 %, CPU averaged over 10 s", linear(10 * time.Second), true},
		{"linear, averaged over 5 s", linear(5 * time.Second), true},
		{"linear, raw 250 ms", linear(0), true},
		{"linear 10 s and the brake", linear(10 * time.Second), false},
		{"the brake alone", everything, false},
		{"feed-forward alone", forward, true},
		{"feed-forward and the brake", forward, false},
	}
}

// Drill is an outage of zones.
type Drill struct {
	World                     // without policy and switches
	Lost                  int // number of zones
	Normal, Outage, After time.Duration
}

const settling = 10 * time.Second // after which an overload is steady

// Outcome is the result of a drill.
type Outcome struct {
	Name   string `json:"name,omitempty"`
	Normal Sum    `json:"normal"`
	Outage Sum    `json:"outage"`
	First  Sum    `json:"first"`  // the first 10 s of the outage
	Steady Sum    `json:"steady"` // the rest of it
	After  Sum    `json:"after"`  // from 5 s after the zones return
	Film   *Film  `json:"-"`
}

// Play simulates the drill with a way.
func (d Drill) Play(ctx context.Context, way Way, progress func(Second)) (Outcome, error) {
	w := d.World.filled()
	w.Policy, w.Blind = way.Policy, way.Blind
	from, to := d.Normal, d.Normal+d.Outage
	w.Length = to + d.After
	w.Switches = Lost(w.Zones, d.Lost, from, to)
	film, err := Play(ctx, w, progress)
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{
		Name:   way.Name,
		Normal: film.Between(min(settling, d.Normal/2), from),
		Outage: film.Between(from, to),
		First:  film.Between(from, min(from+settling, to)),
		Steady: film.Between(min(from+settling, to), to),
		After:  film.Between(to+settling/2, w.Length),
		Film:   film,
	}, nil
}

package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/courant-platform/courant"
)

// Question is: how many servers can be removed, if zones may be lost and a few clicks may
// be lost meanwhile?
type Question struct {
	World   World   // zones, shards, costs; the rest is filled in
	Servers int     // in all zones, the same number in each
	Load    float64 // of these servers at the peak
	Peak    float64 // highest load that the servers left may have in normal times
	Lost    int     // number of zones
	Clicks  float64 // fraction that may be lost during the outage
}

// Size is the simulation of a number of servers.
type Size struct {
	Servers int     `json:"servers"`
	Load    float64 `json:"load"`        // in normal times
	Outage  float64 `json:"outage_load"` // in the outage
	Share   float64 `json:"share"`       // in the outage
	Clicks  float64 `json:"clicks_lost"` // in the outage, as a fraction
	Errors  int     `json:"errors"`      // in the outage
	Queries int     `json:"queries"`     // in the outage
	Normal  float64 `json:"p99_ms_normal"`
	P99     float64 `json:"p99_ms"` // in the outage
	Enough  bool    `json:"enough"`
	Why     string  `json:"why"` // it is not enough
}

// Answer is the smallest size that is enough, of those that were tried.
type Answer struct {
	Sizes    []Size  `json:"sizes"` // the most servers first
	Servers  int     `json:"servers"`
	Can      int     `json:"servers_that_can_go"`
	Freed    float64 `json:"freed"`
	Sentence string  `json:"sentence"`
}

// A world is simulated with at most so many shards and replicas, which takes about a
// second; more of them would behave the same.
const (
	playedShards   = 4
	playedReplicas = 2
	normalTime     = 30 * time.Second
	outageTime     = 90 * time.Second
)

// Check refuses wrong questions with Invalid.
func (q *Question) Check() error {
	w := q.World.filled()
	switch {
	case w.Zones < 1 || w.Zones > 100:
		return courant.Errorf(courant.Invalid, "zones must be from 1 to 100, not %d", w.Zones)
	case w.Shards < 1 || w.Shards > 1000:
		return courant.Errorf(courant.Invalid, "shards must be from 1 to 1000, not %d", w.Shards)
	case w.Cores < 1 || w.Cores > 512:
		return courant.Errorf(courant.Invalid, "cores of a server must be from 1 to 512, not %d", w.Cores)
	case q.Servers < w.Zones || q.Servers%w.Zones != 0:
		return courant.Errorf(courant.Invalid, "servers must be a multiple of the %d zones, such as %d, not %d", w.Zones, max((q.Servers+w.Zones-1)/w.Zones, 1)*w.Zones, q.Servers)
	case q.Lost < 0 || q.Lost >= w.Zones:
		return courant.Errorf(courant.Invalid, "lost zones must be from 0 to %d of %d, not %d", w.Zones-1, w.Zones, q.Lost)
	case q.Load <= 0 || q.Load > 2:
		return courant.Errorf(courant.Invalid, "load must be above 0 and at most 200 %%, not %g %%", 100*q.Load)
	case q.Peak <= 0 || q.Peak > 2:
		return courant.Errorf(courant.Invalid, "peak must be above 0 and at most 200 %%, not %g %%", 100*q.Peak)
	case q.Clicks < 0 || q.Clicks > 1:
		return courant.Errorf(courant.Invalid, "clicks lost must be from 0 to 100 %%, not %g %%", 100*q.Clicks)
	case w.Fixed < 0 || w.Ranked <= 0 || w.Fixed+w.Ranked > time.Minute:
		return courant.Errorf(courant.Invalid, "the CPU time of a query must be above 0 and at most 1m, not %v", w.Fixed+w.Ranked)
	case w.Deadline < w.Fixed+w.Ranked:
		return courant.Errorf(courant.Invalid, "deadline must be at least the %v that a query takes, not %v", w.Fixed+w.Ranked, w.Deadline)
	}
	return nil
}

// Answer tries sizes by bisection. It calls progress before each, unless that is nil.
func (q *Question) Answer(ctx context.Context, progress func(tried, of int)) (Answer, error) {
	if err := q.Check(); err != nil {
		return Answer{}, err
	}
	zones := q.World.filled().Zones
	sizes := map[int]Size{}
	of := 2
	for n := q.Servers / zones; n > 1; n /= 2 {
		of++
	}
	try := func(perZone int) (Size, error) {
		if s, tried := sizes[perZone]; tried {
			return s, nil
		}
		if progress != nil {
			progress(len(sizes), max(of, len(sizes)+1))
		}
		s, err := q.size(ctx, perZone*zones)
		sizes[perZone] = s
		return s, err
	}
	enough, low := 0, 0 // low is too few
	for n := q.Servers / zones; n > low; {
		s, err := try(n)
		if err != nil {
			return Answer{}, err
		}
		if !s.Enough && enough == 0 {
			break // not even the present servers are enough
		}
		if s.Enough {
			enough = n
		} else {
			low = n
		}
		n = (low + enough) / 2
	}
	return q.conclude(sizes, enough*zones), nil
}

// size simulates a number of servers. The index is spread over those that are left, so
// that each has more of it to rank.
func (q *Question) size(ctx context.Context, servers int) (Size, error) {
	w := q.World.filled()
	perShard := max(q.Servers/(w.Zones*w.Shards), 1)
	w.Shards, w.Replicas = min(w.Shards, playedShards), min(perShard, playedReplicas)
	s := Size{Servers: servers, Load: q.Load * float64(q.Servers) / float64(servers)}
	s.Outage = s.Load * float64(w.Zones) / float64(w.Zones-q.Lost)
	w.Load = Steady(s.Load)
	o, err := Drill{World: w, Lost: q.Lost, Normal: normalTime, Outage: outageTime}.Play(ctx, Way{Policy: w.Policy, Blind: w.Blind}, nil)
	if err != nil {
		return s, err
	}
	s.Share, s.Clicks, s.Errors, s.Queries = o.Outage.Share, o.Outage.Lost, o.Outage.Errors, o.Outage.Queries
	s.Normal, s.P99 = milliseconds(o.Normal.P99), milliseconds(o.Outage.P99)
	switch {
	case s.Load > q.Peak+1e-9:
		s.Why = fmt.Sprintf("the load in normal times is above %s", Percent(q.Peak))
	case o.Normal.Errors > 0:
		s.Why = fmt.Sprintf("%d of %d queries fail in normal times", o.Normal.Errors, o.Normal.Queries)
	case o.Normal.Lost > q.Clicks:
		s.Why = fmt.Sprintf("more than %s of clicks are lost in normal times", Percent(q.Clicks))
	case s.Errors > 0:
		s.Why = fmt.Sprintf("%d of %d queries fail", s.Errors, s.Queries)
	case s.Clicks > q.Clicks:
		s.Why = fmt.Sprintf("more than %s of clicks are lost", Percent(q.Clicks))
	default:
		s.Enough = true
	}
	return s, nil
}

// conclude sums up what was tried.
func (q *Question) conclude(tried map[int]Size, enough int) (a Answer) {
	for _, s := range tried {
		a.Sizes = append(a.Sizes, s)
	}
	slices.SortFunc(a.Sizes, func(x, y Size) int { return cmp.Compare(y.Servers, x.Servers) })
	if enough == 0 {
		a.Servers = q.Servers
		a.Sentence = fmt.Sprintf("No server can be removed: with all %d, %s.", q.Servers, a.Sizes[0].Why)
		return a
	}
	a.Servers, a.Can = enough, q.Servers-enough
	a.Freed = float64(a.Can) / float64(q.Servers)
	var best, next Size
	for _, s := range a.Sizes {
		if s.Servers == enough {
			best = s
		}
		if s.Servers < enough && next.Servers == 0 {
			next = s
		}
	}
	a.Sentence = fmt.Sprintf("%d of %d servers can be removed (%s): with %d left %s, %s of the candidates are still ranked and %s of clicks are lost",
		a.Can, q.Servers, Percent(a.Freed), enough, lostZones(q.Lost), Percent(best.Share), strings.Replace(Percent(best.Clicks), "< ", "less than ", 1))
	if next.Servers > 0 {
		a.Sentence += fmt.Sprintf("; with %d, %s", next.Servers, next.Why)
	}
	a.Sentence += "."
	return a
}

func lostZones(n int) string {
	switch n {
	case 0:
		return "and all zones up"
	case 1:
		return "and one zone lost"
	}
	return fmt.Sprintf("and %d zones lost", n)
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}

// Percent formats a fraction for people.
func Percent(part float64) string {
	switch x := 100 * part; {
	case x == 0:
		return "0 %"
	case x < 0.01:
		return "< 0.01 %"
	case x < 1:
		return fmt.Sprintf("%.2f %%", x)
	case x < 99.95:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0") + " %"
	default:
		return fmt.Sprintf("%.0f %%", x)
	}
}

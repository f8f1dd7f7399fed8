package plan

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/courant-platform/courant/internal/search/degrade"
)

// Second sums up one second.
type Second struct {
	At       time.Duration          `json:"-"`       // its end
	Load     float64                `json:"load"`    // demand at full share relative to the capacity of the zones that are on
	Share    float64                `json:"share"`   // that was ranked, mean of the answers
	Policy   float64                `json:"law"`     // share of the policies, mean of the servers that are on
	Queries  int                    `json:"queries"` // that ended
	Errors   int                    `json:"errors"`
	P50      time.Duration          `json:"-"`
	P99      time.Duration          `json:"-"`
	InFlight []int                  `json:"in_flight"` // by zone, including waiting ones
	Reasons  map[degrade.Reason]int `json:"reasons"`
}

// MarshalJSON writes times as numbers of seconds and milliseconds.
func (s Second) MarshalJSON() ([]byte, error) {
	type plain Second
	return json.Marshal(struct {
		At float64 `json:"second"`
		plain
		P50 float64 `json:"p50_ms"`
		P99 float64 `json:"p99_ms"`
	}{s.At.Seconds(), plain(s), milliseconds(s.P50), milliseconds(s.P99)})
}

// Film is the record of a simulation.
type Film struct {
	Seconds []Second

	takes []take
	reels []reel
	curve Curve
}

// take is how a query ended.
type take struct {
	came, took time.Duration
	share      float32
	answered   bool // by all shards, even if late
	failed     bool
}

// reel is the mean share of the queries that a server admitted in a period.
type reel struct {
	at    time.Duration
	share float64
}

// Sum sums up the queries that arrived in an interval of a film.
type Sum struct {
	Queries int           `json:"queries"`
	Errors  int           `json:"errors"` // not answered by all shards in time
	P50     time.Duration `json:"-"`      // of those that were, even if late
	P99     time.Duration `json:"-"`
	Share   float64       `json:"share"` // mean
	Sway    float64       `json:"sway"`  // standard deviation of the servers' mean shares in periods of 250 ms
	Lost    float64       `json:"lost"`  // fraction of clicks; an error loses all of its clicks
}

// MarshalJSON writes times as numbers of milliseconds.
func (s Sum) MarshalJSON() ([]byte, error) {
	type plain Sum
	return json.Marshal(struct {
		plain
		P50 float64 `json:"p50_ms"`
		P99 float64 `json:"p99_ms"`
	}{plain(s), milliseconds(s.P50), milliseconds(s.P99)})
}

// film is a Film that is being recorded.
type film struct {
	Film
	deadline time.Duration
	shards   int
	from     int // first take of this second
	reasons  map[degrade.Reason]int
}

func (f *film) begin(w *World) {
	f.shards = w.Shards
	f.curve, f.deadline, f.reasons = w.Curve, w.Deadline, map[degrade.Reason]int{}
}

// take records how a query ended.
func (f *film) take(q *query, now time.Duration) {
	t := take{came: q.came, took: now - q.came}
	t.answered = q.missing == 0
	t.failed = !t.answered || t.took > f.deadline
	if answered := f.shards - q.missing; answered > 0 {
		t.share = float32(q.share / float64(answered))
	}
	f.takes = append(f.takes, t)
	f.reasons[q.why]++
}

// count records the mean share of a server since its last tick.
func (f *film) count(now time.Duration, s *server) {
	if s.given > 0 {
		f.reels = append(f.reels, reel{now, s.shares / float64(s.given)})
	}
}

// cut sums up the last second.
func (f *film) cut(g *game) Second {
	s := Second{At: g.now + 1, InFlight: make([]int, g.Zones), Reasons: f.reasons}
	f.reasons = map[degrade.Reason]int{}
	on := 0
	for _, v := range g.servers {
		if g.on[v.zone] {
			on++
			s.InFlight[v.zone] += len(v.running)
			s.Policy += v.gate.Report().Share
		}
	}
	if on > 0 {
		s.Load = g.load * float64(len(g.servers)) / float64(on)
		s.Policy /= float64(on)
	}
	sum := f.sum(f.takes[f.from:])
	s.Queries, s.Errors, s.Share, s.P50, s.P99 = sum.Queries, sum.Errors, sum.Share, sum.P50, sum.P99
	f.from = len(f.takes)
	f.Seconds = append(f.Seconds, s)
	return s
}

// Between sums up the queries that arrived from one time to another.
func (f *Film) Between(from, to time.Duration) Sum {
	var in []take
	for _, t := range f.takes {
		if t.came >= from && t.came < to {
			in = append(in, t)
		}
	}
	s := f.sum(in)
	var reels []reel
	for _, r := range f.reels {
		if r.at > from && r.at <= to {
			reels = append(reels, r)
		}
	}
	s.Sway = sway(reels)
	return s
}

func (f *Film) sum(in []take) (s Sum) {
	var times []time.Duration
	shared := 0.0
	for _, t := range in {
		s.Queries++
		if t.answered {
			times = append(times, t.took)
		}
		if t.failed {
			s.Errors++
			s.Lost++
			continue
		}
		shared++
		s.Share += float64(t.share)
		s.Lost += f.curve.Lost(float64(t.share))
	}
	if s.Queries > 0 {
		s.Lost /= float64(s.Queries)
	}
	s.Share /= max(shared, 1)
	if n := len(times); n > 0 {
		slices.Sort(times)
		s.P50, s.P99 = times[n/2], times[min(n*99/100, n-1)]
	}
	return s
}

// sway is the standard deviation of mean shares, each of one server and period.
func sway(in []reel) float64 {
	n, sum, squares := 0.0, 0.0, 0.0
	for _, r := range in {
		n, sum, squares = n+1, sum+r.share, squares+r.share*r.share
	}
	if n < 2 {
		return 0
	}
	return math.Sqrt(max(squares/n-(sum/n)*(sum/n), 0))
}

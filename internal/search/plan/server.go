package plan

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/courant-platform/courant/internal/search/degrade"
)

// server holds one shard in one zone.
type server struct {
	name        string
	zone, shard int
	gate        *degrade.Gate
	running     map[*request]bool // waiting at its gate or admitted
	busy        int               // number of busy cores
	used        time.Duration     // CPU time since the last tick, up to counted
	counted     time.Duration
	ticked      time.Duration
	shares      float64 // sum of those admitted since the last tick
	given       int     // their number
}

// restart resets a server to its state at start.
func (s *server) restart(w *World, now time.Duration) {
	s.gate = &degrade.Gate{Slots: w.Cores, Policy: w.Policy(), Blind: w.Blind}
	s.running = map[*request]bool{}
	s.shares, s.given = 0, 0
	s.busy, s.used, s.counted, s.ticked = 0, 0, now, now
	s.gate.Tick(at(now), degrade.Machine{})
}

// work changes the number of busy cores.
func (s *server) work(now time.Duration, by int) {
	s.used += time.Duration(s.busy) * (now - s.counted)
	s.counted = now
	s.busy += by
}

// tick ticks the gate. As on a real machine, CPU use never exceeds the capacity.
func (s *server) tick(now time.Duration, cores int) {
	s.work(now, 0)
	m := degrade.Machine{Capacity: float64(cores)}
	if dt := now - s.ticked; dt > 0 {
		m.Used = s.used.Seconds() / dt.Seconds()
	}
	s.gate.Tick(at(now), m)
	s.used, s.ticked, s.shares, s.given = 0, now, 0, 0
}

// inOrder are the requests at the gate in their order of arrival.
func (s *server) inOrder() []*request {
	return slices.SortedFunc(maps.Keys(s.running), func(a, b *request) int { return cmp.Compare(a.number, b.number) })
}

// request is the part of a query for one shard.
type request struct {
	number uint64
	query  *query
	server *server
	gate   *degrade.Gate // that it was sent to; a restart gives the server another one
	shard  int
	caller int // zone
	sent   time.Duration
	ticket degrade.Ticket
	work   degrade.Work
}

// query is a query of a user.
type query struct {
	came    time.Duration
	zone    int
	size    float64 // number of candidates relative to the mean
	pending int
	share   float64 // sum over its shards
	missing int     // shards that did not answer
	why     degrade.Reason
}

// at converts a time of the simulation for gates and pickers.
func at(d time.Duration) time.Time { return time.Unix(0, 0).Add(d) }

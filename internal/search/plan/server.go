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
	running     map[*request]bool // at its gate, waiting or let in
	busy        int               // cores
	used        time.Duration     // of cores, until counted
	counted     time.Duration
	ticked      time.Duration
	shares      float64 // given since the last tick
	given       int
}

// restart is a server without memory.
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

// tick asks the policy. CPU use is what it is anywhere: never above the capacity.
func (s *server) tick(now time.Duration, cores int) {
	s.work(now, 0)
	m := degrade.Machine{Capacity: float64(cores)}
	if dt := now - s.ticked; dt > 0 {
		m.Used = s.used.Seconds() / dt.Seconds()
	}
	s.gate.Tick(at(now), m)
	s.used, s.ticked, s.shares, s.given = 0, now, 0, 0
}

// inOrder are the requests at the gate, as they came.
func (s *server) inOrder() []*request {
	return slices.SortedFunc(maps.Keys(s.running), func(a, b *request) int { return cmp.Compare(a.number, b.number) })
}

// request is what a query wants of one shard.
type request struct {
	number uint64
	query  *query
	server *server
	gate   *degrade.Gate // that it was sent to; the server may have another one since
	shard  int
	caller int // zone
	sent   time.Duration
	ticket degrade.Ticket
	work   degrade.Work
}

// query is what somebody waits for.
type query struct {
	came    time.Duration
	zone    int
	size    float64 // of candidates, in means
	pending int
	share   float64 // sum over its shards
	missing int     // shards that did not answer
	why     degrade.Reason
}

// at is a time of the simulation as gates and pickers want it.
func at(d time.Duration) time.Time { return time.Unix(0, 0).Add(d) }

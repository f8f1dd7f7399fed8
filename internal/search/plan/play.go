package plan

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/courant-platform/courant/internal/search/degrade"
)

const candidates = 50000 // that match in a shard on average; the cost of one follows

// game is a running simulation.
type game struct {
	World
	random   *rand.Rand
	events   events
	now      time.Duration
	on       []bool
	servers  []*server
	named    map[string]*server
	pickers  [][]*degrade.Picker // by zone of the caller and shard
	film     film
	load     float64 // current demand relative to capacity
	capacity float64
	sent     uint64 // requests
}

// Play simulates a world to its end. It calls progress after each simulated second,
// unless that is nil.
func Play(ctx context.Context, w World, progress func(Second)) (*Film, error) {
	w = w.filled()
	if err := w.check(); err != nil {
		return nil, err
	}
	g := &game{World: w, capacity: w.Capacity(), random: rand.New(rand.NewPCG(w.Seed, 1)), named: map[string]*server{}}
	g.film.begin(&g.World)
	g.build()
	g.schedule()
	for len(g.events.all) > 0 {
		e := g.events.next()
		if e.at >= w.Length {
			break
		}
		g.now = e.at
		g.happen(e)
		if e.kind != second {
			continue
		}
		if s := g.film.cut(g); progress != nil {
			progress(s)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return &g.film.Film, nil
}

// build creates the servers and the pickers.
func (g *game) build() {
	replicas := make([][]degrade.Replica, g.Shards)
	for z := range g.Zones {
		g.on = append(g.on, true)
		for s := range g.Shards {
			for r := range g.Replicas {
				v := &server{name: fmt.Sprintf("zone %d shard %d replica %d", z, s, r), zone: z, shard: s}
				v.restart(&g.World, 0)
				g.servers, g.named[v.name] = append(g.servers, v), v
				replicas[s] = append(replicas[s], degrade.Replica{Name: v.name, Zone: zoneName(z)})
			}
		}
	}
	for z := range g.Zones {
		row := make([]*degrade.Picker, g.Shards)
		for s := range row {
			row[s] = &degrade.Picker{Zone: zoneName(z), Rand: rand.New(rand.NewPCG(g.Seed, uint64(2+z*g.Shards+s)))}
			row[s].Set(at(0), replicas[s])
		}
		g.pickers = append(g.pickers, row)
	}
}

func zoneName(z int) string { return string(rune('a' + z)) }

// schedule adds the first event of each kind. The ticks of servers are spread out.
func (g *game) schedule() {
	g.events.add(event{kind: arrives})
	for i, s := range g.servers {
		g.events.add(event{at: degrade.Period * time.Duration(i+1) / time.Duration(len(g.servers)), kind: ticks, server: s})
	}
	g.events.add(event{at: time.Second - 1, kind: second})
	for _, s := range g.Switches {
		g.events.add(event{at: s.At, kind: switches, to: s})
	}
}

func (g *game) happen(e event) {
	switch e.kind {
	case arrives:
		g.arrive()
	case finishes:
		g.finish(e.request)
	case ticks:
		if g.on[e.server.zone] {
			g.film.count(g.now, e.server)
			e.server.tick(g.now, g.Cores)
		}
		g.events.add(event{at: g.now + degrade.Period, kind: ticks, server: e.server})
	case switches:
		g.change(e.to)
	case second:
		g.events.add(event{at: g.now + time.Second, kind: second})
	}
}

// arrive begins a query and schedules the next one.
func (g *game) arrive() {
	g.load = g.Load(g.now)
	if rate := g.load * g.capacity; rate > 0 {
		gap := time.Duration(g.random.ExpFloat64() / rate * float64(time.Second))
		g.events.add(event{at: g.now + gap, kind: arrives})
	} else {
		g.events.add(event{at: g.now + time.Second, kind: arrives})
		return
	}
	q := &query{came: g.now, zone: g.somewhere(), size: g.about(g.Spread), pending: g.Shards, why: degrade.None}
	if q.zone < 0 {
		q.missing, q.pending, q.why = g.Shards, 0, degrade.Missing
		g.film.take(q, g.now)
		return
	}
	all := make([]*request, 0, g.Shards)
	reports := make([]degrade.Report, 0, g.Shards)
	for s := range g.Shards {
		r := &request{query: q, shard: s, caller: q.zone}
		p := g.pickers[q.zone][s]
		r.server = g.named[p.Pick(at(g.now))]
		if r.server != nil {
			report, _ := p.Report(at(g.now), r.server.name)
			reports = append(reports, report)
		}
		all = append(all, r)
	}
	share, _ := degrade.Together(reports...)
	for _, r := range all {
		g.send(r, share)
	}
}

// somewhere is a random zone that is on, -1 if there is none: the load balancer before
// the zones knows which are on.
func (g *game) somewhere() int {
	chosen, seen := -1, 0
	for z, on := range g.on {
		if on {
			if seen++; g.random.IntN(seen) == 0 {
				chosen = z
			}
		}
	}
	return chosen
}

// about is a random factor with mean 1 (log-normal).
func (g *game) about(spread float64) float64 {
	return math.Exp(spread*g.random.NormFloat64() - spread*spread/2)
}

// send sends a request to its server.
func (g *game) send(r *request, share float64) {
	s := r.server
	if s == nil {
		r.query.why = degrade.Missing
		g.answer(r, 0)
		return
	}
	g.sent++
	r.number, r.sent, r.gate = g.sent, g.now, s.gate
	s.running[r] = true
	ask := degrade.Ask{Deadline: at(r.query.came + g.Deadline), Share: share}
	if g.Blind {
		ask.Share = 1 // so that only the policies are compared
	}
	s.gate.Offer(at(g.now), ask, func(t degrade.Ticket) { g.admit(r, t) })
}

// admit starts the work of a request, or ends it if it was refused.
func (g *game) admit(r *request, t degrade.Ticket) {
	s := r.server
	if s.gate != r.gate {
		return // the server was restarted since
	}
	if t.Reason != degrade.None {
		r.query.why = t.Reason
	}
	if t.Refused {
		delete(s.running, r)
		g.done(r, degrade.Result{Took: g.now - r.sent, Report: s.gate.Report()})
		g.answer(r, 0)
		return
	}
	r.ticket = t
	s.shares, s.given = s.shares+t.Share, s.given+1
	cost := g.Fixed.Seconds() + g.Ranked.Seconds()*r.query.size*t.Share
	matched := int(r.query.size * candidates)
	r.work = degrade.Work{Matched: matched, Considered: int(float64(matched) * t.Share), CPU: time.Duration(cost * g.about(g.Noise) * float64(time.Second))}
	s.work(g.now, 1)
	g.events.add(event{at: g.now + r.work.CPU, kind: finishes, request: r})
}

// finish ends the work of a request.
func (g *game) finish(r *request) {
	s := r.server
	if s.gate != r.gate {
		return
	}
	delete(s.running, r)
	s.work(g.now, -1)
	share := r.ticket.Share
	r.ticket.DoneAt(at(g.now), r.work)
	g.done(r, degrade.Result{Took: g.now - r.sent, Report: s.gate.Report()})
	g.answer(r, share)
}

func (g *game) done(r *request, result degrade.Result) {
	g.pickers[r.caller][r.shard].Done(at(g.now), r.server.name, result)
}

// answer adds the answer of a shard to its query; a share of 0 means no answer.
func (g *game) answer(r *request, share float64) {
	q := r.query
	if share == 0 {
		q.missing++
	}
	q.share += share
	if q.pending--; q.pending == 0 {
		g.film.take(q, g.now)
	}
}

// change switches a zone off or on.
func (g *game) change(to Switch) {
	if g.on[to.Zone] == to.On {
		return
	}
	g.on[to.Zone] = to.On
	for _, row := range g.pickers {
		for _, p := range row {
			p.Switch(at(g.now), zoneName(to.Zone), to.On)
		}
	}
	for _, s := range g.servers {
		if s.zone != to.Zone {
			continue
		}
		lost := s.inOrder()
		s.restart(&g.World, g.now)
		for _, r := range lost {
			g.again(r)
		}
	}
}

// again sends a request of a lost server to another one. If the caller's zone is off too,
// the load balancer sends it through another zone.
func (g *game) again(r *request) {
	p, retried := g.pickers[r.caller][r.shard], ""
	p.Done(at(g.now), r.server.name, degrade.Result{Failed: true})
	n := &request{query: r.query, shard: r.shard, caller: r.caller}
	if g.on[r.caller] {
		retried = p.Retry(at(g.now), r.server.name)
	} else if z := g.somewhere(); z >= 0 {
		n.caller = z
		retried = g.pickers[z][r.shard].Pick(at(g.now))
	}
	n.server = g.named[retried]
	g.send(n, 1)
}

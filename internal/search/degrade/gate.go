package degrade

import (
	"context"
	"math"
	"runtime"
	"sync"
	"time"
)

// Gate is the admission control. It admits as many queries at a time as there are
// cores; others wait, programs behind people, in the order in which they came; clients that
// have several take turns. An
// admitted query gets the share of the policy, reduced for its wait and its deadline. A
// query that can no longer be answered in time is refused at once.
//
// All methods may be called by several goroutines at once.
type Gate struct {
	Slots  int     // queries at a time; as many as the capacity has cores unless set
	Policy Policy  // FeedForward unless set
	Floor  float64 // least share, DefaultFloor unless set
	Most   int     // queries that may wait, 64 for each slot unless set
	Bots   float64 // share of the policy below which programs are refused, DefaultBots unless set
	Blind  bool    // for comparison: no bound, no brake; only queries past their deadline are dropped

	Now func() time.Time // time.Now unless set; for Enter and Done

	// mu guards the fields below; no answer function is called while it is held.
	mu       sync.Mutex
	capacity float64
	share    float64 // of the policy; 0 before its first call, which means 1
	running  int
	people   line
	programs line
	cost     Cost
	since    period
}

// period is what happened since the last call of the policy.
type period struct {
	began   time.Time
	arrived int
	entered int
	waited  time.Duration
	cpu     time.Duration
}

// Ask is a query that asks for admission.
type Ask struct {
	Deadline time.Time // none if zero
	Share    float64   // most that is to be ranked, 1 if zero
	Reason   Reason    // why Share is below 1, Load unless set
	Program  bool      // a bot or a job of ours, not a person who waits
	Client   string    // who asks; clients take turns
}

// Ticket is the answer of a gate. The holder must call Done unless it is Refused.
type Ticket struct {
	Share   float64
	Reason  Reason // why Share is below 1, or why the query is refused
	Waited  time.Duration
	Refused bool

	gate *Gate
}

const (
	brakeFrom = 10 * time.Millisecond // wait, or half a query if that is longer, above which the share is reduced
	brakeTo   = 60 * time.Millisecond // wait, or three queries, at which the share is the floor
	safety    = 0.8                   // fraction of the remaining time that is planned with
	queuePer  = 64                    // queries that may wait for each slot
)

// Offer asks for admission and returns at once; answer is called once, now or later, by
// the goroutine whose call decides it.
func (g *Gate) Offer(now time.Time, a Ask, answer func(Ticket)) {
	g.mu.Lock()
	t, decided := g.direct(now, &a)
	if decided {
		g.mu.Unlock()
		answer(t)
		return
	}
	var out answers
	g.wait(&waiter{Ask: a, came: now, answer: answer}, &out)
	g.mu.Unlock()
	out.give()
}

// Enter waits for admission. The query is refused if ctx ends first. The deadline of
// ctx applies unless the query has its own.
func (g *Gate) Enter(ctx context.Context, a Ask) Ticket {
	if end, ok := ctx.Deadline(); ok && a.Deadline.IsZero() {
		a.Deadline = end
	}
	now := g.now()
	g.mu.Lock()
	t, decided := g.direct(now, &a)
	if decided {
		g.mu.Unlock()
		return t
	}
	answer := make(chan Ticket, 1)
	w := &waiter{Ask: a, came: now, answer: func(t Ticket) { answer <- t }}
	var out answers
	g.wait(w, &out)
	last := g.cheapest()
	g.mu.Unlock()
	out.give()
	var late <-chan time.Time
	if !a.Deadline.IsZero() {
		timer := time.NewTimer(a.Deadline.Sub(now) - last)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case t := <-answer:
		return t
	case <-late:
	case <-ctx.Done():
	}
	if g.withdraw(w) {
		return Ticket{Refused: true, Reason: Deadline, Waited: g.now().Sub(now)}
	}
	return <-answer // decided at this moment
}

// Done frees the slot and reports what the query took; the zero Work is ignored. A
// second call does nothing.
func (t *Ticket) Done(w Work) {
	if t.gate != nil {
		t.DoneAt(t.gate.now(), w)
	}
}

// DoneAt is Done at a given time.
func (t *Ticket) DoneAt(now time.Time, w Work) {
	g := t.gate
	if g == nil {
		return
	}
	t.gate = nil
	g.mu.Lock()
	g.running--
	g.since.cpu += w.CPU
	g.cost.Learn(w)
	var out answers
	g.next(now, &out)
	g.mu.Unlock()
	out.give()
}

// Tick calls the policy with the use of the machine since the last tick. The zero
// Machine, of which nothing is known, is taken to have as many cores as the gate has
// slots and to run nothing but queries.
func (g *Gate) Tick(now time.Time, m Machine) {
	g.mu.Lock()
	if m.Capacity > 0 {
		g.capacity = m.Capacity
	}
	var out answers
	g.expire(now, &out)
	s := g.signals(now, m)
	if s.Elapsed > 0 && !g.since.began.IsZero() {
		g.share = between(or(g.Floor, DefaultFloor), g.chosen().Share(s), 1)
	}
	g.since = period{began: now}
	g.next(now, &out) // there may be more slots now
	g.mu.Unlock()
	out.give()
}

// Run ticks every Period until ctx ends, with the readings of m.
func (g *Gate) Run(ctx context.Context, m *Meter) error {
	tick := time.NewTicker(Period)
	defer tick.Stop()
	last := m.Read(g.now())
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := m.Read(g.now())
		g.Tick(now.At, Between(last, now))
		last = now
	}
}

// Report is the current load.
func (g *Gate) Report() Report {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := Report{Share: or(g.share, 1), InFlight: g.running, Waiting: g.waiting()}
	if r.Waiting > 0 || g.running >= g.slots() {
		cost := g.cost.Average().At(r.Share) * g.stretch() / float64(g.slots())
		r.Wait = seconds(float64(r.Waiting+1) * cost)
	}
	return r
}

func (g *Gate) now() time.Time {
	if g.Now != nil {
		return g.Now()
	}
	return time.Now()
}

func (g *Gate) chosen() Policy {
	if g.Policy == nil {
		g.Policy = &FeedForward{Floor: g.Floor}
	}
	return g.Policy
}

func (g *Gate) slots() int {
	switch {
	case g.Slots > 0:
		return g.Slots
	case g.capacity > 0:
		return max(int(math.Round(g.capacity)), 1)
	}
	return runtime.GOMAXPROCS(0)
}

// cheapest is the time that the cheapest answer takes.
func (g *Gate) cheapest() time.Duration {
	return seconds(g.cost.Average().At(or(g.Floor, DefaultFloor)) * g.stretch())
}

// stretch is how many times its CPU time a query takes at least: with a fraction of a
// core, it is throttled for the rest of the time.
func (g *Gate) stretch() float64 { return stretch(g.capacity, float64(g.slots())) }

// usualWait is how long a query waits when nothing is wrong: at the same use, waits are
// longer with few slots than with many.
func usualWait(query, slots float64) float64 { return query * max(1, fewSlots/slots) }

const fewSlots = 4

func stretch(capacity, slots float64) float64 {
	if capacity <= 0 {
		return 1
	}
	return max(slots/capacity, 1)
}

// signals sums up the time since the last tick. The wait includes the age of the oldest
// waiting queries; otherwise a standstill would look idle.
func (g *Gate) signals(now time.Time, m Machine) Signals {
	p := &g.since
	s := Signals{Elapsed: now.Sub(p.began), Capacity: or(g.capacity, float64(g.slots())), Used: m.Used, Arrivals: p.arrived,
		Cost: g.cost.Average(), Quota: m.Quota, RunDelay: m.RunDelay, Pressure: m.Pressure}
	if dt := s.Elapsed.Seconds(); dt > 0 {
		s.Queries = p.cpu.Seconds() / dt
	}
	if m.Capacity == 0 {
		s.Used = min(s.Queries, s.Capacity)
	}
	sum, count := p.waited, p.entered
	for _, l := range []*line{&g.people, &g.programs} {
		if w := l.oldest(); w != nil {
			sum, count = sum+now.Sub(w.came), count+1
		}
	}
	if count > 0 {
		s.Wait = sum / time.Duration(count)
	}
	return s
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

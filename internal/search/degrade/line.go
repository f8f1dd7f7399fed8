package degrade

import "time"

// waiter is a query that is not admitted yet.
type waiter struct {
	Ask
	came   time.Time
	answer func(Ticket)
	gone   bool // answered or withdrawn
}

// line is a queue, first in, first out. Waiters that are gone are removed when they
// come to the front.
type line struct {
	all  []*waiter
	head int
	live int
}

func (l *line) push(w *waiter) {
	if l.head > 64 && l.head > len(l.all)/2 {
		n := copy(l.all, l.all[l.head:])
		clear(l.all[n:])
		l.all, l.head = l.all[:n], 0
	}
	l.all = append(l.all, w)
	l.live++
}

// first is the next waiter, nil if there is none.
func (l *line) first() *waiter {
	for l.head < len(l.all) && l.all[l.head].gone {
		l.all[l.head] = nil
		l.head++
	}
	if l.head == len(l.all) {
		l.all, l.head = l.all[:0], 0
		return nil
	}
	return l.all[l.head]
}

func (l *line) leave(w *waiter) {
	w.gone = true
	l.live--
}

// answers are what a call has decided, delivered after the gate is unlocked.
type answers struct{ all []answer }

type answer struct {
	to     *waiter
	ticket Ticket
}

func (a *answers) refuse(w *waiter, why Reason, now time.Time) {
	a.all = append(a.all, answer{w, Ticket{Refused: true, Reason: why, Waited: now.Sub(w.came)}})
}

func (a *answers) give() {
	for _, x := range a.all {
		x.to.answer(x.ticket)
	}
}

func (g *Gate) line(program bool) *line {
	if program {
		return &g.programs
	}
	return &g.people
}

func (g *Gate) waiting() int { return g.people.live + g.programs.live }

// withdraw takes a query out of its line; false if it is already decided.
func (g *Gate) withdraw(w *waiter) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.gone {
		return false
	}
	g.line(w.Program).leave(w)
	return true
}

// next admits waiting queries while there are free slots.
func (g *Gate) next(now time.Time, out *answers) {
	g.expire(now, out)
	for g.running < g.slots() {
		l := &g.people
		w := l.first()
		if w == nil {
			l = &g.programs
			w = l.first()
		}
		if w == nil {
			return
		}
		l.leave(w)
		out.all = append(out.all, answer{w, g.enter(&w.Ask, w.came, now)})
	}
}

// expire refuses the queries at the front whose deadline cannot be met. Those behind
// them came later and mostly have a later deadline.
func (g *Gate) expire(now time.Time, out *answers) {
	for _, l := range []*line{&g.people, &g.programs} {
		for w := l.first(); w != nil && g.hopeless(&w.Ask, now); w = l.first() {
			l.leave(w)
			out.refuse(w, Deadline, now)
		}
	}
}

// hopeless reports whether even the cheapest answer would be late. A blind gate drops
// only queries past their deadline.
func (g *Gate) hopeless(w *Ask, now time.Time) bool {
	if g.Blind {
		return !w.Deadline.IsZero() && !now.Before(w.Deadline)
	}
	return !w.Deadline.IsZero() && w.Deadline.Sub(now) <= g.cheapest()
}

// bound keeps the lines short: it refuses the oldest programs first, which have the
// least time left, then the oldest people.
func (g *Gate) bound(now time.Time, out *answers) {
	most := g.Most
	if most == 0 {
		most = queuePer * g.slots()
	}
	for !g.Blind && g.waiting() > most {
		l := &g.programs
		w := l.first()
		if w == nil {
			l = &g.people
			w = l.first()
		}
		l.leave(w)
		out.refuse(w, Queue, now)
	}
}

// direct decides on a query that need not wait.
func (g *Gate) direct(now time.Time, a *Ask) (t Ticket, decided bool) {
	g.since.arrived++
	switch {
	case a.Program && !g.Blind && or(g.share, 1) < or(g.Bots, DefaultBots):
		return Ticket{Refused: true, Reason: Load}, true
	case g.running < g.slots() && g.waiting() == 0:
		return g.enter(a, now, now), true
	}
	return Ticket{}, false
}

// wait puts a query into its line.
func (g *Gate) wait(w *waiter, out *answers) {
	g.line(w.Program).push(w)
	g.bound(w.came, out)
	g.expire(w.came, out)
}

// enter gives a query its ticket, or refuses it if its deadline cannot be met.
func (g *Gate) enter(a *Ask, came, now time.Time) Ticket {
	if g.hopeless(a, now) {
		return Ticket{Refused: true, Reason: Deadline, Waited: now.Sub(came)}
	}
	t := g.ticket(a, came, now)
	g.running++
	g.since.entered++
	g.since.waited += t.Waited
	return t
}

// ticket has the least of the shares that the query asks for and that policy, wait and
// deadline allow.
func (g *Gate) ticket(a *Ask, came, now time.Time) Ticket {
	t := Ticket{Share: 1, Reason: None, Waited: now.Sub(came), gate: g}
	floor := or(g.Floor, DefaultFloor)
	lower := func(share float64, why Reason) {
		if share = max(share, floor); share < t.Share {
			t.Share, t.Reason = share, why
		}
	}
	policy := or(g.share, 1)
	lower(policy, Load)
	if !g.Blind {
		lower(policy*(1-g.brake(t.Waited)), Queue)
		lower(g.inTime(a, now), Deadline)
	}
	if asked := or(a.Share, 1); asked < t.Share {
		t.Share, t.Reason = asked, a.Reason
		if t.Reason == "" {
			t.Reason = Load
		}
	}
	return t
}

// brake is the fraction of the share that a wait costs. A wait that is short compared
// with a query costs nothing.
func (g *Gate) brake(waited time.Duration) float64 {
	query := seconds(g.cost.Average().Full() * g.stretch())
	from, to := max(brakeFrom, query/2), max(brakeTo, 3*query)
	return between(0, float64(waited-from)/float64(to-from), 1)
}

// inTime is the share that can be ranked before the deadline.
func (g *Gate) inTime(w *Ask, now time.Time) float64 {
	e := g.cost.Average()
	if w.Deadline.IsZero() || !e.Known() || e.Ranked <= 0 {
		return 1
	}
	return (safety*w.Deadline.Sub(now).Seconds()/g.stretch() - e.Fixed) / e.Ranked
}

package degrade

import "time"

// waiter is a query that is not admitted yet.
type waiter struct {
	Ask
	came   time.Time
	answer func(Ticket)
	gone   bool // answered or withdrawn
}

// line is a queue for each client, first in, first out. The clients take turns, so that one
// with many queries makes only itself wait.
type line struct {
	byClient map[string]*queue
	turns    []*queue // of clients; the next one is first
	live     int
}

// queue has the waiters of one client. Those that are gone are removed when they come to
// the front.
type queue struct {
	client string
	all    []*waiter
	head   int
	live   int
}

func (l *line) push(w *waiter) {
	q := l.byClient[w.Client]
	if q == nil {
		if l.byClient == nil {
			l.byClient = map[string]*queue{}
		}
		q = &queue{client: w.Client}
		l.byClient[w.Client] = q
		l.turns = append(l.turns, q)
	}
	q.push(w)
	l.live++
}

func (q *queue) push(w *waiter) {
	if q.head > 64 && q.head > len(q.all)/2 {
		n := copy(q.all, q.all[q.head:])
		clear(q.all[n:])
		q.all, q.head = q.all[:n], 0
	}
	q.all = append(q.all, w)
	q.live++
}

// first is the next waiter, nil if there is none.
func (q *queue) first() *waiter {
	for q.head < len(q.all) && q.all[q.head].gone {
		q.all[q.head] = nil
		q.head++
	}
	if q.head == len(q.all) {
		q.all, q.head = q.all[:0], 0
		return nil
	}
	return q.all[q.head]
}

// next takes the first waiter of the client whose turn it is, nil if nobody waits.
func (l *line) next() *waiter {
	for len(l.turns) > 0 {
		q := l.turns[0]
		l.turns = l.turns[1:]
		w := q.first()
		if w == nil {
			delete(l.byClient, q.client)
			continue
		}
		l.leave(w)
		l.turns = append(l.turns, q)
		return w
	}
	return nil
}

// oldest is the waiter that came first, nil if nobody waits.
func (l *line) oldest() (w *waiter) {
	for _, q := range l.turns {
		if first := q.first(); first != nil && (w == nil || first.came.Before(w.came)) {
			w = first
		}
	}
	return w
}

// excess is the oldest waiter of the client that has most of them, nil if nobody waits.
func (l *line) excess() *waiter {
	var most *queue
	for _, q := range l.turns {
		if most == nil || q.live > most.live {
			most = q
		}
	}
	if most == nil {
		return nil
	}
	return most.first()
}

func (l *line) leave(w *waiter) {
	w.gone = true
	l.live--
	l.byClient[w.Client].live--
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
		w := g.people.next()
		if w == nil {
			w = g.programs.next()
		}
		if w == nil {
			return
		}
		out.all = append(out.all, answer{w, g.enter(&w.Ask, w.came, now)})
	}
}

// expire refuses the queries at the front of their queues whose deadline cannot be met.
// Those behind them came later and mostly have a later deadline.
func (g *Gate) expire(now time.Time, out *answers) {
	for _, l := range []*line{&g.people, &g.programs} {
		for _, q := range l.turns {
			for w := q.first(); w != nil && g.hopeless(&w.Ask, now); w = q.first() {
				l.leave(w)
				out.refuse(w, Deadline, now)
			}
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

// bound keeps the lines short: it refuses programs first, then people, of the client that
// has most of them; its oldest first, which have the least time left.
func (g *Gate) bound(now time.Time, out *answers) {
	most := g.Most
	if most == 0 {
		most = queuePer * g.slots()
	}
	for !g.Blind && g.waiting() > most {
		l := &g.programs
		w := l.excess()
		if w == nil {
			l = &g.people
			w = l.excess()
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

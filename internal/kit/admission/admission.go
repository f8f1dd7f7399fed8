// Package admission decides which HTTP request runs next. A few requests run at a time;
// the others wait in a queue for each client, and the client that has used least time goes
// first. A client alone may use everything; what it had is taken from it as soon as another
// one waits. What waits is bounded, and what does not fit is refused at once.
//
// The order is that of start-time fair queueing (Goyal, Vin, Cheng, 1996), with the time
// that requests of the same kind took before as the expected cost.
package admission

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/courant-platform/courant/internal/kit/web"
)

// Gate admits the requests of one process. All fields are to be set before its first use;
// zero means the default.
type Gate struct {
	Slots    int           // requests that run at a time; 2
	Reserve  int           // further ones of holders of a token; 1
	Each     int           // requests of a client that run, wait for their turn, or are being sent; 64
	Most     int           // of all clients; 1,024
	Asleep   int           // requests of a client that wait for something to happen; 16
	Sleepers int           // of all clients, and once more of all holders of a token; 1,000
	Patience time.Duration // how long a request waits for its turn; 5 s

	pausing atomic.Int64 // requests whose refusal is delayed

	// mu guards the fields below, and those of clients and turns.
	mu       sync.Mutex
	clients  map[Client]*client // that have a request, or had more time than others
	few      int                // clients, up to which none is forgotten while requests run
	waiting  []*client          // those that have one in the queue
	running  int
	open     int
	sleepers int           // without holders of a token
	clock    time.Duration // virtual time: that of the client whose request was admitted last
	costs    map[string]time.Duration
}

// client is a client with a request, or whose use of time is remembered.
type client struct {
	name   Client
	used   time.Duration // virtual time: what its requests took
	queue  []*Turn       // the cheapest first
	turns  int           // all of its requests
	open   int           // those that are not asleep
	asleep int
}

// Turn is a request's place among those of a process. A nil Turn is always admitted.
type Turn struct {
	gate     *Gate
	client   *client
	kind     string
	expected time.Duration
	began    time.Time // running since; zero if it does not run
	asleep   bool
	answer   chan *web.Refusal // the decision on a request in the queue
}

const (
	defaultCost = time.Millisecond
	leastAfter  = time.Second
	mostAfter   = 30 * time.Second
	mostKinds   = 1000 // whose cost is remembered
)

func or[T int | time.Duration](value, otherwise T) T {
	if value > 0 {
		return value
	}
	return otherwise
}

// come registers a request, unless it is refused. The caller must call leave.
func (g *Gate) come(who Client, kind string) (*Turn, *web.Refusal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.clients[who]
	if c == nil {
		if g.clients == nil {
			g.clients, g.costs = map[Client]*client{}, map[string]time.Duration{}
		}
		c = &client{name: who}
		g.clients[who] = c
	}
	if r := g.crowded(c); r != nil {
		return nil, r
	}
	c.turns++
	c.open++
	g.open++
	return &Turn{gate: g, client: c, kind: kind}, nil
}

// leave ends a request.
func (t *Turn) leave() {
	g, c := t.gate, t.client
	g.mu.Lock()
	defer g.mu.Unlock()
	t.stop()
	t.rise()
	c.open--
	g.open--
	c.turns--
	g.settle()
}

// settle forgets the clients that have no request and are not ahead of others: they would
// begin like new ones. When nothing runs, nobody is ahead.
func (g *Gate) settle() {
	if idle := g.running == 0 && len(g.waiting) == 0; idle || len(g.clients) > g.few {
		for name, c := range g.clients {
			if idle {
				g.clock = max(g.clock, c.used)
			}
			if c.turns == 0 && (idle || c.used <= g.clock) {
				delete(g.clients, name)
			}
		}
		g.few = 2*len(g.clients) + 64
	}
}

const (
	beforeNo = 500 * time.Millisecond // a refused client may send its next request after that
	mostNo   = 4096                   // requests that are refused so late
)

// pause delays a refusal: refusing thousands of requests a second of a client that asks
// again at once would take the processors from the others. While too many are delayed, the
// client has to connect anew instead.
func (g *Gate) pause(ctx context.Context, r *web.Refusal) {
	defer g.pausing.Add(-1)
	if r.Close = g.pausing.Add(1) > mostNo; r.Close {
		return
	}
	d := time.NewTimer(beforeNo)
	defer d.Stop()
	select {
	case <-d.C:
	case <-ctx.Done():
	}
}

// crowded refuses a request if its client has too many, or all clients together have: then
// a request of the client that has most in the queue makes room instead, if there is one.
func (g *Gate) crowded(c *client) *web.Refusal {
	switch {
	case c.name == Holders:
		return nil
	case c.open >= or(g.Each, 64):
		return g.refuse(c, true)
	case g.open < or(g.Most, 1024):
		return nil
	}
	most := c
	for _, other := range g.waiting {
		if len(other.queue) > len(most.queue) {
			most = other
		}
	}
	if most == c {
		return g.refuse(c, false)
	}
	last := most.queue[len(most.queue)-1]
	g.drop(last)
	last.answer <- g.refuse(most, true)
	return nil
}

// refuse is the answer to a request that cannot wait: because of the other requests of its
// client, or of those of all.
func (g *Gate) refuse(c *client, own bool) *web.Refusal {
	var queued time.Duration
	for _, t := range c.queue {
		queued += t.expected
	}
	r := &web.Refusal{Status: http.StatusServiceUnavailable, Text: "the server is busy; try again in a moment", After: min(max(queued, leastAfter), mostAfter)}
	if own {
		r.Status, r.Text = http.StatusTooManyRequests, "too many requests at once from your network; wait for answers before you send more"
	}
	return r
}

// wait waits until the request may run. The error is a web.Refusal, or that of ctx.
func (t *Turn) wait(ctx context.Context) error {
	g := t.gate
	g.mu.Lock()
	t.expected = or(g.costs[t.kind], defaultCost)
	t.answer = make(chan *web.Refusal, 1)
	t.queue()
	g.next()
	g.mu.Unlock()
	select {
	case r := <-t.answer: // the usual case, without a timer
		return asError(r)
	default:
	}
	patience := time.NewTimer(or(g.Patience, 5*time.Second))
	defer patience.Stop()
	select {
	case r := <-t.answer:
		return asError(r)
	case <-patience.C:
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case r := <-t.answer: // just now
		return asError(r)
	default:
	}
	r := g.refuse(t.client, len(t.client.queue) > 1)
	g.drop(t)
	if err := ctx.Err(); err != nil {
		return err
	}
	return r
}

// asError is r as an error, nil for nil.
func asError(r *web.Refusal) error {
	if r == nil {
		return nil
	}
	return r
}

// queue inserts a request behind those of its client that cost no more.
func (t *Turn) queue() {
	c := t.client
	if len(c.queue) == 0 {
		c.used = max(c.used, t.gate.clock) // a client that asked for nothing has saved nothing
		t.gate.waiting = append(t.gate.waiting, c)
	}
	i := len(c.queue)
	for i > 0 && c.queue[i-1].expected > t.expected {
		i--
	}
	c.queue = slices.Insert(c.queue, i, t)
}

// drop takes a request out of its client's queue.
func (g *Gate) drop(t *Turn) {
	c := t.client
	if i := slices.Index(c.queue, t); i >= 0 {
		c.queue = slices.Delete(c.queue, i, i+1)
	}
	if len(c.queue) == 0 {
		g.waiting = slices.DeleteFunc(g.waiting, func(other *client) bool { return other == c })
	}
}

// next admits requests while there are free slots. Its cost grows with the number of
// clients that wait, which Most bounds.
func (g *Gate) next() {
	for {
		var first *client
		for _, c := range g.waiting {
			if g.free(c) && (first == nil || c.used+c.queue[0].expected < first.used+first.queue[0].expected) {
				first = c
			}
		}
		if first == nil {
			return
		}
		t := first.queue[0]
		g.drop(t)
		g.running++
		g.clock = max(g.clock, first.used)
		first.used += t.expected
		t.began = time.Now()
		t.answer <- nil
	}
}

// free reports whether a client's request may run now.
func (g *Gate) free(c *client) bool {
	slots := or(g.Slots, 2)
	if c.name == Holders {
		slots += or(g.Reserve, 1)
	}
	return g.running < slots
}

// stop gives the slot back, if the request has one.
func (t *Turn) stop() {
	g := t.gate
	if t.began.IsZero() {
		return
	}
	took := time.Since(t.began)
	t.began = time.Time{}
	g.running--
	t.client.used += took - t.expected
	if old, known := g.costs[t.kind]; known {
		g.costs[t.kind] = old + (took-old)/8
	} else if len(g.costs) < mostKinds {
		g.costs[t.kind] = took
	}
	g.next()
}

func (t *Turn) running() bool {
	t.gate.mu.Lock()
	defer t.gate.mu.Unlock()
	return !t.began.IsZero()
}

// Client is who asks; "" for a nil Turn.
func (t *Turn) Client() Client {
	if t == nil {
		return ""
	}
	return t.client.name
}

// Stop gives the slot back before the request has ended: what follows waits for others,
// for the client's network for instance.
func (t *Turn) Stop() {
	if t == nil {
		return
	}
	t.gate.mu.Lock()
	defer t.gate.mu.Unlock()
	t.stop()
}

// Sleep gives the slot back while the request waits for something to happen. It fails with
// a web.Refusal if too many do.
func (t *Turn) Sleep(ctx context.Context) error {
	if t == nil {
		return nil
	}
	if r := t.sleep(); r != nil {
		t.gate.pause(ctx, r)
		return r
	}
	return nil
}

func (t *Turn) sleep() *web.Refusal {
	g, c := t.gate, t.client
	g.mu.Lock()
	defer g.mu.Unlock()
	t.stop()
	switch most := or(g.Sleepers, 1000); {
	case t.asleep:
		return nil
	case c.name != Holders && c.asleep >= or(g.Asleep, 16):
		r := g.refuse(c, true)
		r.Text = "too many requests from your network already wait for changes; end one of them, or ask without wait"
		return r
	case c.name == Holders && c.asleep >= most, c.name != Holders && g.sleepers >= most:
		r := g.refuse(c, false)
		r.Text = "too many clients already wait for changes; ask again without wait, or later"
		return r
	}
	t.asleep = true
	c.asleep++
	c.open--
	g.open--
	if c.name != Holders {
		g.sleepers++
	}
	return nil
}

// rise ends a sleep.
func (t *Turn) rise() {
	if !t.asleep {
		return
	}
	t.asleep = false
	t.client.asleep--
	t.client.open++
	t.gate.open++
	if t.client.name != Holders {
		t.gate.sleepers--
	}
}

// Wake waits for a slot after Stop or Sleep, and does nothing if the request has one. One
// that sleeps still counts as such.
func (t *Turn) Wake(ctx context.Context) error {
	if t == nil || t.running() {
		return nil
	}
	return t.wait(ctx)
}

package index

import (
	"context"
	"sync"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/search/degrade"
	"github.com/courant-platform/courant/internal/search/shard"
)

// control decides which share of the matching documents is ranked.
type control struct {
	gate  degrade.Gate
	meter degrade.Meter

	// mu guards said.
	mu    sync.Mutex
	said  float64 // share that was logged last
	audit chan audited
}

// audited is a query that ranked less than everything, with its hits.
type audited struct {
	q      shard.Query
	shards []int
	hits   []shard.Hit
}

const (
	auditOne  = 1000 // one in so many queries that ranked less is repeated
	sayChange = 0.1  // change of the share that is logged
)

// policyOf is the policy of a configuration.
func policyOf(c Config) (degrade.Policy, error) {
	switch c.Policy {
	case "", "feed-forward":
		return &degrade.FeedForward{Floor: c.Floor}, nil
	case "linear":
		return &degrade.Linear{Window: 5 * time.Second}, nil
	case "off":
		return degrade.Fixed(1), nil
	}
	return nil, courant.Errorf(courant.Invalid, "index.policy must be feed-forward, linear or off, not %q", c.Policy)
}

// start prepares the gate. Fails with Invalid if a setting is wrong.
func (c *control) start(config Config) error {
	policy, err := policyOf(config)
	if err != nil {
		return err
	}
	if config.Floor < 0 || config.Floor > 1 {
		return courant.Errorf(courant.Invalid, "index.floor must be between 0 and 1, not %v", config.Floor)
	}
	c.gate.Policy, c.gate.Floor, c.gate.Blind = policy, config.Floor, config.Policy == "off"
	c.said, c.audit = 1, make(chan audited, 1)
	return nil
}

// control runs admission control, and repeats queries that ranked less, until ctx ends.
func (x *Index) control(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { x.load.gate.Run(ctx, &x.load.meter) })
	defer all.Wait()
	tick := time.NewTicker(degrade.Period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			x.tell()
		case a := <-x.load.audit:
			x.repeat(ctx, a)
		}
	}
}

// gauge sets a metric of the index, also under its name of the previous version.
func (x *Index) gauge(name string, value float64) {
	x.Metrics.Gauge("courant_index_"+name, value)
	x.Metrics.Gauge("courant_search_"+name, value)
}

// add adds to a metric of the index, as gauge does.
func (x *Index) add(name string, n float64, labels ...string) {
	x.Metrics.Add("courant_index_"+name, n, labels...)
	x.Metrics.Add("courant_search_"+name, n, labels...)
}

// tell exports the share, and logs it when it changes.
func (x *Index) tell() {
	r, c := x.load.gate.Report(), &x.load
	x.gauge("share", r.Share)
	x.gauge("waiting", float64(r.Waiting))
	c.mu.Lock()
	was := c.said
	if r.Share == 1 || was-r.Share >= sayChange || r.Share-was >= sayChange {
		c.said = r.Share
	}
	c.mu.Unlock()
	switch {
	case r.Share < 1 && was-r.Share >= sayChange:
		x.Log.Warn("search overloaded: ranking a reduced share", "share", r.Share, "waiting", r.Waiting)
	case r.Share == 1 && was < 1:
		x.Log.Info("search no longer overloaded: ranking everything")
	}
}

// Asked is the reason of a share that the query has set.
const Asked degrade.Reason = "asked"

// admit waits for the admission of a query.
func (x *Index) admit(ctx context.Context, a *Ask) (degrade.Ticket, error) {
	reason := a.Reason
	if reason == "" || reason == degrade.None {
		reason = Asked
	}
	t := x.load.gate.Enter(ctx, degrade.Ask{Share: max(leastShare, min(a.Query.Share, 1)), Reason: reason, Program: a.Program, Client: a.Client})
	if t.Refused {
		x.add("refused_total", 1, "reason", string(t.Reason))
		return t, courant.Errorf(courant.Busy, "search overloaded (%s); try again in a moment", t.Reason)
	}
	return t, nil
}

const leastShare = 0.01

// done reports what a query cost, and chooses some to repeat.
func (x *Index) done(t *degrade.Ticket, q *shard.Query, shards []int, p *Part) {
	matched, considered := 0, 0
	for i := range p.Shards {
		matched += p.Shards[i].Matched
		considered += p.Shards[i].Considered
	}
	t.Done(degrade.Work{Matched: matched, Considered: considered, CPU: p.CPU})
	if p.Share < 1 && t.Reason != Asked && p.CPU.Nanoseconds()%auditOne == 0 {
		select {
		case x.load.audit <- audited{*q, shards, p.Hits}:
		default: // another one is waiting
		}
	}
}

// repeat repeats a query at full share when no other query runs, and counts how many of
// its hits are different.
func (x *Index) repeat(ctx context.Context, a audited) {
	for x.load.gate.Report().InFlight > 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(degrade.Period):
		}
	}
	a.q.Share = 1
	r := x.ask(&a.q, a.shards, false)
	before := map[int64]bool{}
	for _, h := range a.hits {
		before[h.ID] = true
	}
	changed := 0
	for _, h := range r.Hits {
		if !before[h.ID] {
			changed++
		}
	}
	x.add("audited_total", 1)
	x.add("audited_changed_total", float64(changed))
}

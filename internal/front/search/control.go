package search

import (
	"context"
	"sync"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/search/shard"
	"github.com/courant-platform/courant/internal/kit/degrade"
)

// control decides how much of what matches is ranked.
type control struct {
	gate  degrade.Gate
	meter degrade.Meter

	mu    sync.Mutex
	said  float64 // the share that the log was told of last
	audit chan audited
}

// audited is a query that was cut, and what it found.
type audited struct {
	q    shard.Query
	hits []shard.Hit
}

const (
	auditOne  = 1000 // of so many queries that were cut one is asked again
	sayChange = 0.1  // of the share is worth a line in the log
)

// lawOf is how the share is worked out.
func lawOf(c Config) (degrade.Law, error) {
	switch c.Law {
	case "", "feed-forward":
		return &degrade.FeedForward{Floor: c.Floor}, nil
	case "linear":
		return &degrade.Linear{Window: 5 * time.Second}, nil
	case "off":
		return degrade.Fixed(1), nil
	}
	return nil, courant.Errorf(courant.Invalid, "search.law: %q is none of feed-forward, linear, off", c.Law)
}

// start readies the gate.
func (c *control) start(config Config) error {
	law, err := lawOf(config)
	if err != nil {
		return err
	}
	if config.Floor < 0 || config.Floor > 1 {
		return courant.Errorf(courant.Invalid, "search.floor: %v is no part, such as 0.05", config.Floor)
	}
	c.gate.Law, c.gate.Floor, c.gate.Blind = law, config.Floor, config.Law == "off"
	c.said, c.audit = 1, make(chan audited, 1)
	return nil
}

// control reads the machine and repeats queries that were cut, until ctx ends.
func (s *Search) control(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { s.load.gate.Run(ctx, &s.load.meter) })
	defer all.Wait()
	tick := time.NewTicker(degrade.Period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.tell()
		case a := <-s.load.audit:
			s.repeat(ctx, a)
		}
	}
}

// tell shows the share to whoever watches.
func (s *Search) tell() {
	r, c := s.load.gate.Report(), &s.load
	s.Metrics.Gauge("courant_search_share", r.Share)
	s.Metrics.Gauge("courant_search_waiting", float64(r.Waiting))
	c.mu.Lock()
	was := c.said
	if r.Share == 1 || was-r.Share >= sayChange || r.Share-was >= sayChange {
		c.said = r.Share
	}
	c.mu.Unlock()
	switch {
	case r.Share < 1 && was-r.Share >= sayChange:
		s.Log.Warn("the search ranks less, for it has more to do than it can", "share", r.Share, "waiting", r.Waiting)
	case r.Share == 1 && was < 1:
		s.Log.Info("the search ranks everything again")
	}
}

// admit waits until there is room for a query, and lowers its share as far as that
// is needed. Done has to be called of a ticket that comes without an error.
func (s *Search) admit(ctx context.Context, q *shard.Query) (degrade.Ticket, error) {
	share := s.flags.Float(flagShare, q.Share, q.Share < 1, 1)
	a := degrade.Ask{Share: min(max(share, 0.01), 1), Reason: asked}
	if s.Config.Deadline > 0 {
		a.Deadline = time.Now().Add(time.Duration(s.Config.Deadline))
	}
	t := s.load.gate.Enter(ctx, a)
	if t.Refused {
		s.Metrics.Add("courant_search_queries_total", 1, "reason", "refused")
		return t, courant.Errorf(courant.Busy, "the search has more to do than it can (%s); try again in a moment", t.Reason)
	}
	q.Share = t.Share
	return t, nil
}

// The names of the flags.
const (
	flagShare = "search.share" // to rank at most
	flagNear  = "search.near"  // to look for words with slips
)

// asked is the reason of a share that who asks has set.
const asked degrade.Reason = "asked"

// done says what a query cost, and counts it.
func (s *Search) done(t *degrade.Ticket, q *shard.Query, r *Result) {
	matched, considered := 0, 0
	for i := range r.Shards {
		matched += r.Shards[i].Matched
		considered += r.Shards[i].Considered
	}
	t.Done(degrade.Work{Matched: matched, Considered: considered, CPU: r.CPU})
	reason := degrade.None
	if r.Share < 1 {
		reason = t.Reason
	}
	s.Metrics.Add("courant_search_queries_total", 1, "reason", string(reason))
	s.Metrics.Observe("courant_search_seconds", r.Took)
	if r.Share < 1 && reason != asked && r.CPU.Nanoseconds()%auditOne == 0 {
		select {
		case s.load.audit <- audited{*q, r.Hits}:
		default: // one waits already
		}
	}
}

// repeat asks a query that was cut once more without the cut, when there is nothing
// else to do, and notes how many of its hits are others.
func (s *Search) repeat(ctx context.Context, a audited) {
	for s.load.gate.Report().InFlight > 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(degrade.Period):
		}
	}
	a.q.Share = 1
	r := s.ask(&a.q, false)
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
	s.Metrics.Add("courant_search_audited_total", 1)
	s.Metrics.Add("courant_search_audited_changed_total", float64(changed))
}

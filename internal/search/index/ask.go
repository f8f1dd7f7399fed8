package index

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/courant-platform/courant/internal/search/cputime"
	"github.com/courant-platform/courant/internal/search/degrade"
	"github.com/courant-platform/courant/internal/search/shard"
)

// Ask is a query for some of the shards.
type Ask struct {
	Query   shard.Query
	Shards  []int          // to query; all that are held if empty
	Reason  degrade.Reason // why the query's share is below 1
	Program bool           // from a bot, which may wait
	Client  string         // who asks; clients take turns
}

// Part is the merged answer of some shards.
type Part struct {
	Total, Relaxed int
	Hits           []shard.Hit // the best, at most Query.Top
	Facets         shard.Facets
	Conflicts      []shard.Conflict
	Shards         []Report
	Share          float64 // of the matching documents that was ranked
	CPU            time.Duration
}

// Report is how one shard answered.
type Report struct {
	Shard      int            `json:"shard"`
	Matched    int            `json:"matched"`
	Considered int            `json:"considered"`
	Scored     int            `json:"scored"`
	ShareAsked float64        `json:"share_asked"`
	ShareUsed  float64        `json:"share_used"`
	Reason     degrade.Reason `json:"reason"`
}

// Ask waits for admission and queries the shards. It fails with Busy if the query cannot
// be answered before ctx ends.
func (x *Index) Ask(ctx context.Context, a *Ask) (Part, error) {
	t, err := x.admit(ctx, a)
	if err != nil {
		return Part{}, err
	}
	q := a.Query
	q.Share = t.Share
	p := x.ask(&q, a.Shards, x.load.gate.Report().InFlight <= 1) // otherwise other queries use the other cores
	for i := range p.Shards {
		if r := &p.Shards[i]; r.ShareUsed < 1 && r.Reason != degrade.Missing {
			r.Reason = t.Reason
		}
		p.Shards[i].ShareAsked = a.Query.Share
	}
	x.done(&t, &q, a.Shards, &p)
	return p, nil
}

// ask queries shards, all at once or one after another, and merges their answers.
func (x *Index) ask(q *shard.Query, shards []int, atOnce bool) Part {
	if len(shards) == 0 {
		shards = x.held
	}
	parts := make([]Part, len(shards))
	one := func(i int) {
		watch := cputime.Start()
		parts[i] = Missing(shards[i])
		if sh := x.shard(shards[i]); sh != nil {
			a := sh.Ask(q)
			parts[i] = partOf(shards[i], q, &a)
		}
		parts[i].CPU = watch.Stop()
	}
	var all sync.WaitGroup
	for i := range shards {
		if atOnce && i > 0 {
			all.Go(func() { one(i) })
		}
	}
	for i := range shards {
		if !atOnce || i == 0 {
			one(i)
		}
	}
	all.Wait()
	p, from := merge(q.Top, parts)
	for i, n := range shards {
		if len(parts[i].Hits) == 0 {
			continue
		}
		var own []*shard.Hit
		for j := range p.Hits {
			if from[j] == i {
				own = append(own, &p.Hits[j])
			}
		}
		x.shards[n].Fill(own)
	}
	p.Hits = slices.DeleteFunc(p.Hits, func(h shard.Hit) bool { return h.URL == "" }) // gone meanwhile
	return p
}

func partOf(n int, q *shard.Query, a *shard.Answer) Part {
	return Part{Total: a.Matched, Relaxed: a.Relaxed, Hits: a.Hits, Facets: a.Facets, Conflicts: a.Conflicts, Share: a.ShareUsed,
		Shards: []Report{{Shard: n, Matched: a.Matched, Considered: a.Considered, Scored: a.Scored, ShareAsked: q.Share,
			ShareUsed: a.ShareUsed, Reason: degrade.None}}}
}

// Missing is the part of shards that did not answer.
func Missing(shards ...int) (p Part) {
	for _, n := range shards {
		p.Shards = append(p.Shards, Report{Shard: n, Reason: degrade.Missing})
	}
	return p
}

// Merge merges parts. Scores are from the same model, so that they can be compared. For
// Share, a missing shard counts as much as each of the others.
func Merge(top int, parts ...Part) Part {
	m, _ := merge(top, parts)
	return m
}

// merge is Merge; from is the part of each hit.
func merge(top int, parts []Part) (m Part, from []int) {
	ranked, weight := 0.0, 0.0
	for i := range parts {
		p := &parts[i]
		m.Total += p.Total
		m.Relaxed += p.Relaxed
		ranked += p.Share * float64(p.Total+p.Relaxed)
		weight += float64(p.Total + p.Relaxed)
		m.CPU += p.CPU
		m.Shards = append(m.Shards, p.Shards...)
		for _, c := range p.Conflicts {
			if !slices.Contains(m.Conflicts, c) {
				m.Conflicts = append(m.Conflicts, c)
			}
		}
	}
	for i := range parts {
		if parts[i].Total > 0 || m.Total == 0 {
			m.Facets.Add(parts[i].Facets)
		}
	}
	m.Share = 1
	if weight > 0 {
		m.Share = ranked / weight
	}
	slices.SortFunc(m.Shards, func(a, b Report) int { return a.Shard - b.Shard })
	missing := 0
	for _, r := range m.Shards {
		if r.Reason == degrade.Missing {
			missing++
		}
	}
	if missing > 0 {
		m.Share *= 1 - float64(missing)/float64(len(m.Shards))
	}
	m.Hits, from = best(top, parts)
	return m, from
}

// best are the best hits of parts whose hits are sorted.
func best(top int, parts []Part) (hits []shard.Hit, from []int) {
	at := make([]int, len(parts))
	for len(hits) < top {
		next := -1
		for i := range parts {
			if at[i] < len(parts[i].Hits) && (next < 0 || before(&parts[i].Hits[at[i]], &parts[next].Hits[at[next]])) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		hits, from = append(hits, parts[next].Hits[at[next]]), append(from, next)
		at[next]++
	}
	return hits, from
}

// before is the order of hits: those with all words as written first, then by score.
func before(a, b *shard.Hit) bool {
	switch {
	case a.Relaxed != b.Relaxed:
		return b.Relaxed
	case a.Score != b.Score:
		return a.Score > b.Score
	}
	return a.ID < b.ID
}

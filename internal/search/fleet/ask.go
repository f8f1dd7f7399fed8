package fleet

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/search/degrade"
	"github.com/courant-platform/courant/internal/search/index"
	"github.com/courant-platform/courant/internal/search/shard"
)

// patience is the fraction of a query's time after which another replica is asked, too,
// if the first one has not answered.
const patience = 0.6

// Ask queries one replica of each shard. All shards rank the same share: the least that
// one of the replicas reports. Shards that do not answer are marked as missing in the
// answer. Ask fails with Busy if no shard answers.
func (f *Fleet) Ask(ctx context.Context, a *index.Ask) (index.Part, error) {
	v := f.view.Load()
	if v == nil || len(v.groups) == 0 {
		return index.Part{}, errNobody
	}
	now := time.Now()
	picked, one, share := make([]string, len(v.groups)), *a, 1.0
	for i, g := range v.groups {
		picked[i] = g.picker.Pick(now)
		if r, known := g.picker.Report(now, picked[i]); known {
			share = min(share, r.Share)
		}
	}
	if share < one.Query.Share {
		one.Query.Share, one.Reason = share, degrade.Load
	}
	f.share.Store(math.Float64bits(share))
	parts, errs := make([]index.Part, len(v.groups), len(v.groups)+1), make([]error, len(v.groups))
	var all sync.WaitGroup
	for i := range v.groups {
		do := func() { parts[i], errs[i] = v.askGroup(ctx, &v.groups[i], picked[i], one) }
		if i+1 < len(v.groups) {
			all.Go(do)
		} else {
			do()
		}
	}
	all.Wait()
	answered := 0
	for i, err := range errs {
		if err != nil {
			parts[i] = index.Missing(v.groups[i].shards...)
			f.Metrics.Add("courant_search_missing_total", 1)
			continue
		}
		answered++
	}
	if answered == 0 {
		return index.Part{}, unanswered(errs)
	}
	if len(v.missing) > 0 {
		parts = append(parts, index.Missing(v.missing...))
	}
	return index.Merge(a.Query.Top, parts...), nil
}

// unanswered is the error of a query without any answer. It is Busy, because all causes
// are temporary.
func unanswered(errs []error) error {
	for _, err := range errs {
		if busy(err) {
			return err
		}
	}
	return courant.Errorf(courant.Busy, "no replica of the index answered in time: %w", errors.Join(errs...))
}

// reply is what a replica answered.
type reply struct {
	name string
	part index.Part
	err  error
}

// askGroup queries a replica, and another one if that fails or takes too long, as far as
// the picker allows.
func (v *view) askGroup(ctx context.Context, g *group, name string, a index.Ask) (index.Part, error) {
	if name == "" {
		return index.Part{}, errNobody
	}
	a.Shards = g.shards
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // stops slower replicas
	replies := make(chan reply, 3)
	asked, waiting := 0, 0
	send := func(name string) {
		if name == "" || asked == cap(replies) {
			return
		}
		asked++
		waiting++
		go func() { replies <- v.askOne(ctx, g, name, &a) }()
	}
	send(name)
	hedge := time.NewTimer(max(g.picker.HedgeAfter(), leastHedge))
	defer hedge.Stop()
	late := time.NewTimer(timeFor(ctx))
	defer late.Stop()
	for {
		select {
		case r := <-replies:
			if r.err == nil {
				return r.part, nil
			}
			waiting--
			send(g.picker.Retry(time.Now(), r.name))
			if waiting == 0 {
				return r.part, r.err
			}
		case <-hedge.C:
			send(g.picker.Hedge(time.Now(), name))
		case <-late.C:
			send(g.picker.Retry(time.Now(), name))
		case <-ctx.Done():
			return index.Part{}, ctx.Err()
		}
	}
}

const (
	leastHedge = time.Millisecond
	usualTime  = time.Second // of a query without a deadline
)

// timeFor is how long a replica may take before another one is asked.
func timeFor(ctx context.Context) time.Duration {
	end, ok := ctx.Deadline()
	if !ok {
		return usualTime
	}
	return time.Duration(patience * float64(time.Until(end)))
}

// askOne queries one replica and reports the result to the picker. A replica that exceeds
// its time counts as failed; one that is abandoned before, because another was faster,
// does not.
func (v *view) askOne(ctx context.Context, g *group, name string, a *index.Ask) reply {
	began, most := time.Now(), timeFor(ctx)
	n := v.nodes[name]
	if n == nil { // removed since the picker was set
		g.picker.Done(began, name, degrade.Result{Failed: true})
		return reply{name: name, err: errNobody}
	}
	p, load, err := n.ask(ctx, a)
	now := time.Now()
	r := degrade.Result{Took: now.Sub(began), Report: load}
	switch {
	case err == nil, busy(err): // the replica works
	case ctx.Err() != nil && r.Took < most:
		r.Dropped = true
	default:
		r.Failed = true
	}
	g.picker.Done(now, name, r)
	return reply{name, p, err}
}

// Suggest completes a text by the words of one replica of each shard. Shards that do not
// answer are left out. It fails with Busy if no shard answers.
func (f *Fleet) Suggest(ctx context.Context, b *index.Begin) ([]shard.Suggestion, error) {
	v := f.view.Load()
	if v == nil || len(v.groups) == 0 {
		return nil, errNobody
	}
	parts, errs := make([][]shard.Suggestion, len(v.groups)), make([]error, len(v.groups))
	var all sync.WaitGroup
	for i := range v.groups {
		all.Go(func() { parts[i], errs[i] = v.suggest(ctx, &v.groups[i], *b) })
	}
	all.Wait()
	if !slices.Contains(errs, nil) {
		return nil, unanswered(errs)
	}
	return index.Together(b.Most, parts...), nil
}

// suggest asks a replica of a group, and another one if that fails.
func (v *view) suggest(ctx context.Context, g *group, b index.Begin) ([]shard.Suggestion, error) {
	b.Shards = g.shards
	name := g.picker.Pick(time.Now())
	all, err := v.suggestOne(ctx, g, name, &b)
	if err == nil || ctx.Err() != nil {
		return all, err
	}
	if other := g.picker.Retry(time.Now(), name); other != "" {
		return v.suggestOne(ctx, g, other, &b)
	}
	return nil, err
}

// suggestOne asks one replica. How long that takes says nothing of queries, so that
// the picker hears of failures alone.
func (v *view) suggestOne(ctx context.Context, g *group, name string, b *index.Begin) (all []shard.Suggestion, err error) {
	err = errNobody
	if n := v.nodes[name]; n != nil {
		all, err = n.suggest(ctx, b)
	}
	failed := err != nil && ctx.Err() == nil
	g.picker.Done(time.Now(), name, degrade.Result{Failed: failed, Dropped: !failed})
	return all, err
}

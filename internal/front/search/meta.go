package search

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/admission"
	"github.com/courant-platform/courant/internal/search/degrade"
	"github.com/courant-platform/courant/internal/search/index"
	"github.com/courant-platform/courant/internal/search/shard"
	"github.com/courant-platform/courant/internal/search/words"
)

// Backend answers for all shards: the index of this process, or a fleet of replicas.
type Backend interface {
	Ask(ctx context.Context, a *index.Ask) (index.Part, error)
	Suggest(ctx context.Context, b *index.Begin) ([]shard.Suggestion, error)
	Share() float64 // that a query would rank now
	Docs() int      // number of documents in the index
	Building() bool // the index has not caught up with the change feed yet
}

// Result is what all shards found.
type Result struct {
	index.Part
	Took time.Duration

	Building bool          // the index was incomplete
	Age      time.Duration // of a remembered answer
}

// fewFound is the number of results below which words with typos are looked for too.
const fewFound = 8

// Find queries all shards. A flag may lower the share of the query.
func (s *Search) Find(ctx context.Context, q *request) (Result, error) {
	began := time.Now()
	if s.Config.Deadline > 0 {
		limited, cancel := context.WithTimeout(ctx, time.Duration(s.Config.Deadline))
		defer cancel()
		ctx = limited
	}
	q.Share = s.flags.Float(flagShare, q.Share, q.Share < 1, 1)
	share := s.Backend.Share()
	if r, ok := s.old(q, share); ok {
		s.Metrics.Add("courant_search_queries_total", 1, "reason", "stale")
		return r, nil
	}
	a := index.Ask{Query: q.Query, Program: q.Program, Client: string(admission.TurnOf(ctx).Client())}
	finish := cmp.Or(q.reranker, s.reranker).widen(&a.Query)
	found, err := s.Backend.Ask(ctx, &a)
	if err != nil {
		s.Metrics.Add("courant_search_queries_total", 1, "reason", "refused")
		return Result{}, err
	}
	if len(q.Words) > 0 && !q.Exact && found.Total+found.Relaxed < fewFound && s.flags.Bool(flagFuzzy, false, false, true) {
		a.Query.Near = true
		if near, err := s.Backend.Ask(ctx, &a); err == nil { // otherwise the first answer stands
			near.CPU += found.CPU
			found = near
		}
	}
	found.Hits = finish(found.Hits)
	r := Result{Part: found, Took: time.Since(began), Building: s.Backend.Building()}
	s.Metrics.Add("courant_search_queries_total", 1, "reason", string(reasonOf(&r.Part)))
	s.Metrics.Observe("courant_search_seconds", r.Took)
	if share < staleFrom && q.Share == 1 {
		s.stale.put(keyOf(q), &r, time.Now())
	}
	return r, nil
}

// reasonOf is why not everything was ranked.
func reasonOf(p *index.Part) degrade.Reason {
	for _, r := range p.Shards {
		if r.Reason != degrade.None {
			return r.Reason
		}
	}
	return degrade.None
}

// The names of the flags.
const (
	flagShare = "search.share" // largest share to rank
	flagFuzzy = "search.fuzzy" // look for words with typos
)

// wordsOf are the words of a text without stop words and repetitions.
func (s *Search) wordsOf(text string) (all []shard.Word) {
	for _, w := range words.All(text) {
		if !s.synonyms.Stops(w) && !slices.ContainsFunc(all, func(o shard.Word) bool { return o.Text == w }) {
			all = append(all, shard.Word{Text: w, Synonyms: s.synonyms.Of(w)})
		}
	}
	return all
}

func openSynonyms(path string) (words.Synonyms, error) {
	if path == "" {
		return words.Default(), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return words.Synonyms{}, courant.Errorf(courant.Invalid, "search.synonyms: %w", err)
	}
	defer f.Close()
	all, err := words.ReadSynonyms(f)
	if err != nil {
		return all, fmt.Errorf("search.synonyms: %s: %w", path, err)
	}
	return all, nil
}

package search

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/search/shard"
	"github.com/courant-platform/courant/internal/front/search/words"
	"github.com/courant-platform/courant/internal/kit/degrade"
	"github.com/courant-platform/courant/internal/kit/gbdt"
)

// Result is what all shards found.
type Result struct {
	Total, Relaxed int
	Hits           []shard.Hit
	Facets         shard.Facets
	Conflicts      []shard.Conflict
	Shards         []Report
	Share          float64
	Took           time.Duration
	CPU            time.Duration // of all shards
}

// Report is what one shard says of its part.
type Report struct {
	Shard      int     `json:"shard"`
	Matched    int     `json:"matched"`
	Considered int     `json:"considered"`
	Scored     int     `json:"scored"`
	ShareAsked float64 `json:"share_asked"`
	ShareUsed  float64 `json:"share_used"`
	Reason     string  `json:"reason"` // none, load, queue, deadline, missing
}

// fewFound is how many results make a look for words with slips unnecessary.
const fewFound = 8

// Find asks all shards.
func (s *Search) Find(ctx context.Context, q *shard.Query) (Result, error) {
	began := time.Now()
	t, err := s.admit(ctx, q)
	if err != nil {
		return Result{}, err
	}
	together := s.load.gate.Report().InFlight > 1 // then other queries use the other cores
	r := s.ask(q, !together)
	if len(q.Words) > 0 && !q.Exact && r.Total+r.Relaxed < fewFound && s.flags.Bool(flagNear, false, false, true) {
		near := *q
		near.Near = true
		cpu := r.CPU
		r = s.ask(&near, !together)
		r.CPU += cpu
	}
	for i := range r.Shards {
		if r.Shards[i].ShareUsed < 1 {
			r.Shards[i].Reason = string(t.Reason)
		}
	}
	r.Took = time.Since(began)
	s.done(&t, q, &r)
	return r, ctx.Err()
}

// ask asks all shards, at once or one after the other, and puts their answers
// together.
func (s *Search) ask(q *shard.Query, atOnce bool) Result {
	answers, took := make([]shard.Answer, len(s.shards)), make([]time.Duration, len(s.shards))
	one := func(i int) {
		began := time.Now()
		answers[i] = s.shards[i].Ask(q)
		took[i] = time.Since(began)
	}
	var all sync.WaitGroup
	for i := range s.shards {
		if atOnce && i > 0 {
			all.Go(func() { one(i) })
		}
	}
	for i := range s.shards {
		if !atOnce || i == 0 {
			one(i)
		}
	}
	all.Wait()
	r := merge(q, answers)
	for _, t := range took {
		r.CPU += t
	}
	return r
}

// merge puts the answers of shards together. Scores are of one model, so that the
// best of all are the best of each.
func merge(q *shard.Query, answers []shard.Answer) (r Result) {
	weight := 0.0
	for i := range answers {
		a := &answers[i]
		r.Total += a.Matched
		r.Share += a.ShareUsed * float64(a.Matched+a.Relaxed)
		weight += float64(a.Matched + a.Relaxed)
	}
	if r.Share /= weight; weight == 0 {
		r.Share = 1
	}
	for i := range answers {
		a := &answers[i]
		r.Relaxed += a.Relaxed
		r.Hits = append(r.Hits, a.Hits...)
		if a.Matched > 0 || r.Total == 0 {
			r.Facets.Add(a.Facets)
		}
		r.Shards = append(r.Shards, Report{Shard: i, Matched: a.Matched, Considered: a.Considered, Scored: a.Scored,
			ShareAsked: q.Share, ShareUsed: a.ShareUsed, Reason: string(degrade.None)})
		for _, c := range a.Conflicts {
			if !slices.Contains(r.Conflicts, c) {
				r.Conflicts = append(r.Conflicts, c)
			}
		}
	}
	slices.SortFunc(r.Hits, func(a, b shard.Hit) int {
		switch {
		case a.Relaxed != b.Relaxed && b.Relaxed:
			return -1
		case a.Relaxed != b.Relaxed:
			return 1
		}
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	r.Hits = r.Hits[:min(len(r.Hits), q.Top)]
	return r
}

// wordsOf are the words of a text that ask for something.
func (s *Search) wordsOf(text string) (all []shard.Word) {
	for _, w := range words.All(text) {
		if !s.synonyms.Stops(w) && !slices.ContainsFunc(all, func(o shard.Word) bool { return o.Text == w }) {
			all = append(all, shard.Word{Text: w, Synonyms: s.synonyms.Of(w)})
		}
	}
	return all
}

//go:embed model.json.gz
var builtInModel []byte

// builtIn is the model that ships; docs/search.md says what it was trained with.
func builtIn() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(builtInModel))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// openModel reads the ranking model of the configuration.
func openModel(c Config) (*shard.Model, error) {
	text, err := builtIn()
	switch c.Model {
	case "none":
		return nil, nil
	case "":
	default:
		text, err = os.ReadFile(c.Model)
	}
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "search.model: %w", err)
	}
	m, err := gbdt.Read(text)
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "search.model: %s: %w", c.Model, err)
	}
	model, err := shard.NewModel(cmp.Or(c.Model, "built-in"), m, c.Signals)
	if err != nil {
		return nil, fmt.Errorf("search.model: %w", err)
	}
	return model, nil
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

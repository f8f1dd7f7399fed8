package search

import (
	"cmp"
	"os"
	"slices"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/gbdt"
	"github.com/courant-platform/courant/internal/search/shard"
)

// reranker is a model that reranks the best hits of all shards. It has the same features
// as the shards' model, and may be larger or newer.
type reranker struct {
	model  *gbdt.Model
	places []place
}

// place maps a feature to its input of a model.
type place struct{ feature, flat int }

// rerankTop is how many hits are reranked: eight pages of 48. Pages beyond them keep the
// first order, so that no hit is on two pages.
const rerankTop = 8 * usualTop

// openReranker reads a model; nil for no path.
func openReranker(path string, signals []string) (*reranker, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "%w", err)
	}
	m, err := gbdt.Read(text)
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "%s: %w", path, err)
	}
	all, err := gbdt.Compile(m, func(gbdt.Feature) bool { return true })
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "%s: %w", path, err)
	}
	s, names := &reranker{model: m}, shard.FeatureNames(signals)
	for _, f := range all.Computed() {
		at := slices.Index(names, f.Name)
		if at < 0 {
			return nil, courant.Errorf(courant.Invalid, "%s: feature %q does not exist", path, f.Name)
		}
		s.places = append(s.places, place{at, f.Flat})
	}
	return s, nil
}

// rank reranks hits. Relaxed ones, found by stemming or typos, stay behind the others.
func (s *reranker) rank(hits []shard.Hit) {
	values := make([]float32, s.model.Width())
	for i := range hits {
		h := &hits[i]
		for _, p := range s.places {
			values[p.flat] = h.Features[p.feature]
		}
		h.Score = s.model.Predict(values)
	}
	slices.SortStableFunc(hits, func(a, b shard.Hit) int {
		if a.Relaxed != b.Relaxed {
			if b.Relaxed {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.Score, a.Score)
	})
}

// widen changes a query so that its hits have what the reranker needs. finish reranks
// the hits and restores what the query asked for.
func (s *reranker) widen(q *shard.Query) (finish func(hits []shard.Hit) []shard.Hit) {
	if s == nil || q.Sort != shard.Relevance {
		return func(hits []shard.Hit) []shard.Hit { return hits }
	}
	top, explain := q.Top, q.Explain
	q.Top, q.Explain = max(top, rerankTop), true
	return func(hits []shard.Hit) []shard.Hit {
		s.rank(hits[:min(len(hits), rerankTop)])
		if !explain {
			for i := range hits {
				hits[i].Features = nil
			}
		}
		return hits[:min(len(hits), top)]
	}
}

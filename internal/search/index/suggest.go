package index

import (
	"context"
	"slices"
	"sync"

	"github.com/courant-platform/courant/internal/search/shard"
)

// Begin is a text whose last word is incomplete.
type Begin struct {
	Before []shard.Word // the words before it
	Word   string
	Most   int   // number of suggestions
	Shards []int // to query; all that are held if empty
}

// Suggest completes a text with the words that most documents have.
func (x *Index) Suggest(_ context.Context, b *Begin) ([]shard.Suggestion, error) {
	shards := b.Shards
	if len(shards) == 0 {
		shards = x.held
	}
	parts := make([][]shard.Suggestion, len(shards))
	var all sync.WaitGroup
	for i, n := range shards {
		if sh := x.shard(n); sh != nil {
			all.Go(func() { parts[i] = sh.Suggest(b.Before, b.Word, suggestEach*b.Most) })
		}
	}
	all.Wait()
	return Together(b.Most, parts...), nil
}

// suggestEach times as many suggestions as are wanted are taken from each shard, so that
// words that are frequent only in total are not missed.
const suggestEach = 2

// Together adds up the suggestions of shards.
func Together(most int, parts ...[]shard.Suggestion) (all []shard.Suggestion) {
	counts := map[string]int{}
	for _, p := range parts {
		for _, s := range p {
			counts[s.Word] += s.Count
		}
	}
	for word, n := range counts {
		all = append(all, shard.Suggestion{Word: word, Count: n})
	}
	slices.SortFunc(all, shard.BySuggestion)
	return all[:min(len(all), most)]
}

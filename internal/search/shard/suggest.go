package shard

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// Suggestion is a word that completes a prefix.
type Suggestion struct {
	Word  string
	Count int // documents that have it and all words before it
}

const (
	suggestLook = 20_000 // most words that are looked at for one prefix
	suggestTry  = 48     // of them, with most documents, that are counted
)

// Suggest completes a prefix to words of the documents that have all words before it, the
// most frequent ones first.
func (s *Shard) Suggest(before []Word, begin string, most int) []Suggestion {
	space := pooled[space](&s.spaces)
	s.mu.RLock()
	defer func() {
		s.mu.RUnlock()
		s.spaces.Put(space)
	}()
	x := s.x
	within := x.alive
	if len(before) > 0 {
		within, _ = x.match(&Query{Words: before, Exact: true}, space)
	}
	var all []Suggestion
	var docs []uint32
	for _, id := range x.words.frequent(begin) {
		count := 0
		docs = x.words.docs(id, docs[:0])
		for _, d := range docs {
			if within.has(d) {
				count++
			}
		}
		if count > 0 {
			all = append(all, Suggestion{x.words.name(id), count})
		}
	}
	slices.SortFunc(all, BySuggestion)
	return all[:min(len(all), most)]
}

// BySuggestion orders suggestions: the most frequent ones first.
func BySuggestion(a, b Suggestion) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Word, b.Word))
}

// frequent are the words with a prefix that most documents have.
func (v *vocabulary) frequent(begin string) (ids []uint32) {
	from := sort.Search(len(v.order), func(i int) bool { return v.name(v.order[i]) >= begin })
	for i := from; i < min(from+suggestLook, len(v.order)) && strings.HasPrefix(v.name(v.order[i]), begin); i++ {
		ids = append(ids, v.order[i])
	}
	slices.SortFunc(ids, func(a, b uint32) int { return v.count(b) - v.count(a) })
	return ids[:min(len(ids), suggestTry)]
}

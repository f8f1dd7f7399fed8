package search

import (
	"context"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/search/index"
	"github.com/courant-platform/courant/internal/search/words"
)

// Suggestion is a completion of what was typed.
type Suggestion struct {
	Text  string `json:"text"`
	Count int    `json:"count"` // documents with its words
}

// Suggestions is the answer of GET /api/v1/suggest.
type Suggestions struct {
	Suggestions []Suggestion `json:"suggestions"`
}

const (
	usualSuggestions = 8
	mostSuggestions  = 20
)

// suggest completes the last word of a text.
func (s *Search) suggest(w http.ResponseWriter, r *http.Request) {
	given, err := asked(r)
	p := parameters{v: given, err: err}
	text, k := p.v.Get("text"), p.number("k", usualSuggestions, 1, mostSuggestions)
	if p.err == nil {
		p.err = checkText(text)
	}
	found := []Suggestion{}
	if err = p.err; err == nil {
		found, err = s.complete(r.Context(), text, k)
	}
	if err != nil {
		web.Fail(w, r, s.Log, err)
		return
	}
	web.JSON(w, http.StatusOK, Suggestions{found})
}

// complete completes the last word of a text to words that documents have together with
// the words before it.
func (s *Search) complete(ctx context.Context, text string, k int) ([]Suggestion, error) {
	all := []Suggestion{}
	begin, from := "", 0
	words.EachAt(text, func(word []byte, at, _ int) bool {
		begin, from = string(word), at
		return true
	})
	last, _ := utf8.DecodeLastRuneInString(text)
	if begin == "" || !words.Part(last) {
		return all, nil // there is no incomplete word
	}
	before := s.wordsOf(text[:from])
	if len(before) > mostWords {
		return all, nil
	}
	found, err := s.Backend.Suggest(ctx, &index.Begin{Before: before, Word: begin, Most: k})
	if err != nil {
		return nil, courant.Errorf(courant.Busy, "suggestions: %w", err)
	}
	kept := strings.TrimLeft(text[:from], " ")
	for _, f := range found {
		all = append(all, Suggestion{kept + f.Word, f.Count})
	}
	return all, nil
}

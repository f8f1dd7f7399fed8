package search

import (
	"strings"
	"unicode/utf8"

	"github.com/courant-platform/courant/internal/search/words"
)

// Piece is a part of a text: words of the query, or what is between them.
type Piece struct {
	Text  string
	Found bool
}

// span is the byte range of a word in a text.
type span struct{ from, to int }

// spans are the ranges of the words that a query asks for. Overlapping ones are joined.
func spans(text string, asks func(word string) bool) (all []span) {
	words.EachAt(text, func(w []byte, from, to int) bool {
		if asks(string(w)) {
			if n := len(all); n > 0 && all[n-1].to >= from {
				all[n-1].to = max(all[n-1].to, to)
			} else {
				all = append(all, span{from, to})
			}
		}
		return true
	})
	return all
}

// pieces splits a text into the words that were found and what is between them.
func pieces(text string, found []span) (all []Piece) {
	at := 0
	for _, s := range found {
		if s.from > at {
			all = append(all, Piece{Text: text[at:s.from]})
		}
		all = append(all, Piece{Text: text[s.from:s.to], Found: true})
		at = s.to
	}
	if at < len(text) {
		all = append(all, Piece{Text: text[at:]})
	}
	return all
}

const (
	snippetSize = 220      // bytes
	snippetFrom = 64 << 10 // of a text are looked at
)

// snippet is the excerpt of a text with the most words of the query.
func snippet(text string, asks func(word string) bool) []Piece {
	if len(text) > snippetFrom {
		text = whole(text[:snippetFrom])
	}
	found := spans(text, asks)
	begin, most := 0, 0
	for i, j := 0, 0; i < len(found); i++ {
		for j < len(found) && found[j].to-found[i].from < snippetSize {
			j++
		}
		if j-i > most {
			most, begin = j-i, found[i].from
		}
	}
	begin = max(0, begin-snippetSize/4)
	begin += strings.IndexByte(text[begin:]+" ", ' ') * min(begin, 1) // to the end of a word, unless it is the beginning of the text
	begin = min(begin, len(text))
	for begin < len(text) && !utf8.RuneStart(text[begin]) {
		begin++
	}
	end := min(begin+snippetSize, len(text))
	if end < len(text) {
		if blank := strings.LastIndexByte(text[begin:end], ' '); blank > 0 {
			end = begin + blank
		}
	}
	part := strings.Join(strings.Fields(whole(text[begin:end])), " ")
	if part == "" {
		return nil
	}
	if end < len(text) {
		part += " …"
	}
	if begin > 0 {
		part = "… " + part
	}
	return pieces(part, spans(part, asks))
}

// whole drops a letter that was cut.
func whole(text string) string { return strings.ToValidUTF8(text, "") }

package words

import (
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
)

// Stems calls f with the keys of a word's stems: words that share a key are inflections
// of one word. The language of a query is not known, so that a Latin word has a stem in
// each of English, German and Spanish, mostly the same one.
func Stems(word string, f func(key string)) {
	switch script(word) {
	case cyrillic:
		f(stem(word, russian.Stem))
	case latin:
		en := stem(word, english.Stem)
		f(en)
		de := stem(word, german.Stem)
		if de != en {
			f(de)
		}
		if es := stem(word, spanish.Stem); es != en && es != de {
			f(es)
		}
	}
}

func stem(word string, f func(*snowballstem.Env) bool) string {
	env := snowballstem.NewEnv(word)
	f(env)
	return env.Current()
}

const (
	other = iota
	latin
	cyrillic
)

// script is the script of a word's letters; other for a word with digits, which has no
// stem.
func script(word string) int {
	kind := other
	for _, r := range word {
		k := other
		switch {
		case 'a' <= r && r <= 'z', 'À' <= r && r <= 'ɏ':
			k = latin
		case 'Ѐ' <= r && r <= 'ӿ':
			k = cyrillic
		}
		if k == other || kind != other && k != kind {
			return other
		}
		kind = k
	}
	return kind
}

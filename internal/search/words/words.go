// Package words splits texts into the words by which they are found: runs of letters and
// digits in lower case, ё as е, and pairs of characters in scripts without spaces. It
// also does stemming, stop words and synonyms.
package words

import (
	"unicode"
	"unicode/utf8"
)

// longest is where longer words are cut, in bytes.
const longest = 64

// Each calls f with every word of a text, in order, until f returns false. f must not
// keep the bytes.
func Each(text string, f func(word []byte) bool) {
	EachAt(text, func(word []byte, _, _ int) bool { return f(word) })
}

// EachAt is Each with the offsets in bytes at which the word begins and ends. Pairs of
// characters overlap.
func EachAt(text string, f func(word []byte, from, to int) bool) {
	c := cutter{f: f}
	c.word = c.room[:0]
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		if !c.take(fold(r), i, i+size) {
			return
		}
		i += size
	}
	c.take(0, len(text), len(text))
}

// cutter is the state of Each: the current word, or the previous character in a script
// without spaces.
type cutter struct {
	f      func(word []byte, from, to int) bool
	room   [longest + utf8.UTFMax]byte
	word   []byte
	from   int
	end    int
	before rune // 0 for none
	first  int  // where it begins
	paired bool // it was the second of a pair
}

// take takes the next character, folded.
func (c *cutter) take(r rune, from, to int) bool {
	dense := r != 0 && isDense(r)
	if c.before != 0 && !dense && !c.alone() {
		return false
	}
	if len(c.word) > 0 && (r == 0 || dense) && !c.flush() {
		return false
	}
	switch {
	case r == 0:
	case dense:
		return c.pair(r, from, to)
	default:
		if len(c.word) == 0 {
			c.from = from
		}
		if c.end = to; len(c.word) < longest {
			c.word = utf8.AppendRune(c.word, r)
		}
	}
	return true
}

// flush ends a word.
func (c *cutter) flush() bool {
	ok := c.f(c.word, c.from, c.end)
	c.word = c.room[:0]
	return ok
}

// pair takes a character of a script without spaces.
func (c *cutter) pair(r rune, from, to int) bool {
	ok := true
	if c.before != 0 {
		ok = c.f(utf8.AppendRune(utf8.AppendRune(c.room[:0], c.before), r), c.first, to)
	}
	c.paired = c.before != 0
	c.before, c.first, c.end = r, from, to
	return ok
}

// alone ends a run of such characters: a single one is a word.
func (c *cutter) alone() bool {
	r := c.before
	c.before = 0
	return c.paired || c.f(utf8.AppendRune(c.room[:0], r), c.first, c.end)
}

// fold is a letter or digit in lower case, or 0 for a separator.
func fold(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return 0
	case r == 'ё', r == 'Ё':
		return 'е'
	case 'а' <= r && r <= 'я':
		return r
	case 'А' <= r && r <= 'Я':
		return r + 'а' - 'А'
	case unicode.IsLetter(r), unicode.IsDigit(r):
		return unicode.ToLower(r)
	case unicode.IsMark(r):
		return r // belongs to the letter before it
	}
	return 0
}

// Part reports whether a character is part of words.
func Part(r rune) bool { return fold(r) != 0 }

// isDense reports whether the script is written without spaces.
func isDense(r rune) bool {
	return r >= 0x0e00 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// All is the words of a text.
func All(text string) (all []string) {
	Each(text, func(w []byte) bool {
		all = append(all, string(w))
		return true
	})
	return all
}

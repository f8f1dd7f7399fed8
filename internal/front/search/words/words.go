// Package words cuts texts into the words by which they are found: runs of letters
// and digits in lower case, ё as е, and pairs of characters in scripts that are
// written without blanks. It knows the stems of words, stop words and synonyms.
package words

import (
	"unicode"
	"unicode/utf8"
)

// longest is how many bytes of a word count.
const longest = 64

// Each calls f with every word of a text, in its order, until f says false. The
// bytes are f's only while it runs.
func Each(text string, f func(word []byte) bool) {
	var room [longest + utf8.UTFMax]byte
	word := room[:0]
	var before rune // the character before, in a script without blanks
	end := func() bool {
		if len(word) == 0 {
			return true
		}
		ok := f(word)
		word = room[:0]
		return ok
	}
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		i += size
		r = fold(r)
		switch {
		case r == 0:
			if !endPair(&before, f, &room) || !end() {
				return
			}
		case isDense(r):
			if !end() || !pair(&before, r, f, &room) {
				return
			}
		default:
			if !endPair(&before, f, &room) {
				return
			}
			if len(word) < longest {
				word = utf8.AppendRune(word, r)
			}
		}
	}
	if endPair(&before, f, &room) {
		end()
	}
}

// dense is a character of a script without blanks, and whether it was the second
// of a pair.
const paired = 1 << 30

func pair(before *rune, r rune, f func([]byte) bool, room *[longest + utf8.UTFMax]byte) bool {
	was := *before
	*before = r | paired
	if was == 0 {
		*before = r
		return true
	}
	return f(utf8.AppendRune(utf8.AppendRune(room[:0], was&^paired), r))
}

// endPair gives a character that stands alone.
func endPair(before *rune, f func([]byte) bool, room *[longest + utf8.UTFMax]byte) bool {
	was := *before
	*before = 0
	if was == 0 || was&paired != 0 {
		return true
	}
	return f(utf8.AppendRune(room[:0], was))
}

// fold is a letter or digit in lower case, or 0 for what parts words.
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
		return r // a part of the letter before it
	}
	return 0
}

// isDense says whether the script is written without blanks.
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

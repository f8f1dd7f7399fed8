package pages

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"unicode"

	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/port/store"
)

// A likeness is a sketch of a text for the share of runs of three words that it
// has in common with another (MinHash, Broder 1997): sixteen times the smallest
// hash of all runs, cut to 16 bits. Two texts that have a share s in common agree
// in s of the sixteen, on average. They are looked up by the first eight, in four
// parts of two.
const (
	fewestWords = 40 // of a text that can be told
	hashes      = 16
	fewestAlike = 12 // of the sixteen
	parts       = 4
	candidates  = 50 // of a part that are looked at
)

// sketch is the likeness of a text, and where to look for others like it.
type sketch struct {
	likeness []byte // two bytes for each hash; nil if the text is too short to tell
	parts    [parts]int64
}

// sketchOf is that of a text in HTML.
func sketchOf(html string) (s sketch) {
	var least [hashes]uint64
	for i := range least {
		least[i] = math.MaxUint64
	}
	var last [3]uint64 // hashes of the last words
	n := 0
	words(markup.Text(html), func(word uint64) {
		last[0], last[1], last[2] = last[1], last[2], word
		if n++; n < 3 {
			return
		}
		run := last[0] ^ bits.RotateLeft64(last[1], 21) ^ bits.RotateLeft64(last[2], 42)
		for i := range least {
			least[i] = min(least[i], mix(run+uint64(i)*0x9e3779b97f4a7c15))
		}
	})
	if n < fewestWords {
		return sketch{}
	}
	for i := range least {
		s.likeness = binary.BigEndian.AppendUint16(s.likeness, uint16(least[i]))
	}
	for i := range s.parts {
		s.parts[i] = int64(mix(least[2*i]^bits.RotateLeft64(least[2*i+1], 32)) >> 1)
	}
	return s
}

// alike says whether two likenesses are of nearly the same text.
func alike(a, b []byte) bool {
	if len(a) != 2*hashes || len(b) != 2*hashes {
		return false
	}
	n := 0
	for i := 0; i < len(a); i += 2 {
		if a[i] == b[i] && a[i+1] == b[i+1] {
			n++
		}
	}
	return n >= fewestAlike
}

// words calls f with the FNV-1a hash of each word in lower case; a character of a
// script without blanks is a word.
func words(text string, f func(uint64)) {
	const offset, prime = 14695981039346656037, 1099511628211
	h, inside := uint64(offset), false
	end := func() {
		if inside {
			f(mix(h))
			h, inside = offset, false
		}
	}
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			end()
			f(mix(uint64(r)))
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			h = (h ^ uint64(unicode.ToLower(r))) * prime
			inside = true
		default:
			end()
		}
	}
	end()
}

// mix spreads the bits of a hash (the finalizer of MurmurHash3).
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// relate links a page whose text has changed to the first one with nearly the same
// text.
func relate(tx *store.Tx, id int64, was []byte, now sketch) error {
	if bytes.Equal(was, now.likeness) {
		return nil
	}
	if len(was) > 0 {
		if err := unrelate(tx, id); err != nil {
			return err
		}
	}
	twin := int64(0)
	if now.likeness != nil {
		var err error
		if twin, err = findTwin(tx, id, now); err != nil {
			return err
		}
		for i, bits := range now.parts {
			if _, err := tx.Exec(putLikeness, i, bits, id); err != nil {
				return err
			}
		}
	}
	_, err := tx.Exec(likePage, id, append([]byte{}, now.likeness...), twin)
	return err
}

// unrelate forgets a page's old text; of those that were linked to it the first
// takes its place.
func unrelate(tx *store.Tx, id int64) error {
	if _, err := tx.Exec(dropLikeness, id); err != nil {
		return err
	}
	var next int64
	if err := tx.Row(firstTwin, id).Scan(&next); err != nil || next == 0 {
		return err
	}
	_, err := tx.Exec(moveTwins, id, next)
	return err
}

// findTwin is the first page with nearly the same text, 0 if there is none.
func findTwin(tx *store.Tx, id int64, now sketch) (twin int64, err error) {
	for i, bits := range now.parts {
		err := tx.Rows(func(rows store.Rows) error {
			var root int64
			var theirs []byte
			if err := rows.Scan(&root, &theirs); err != nil {
				return err
			}
			if root != id && (twin == 0 || root < twin) && alike(now.likeness, theirs) {
				twin = root
			}
			return nil
		}, likePages, i, bits, id, candidates)
		if err != nil {
			return 0, err
		}
	}
	return twin, nil
}

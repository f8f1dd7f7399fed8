package pages

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"unicode"

	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/port/store"
)

// Near-duplicates are found by MinHash (Broder 1997) over runs of three words: the
// smallest value of each of sixteen hash functions over all runs, cut to 16 bits. For
// two texts with Jaccard similarity s, on average 16·s of the values agree. Candidates
// are looked up by the first fifteen values, in five bands of three: of near-duplicates,
// at most four values differ, so that one of the bands agrees.
const (
	fewestWords = 40 // shortest text that is compared
	hashes      = 16
	fewestAlike = 12  // equal values of near-duplicates
	bands       = 5   // numbered from 4 in the store: earlier versions had four others
	inBand      = 3   // values
	candidates  = 100 // most pages that are compared
)

// sketch is the MinHash of a text, and its bands.
type sketch struct {
	minhash []byte // two bytes per hash function; nil if the text is too short
	bands   [bands]int64
}

// sketchOf computes the sketch of a text in HTML.
func sketchOf(html string) (s sketch) {
	var least [hashes]uint64
	for i := range least {
		least[i] = math.MaxUint64
	}
	var last [3]uint64 // hashes of the last three words
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
		s.minhash = binary.BigEndian.AppendUint16(s.minhash, uint16(least[i]))
	}
	for i := range s.bands {
		s.bands[i] = int64(mix(least[inBand*i]^bits.RotateLeft64(least[inBand*i+1], 21)^bits.RotateLeft64(least[inBand*i+2], 42)) >> 1)
	}
	return s
}

// nearDuplicates reports whether two MinHashes are of near-duplicates.
func nearDuplicates(a, b []byte) bool {
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

// relate links pages whose texts have changed to the oldest pages of which they are
// near-duplicates: among those in the store, and those before them in the set.
func relate(tx *store.Tx, set []*change) error {
	var fresh []*change
	for _, c := range set {
		if c.related = !bytes.Equal(c.was.minhash, c.doc.sketch.minhash); !c.related {
			continue
		}
		if len(c.was.minhash) > 0 {
			if err := unrelate(tx, c.now.id); err != nil {
				return err
			}
		}
		if c.doc.sketch.minhash != nil {
			fresh = append(fresh, c)
		}
	}
	if err := findDuplicates(tx, fresh); err != nil {
		return err
	}
	args := make([][]any, len(fresh))
	for i, c := range fresh {
		b := c.doc.sketch.bands
		args[i] = []any{b[0], b[1], b[2], b[3], b[4], c.now.id}
	}
	return tx.Insert(nil, putBands, args)
}

// unrelate removes a page's old text from the index. The first of the pages that were
// linked to it takes its place.
func unrelate(tx *store.Tx, id int64) error {
	if _, err := tx.Exec(dropBands, id); err != nil {
		return err
	}
	var next int64
	if err := tx.Row(firstDuplicate, id).Scan(&next); err != nil || next == 0 {
		return err
	}
	_, err := tx.Exec(moveDuplicates, id, next)
	return err
}

// findDuplicates sets the first near-duplicate of each page.
func findDuplicates(tx *store.Tx, fresh []*change) error {
	args := make([][]any, len(fresh))
	for i, c := range fresh {
		b := c.doc.sketch.bands
		args[i] = []any{b[0], b[1], b[2], b[3], b[4], c.now.id, candidates}
	}
	err := tx.RowsAll(func(i int, rows store.Rows) error {
		var root int64
		var theirs []byte
		if err := rows.Scan(&root, &theirs); err != nil {
			return err
		}
		fresh[i].likens(root, theirs)
		return nil
	}, bandPages, args)
	if err != nil {
		return err
	}
	type band struct {
		n    int
		bits int64
	}
	before := map[band][]*change{}
	for _, c := range fresh {
		for n, bits := range c.doc.sketch.bands {
			key := band{n, bits}
			for _, other := range before[key] {
				c.likens(cmp.Or(other.duplicate, other.now.id), other.doc.sketch.minhash)
			}
			if len(before[key]) < candidates {
				before[key] = append(before[key], c)
			}
		}
	}
	return nil
}

// likens links the page to root if the page with this MinHash has nearly the same text and
// root is the oldest so far: that page, or the one of which it is a duplicate.
func (c *change) likens(root int64, minhash []byte) {
	if root != c.now.id && (c.duplicate == 0 || root < c.duplicate) && nearDuplicates(c.doc.sketch.minhash, minhash) {
		c.duplicate = root
	}
}

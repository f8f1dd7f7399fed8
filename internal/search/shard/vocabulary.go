package shard

import (
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/courant-platform/courant/internal/search/words"
)

// vocabulary is the words of the documents, with indexes for stemming and typos.
type vocabulary struct {
	postings
	stems map[uint64]uint32 // the newest form of each stem, by the hash of its key, from 1
	forms []form
	order []uint32 // words of the sorted part, by their text
	same  []uint8  // length of the prefix that each of them shares with the one before
	known *nears   // cache of near
}

// stemSeed is of this process: stems are not in snapshots.
var stemSeed = maphash.MakeSeed()

// form is a word with a stem, and the form of that stem before it, from 1; 0 for none.
type form struct{ word, before uint32 }

// add adds a word of the newest document.
func (v *vocabulary) add(word []byte, doc uint32) {
	known := v.len()
	id := v.idOf(word)
	if int(id) >= known {
		v.stem(id)
	}
	v.postings.add(id, doc)
}

// stem adds the stems of a new word.
func (v *vocabulary) stem(id uint32) {
	words.Stems(v.name(id), func(key string) {
		if v.stems == nil {
			v.stems = map[uint64]uint32{}
		}
		stem := maphash.String(stemSeed, key)
		v.forms = append(v.forms, form{id, v.stems[stem]})
		v.stems[stem] = uint32(len(v.forms))
	})
}

// alike are the words that share a stem with a word.
func (v *vocabulary) alike(word string) (ids []uint32) {
	words.Stems(word, func(key string) {
		for at := v.stems[maphash.String(stemSeed, key)]; at != 0; at = v.forms[at-1].before {
			ids = append(ids, v.forms[at-1].word)
		}
	})
	return ids
}

// sortWords sorts the words for the lookup of typos and prefixes.
func (v *vocabulary) sortWords() {
	v.order = v.order[:0:0]
	for id := uint32(1); int(id) < v.len(); id++ {
		if v.count(id) > 0 {
			v.order = append(v.order, id)
		}
	}
	slices.SortFunc(v.order, func(a, b uint32) int { return strings.Compare(v.name(a), v.name(b)) })
	v.same, v.known = make([]uint8, len(v.order)), &nears{}
	for i := 1; i < len(v.order); i++ {
		v.same[i] = same(v.name(v.order[i-1]), v.name(v.order[i]))
	}
}

// same is the length in bytes of the common prefix of two words, at most 255.
func same(a, b string) uint8 {
	n := 0
	for n < min(len(a), len(b), math.MaxUint8) && a[n] == b[n] {
		n++
	}
	return uint8(n)
}

// mostTypos is how many typos a word may have, by its length.
func mostTypos(word string) int {
	switch n := utf8.RuneCountInString(word); {
	case n < 4:
		return 0
	case n < 8:
		return 1
	}
	return 2
}

// nears caches the words near a word: users look for the same words again with other
// filters.
type nears struct {
	// mu guards ids.
	mu  sync.Mutex
	ids map[string][]uint32
}

const mostNears = 4096

func (n *nears) of(word string, look func() []uint32) []uint32 {
	n.mu.Lock()
	ids, known := n.ids[word]
	n.mu.Unlock()
	if known {
		return ids
	}
	ids = look()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ids == nil || len(n.ids) >= mostNears {
		n.ids = map[string][]uint32{}
	}
	n.ids[strings.Clone(word)] = ids
	return ids
}

// near are the words within as many typos of a word as its length allows.
func (v *vocabulary) near(word string) []uint32 {
	most := mostTypos(word)
	if most == 0 || v.known == nil {
		return nil
	}
	return v.known.of(word, func() []uint32 { return v.within(word, most) })
}

// within are the words within a number of typos (optimal string alignment): a letter
// inserted, deleted or replaced, or two adjacent ones swapped. It walks the sorted words
// as a trie: words with a common prefix share rows of the table of distances, and words
// whose prefix is too far away are skipped.
func (v *vocabulary) within(word string, most int) (ids []uint32) {
	w := walk{want: []rune(word), most: most}
	for i := 0; i < len(v.order); {
		have := v.name(v.order[i])
		d, dead := w.distance(have)
		if d >= 0 {
			ids = append(ids, v.order[i])
		}
		i++
		for dead > 0 && i < len(v.order) && int(v.same[i]) >= dead {
			i++
		}
	}
	return ids
}

// walk is the table of distances to the word that was looked at last.
type walk struct {
	want []rune
	most int
	have []rune
	rows [][]int // rows[i] for the first i letters of have
}

// distance is that of a word, or -1 if it is more than most. If dead is above 0, all
// words with the same first dead bytes are too far away.
func (w *walk) distance(have string) (d, dead int) {
	if len(w.rows) == 0 {
		first := make([]int, len(w.want)+1)
		for j := range first {
			first[j] = j
		}
		w.rows = [][]int{first}
	}
	at, i := 0, 0
	for _, r := range have {
		at += utf8.RuneLen(r)
		if i >= len(w.have) || w.have[i] != r || i+1 >= len(w.rows) {
			w.have = append(w.have[:i], r)
			w.rows = w.rows[:i+1]
			w.row(i + 1)
		}
		i++
		if slices.Min(w.rows[i]) > w.most && (i < 2 || slices.Min(w.rows[i-1])+1 > w.most) {
			w.have, w.rows = w.have[:i], w.rows[:i+1]
			if at > math.MaxUint8 {
				at = 0 // beyond what v.same counts
			}
			return -1, at
		}
	}
	w.have, w.rows = w.have[:i], w.rows[:i+1]
	if d = w.rows[i][len(w.want)]; d > w.most {
		return -1, 0
	}
	return d, 0
}

// row adds the row of the ith letter.
func (w *walk) row(i int) {
	above := w.rows[i-1]
	if i < cap(w.rows) {
		w.rows = w.rows[:i+1]
	} else {
		w.rows = append(w.rows, nil)
	}
	if w.rows[i] == nil {
		w.rows[i] = make([]int, len(w.want)+1)
	}
	row := w.rows[i]
	row[0] = i
	for j := 1; j <= len(w.want); j++ {
		cost := 1
		if w.want[j-1] == w.have[i-1] {
			cost = 0
		}
		row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
		if i > 1 && j > 1 && w.want[j-1] == w.have[i-2] && w.want[j-2] == w.have[i-1] {
			row[j] = min(row[j], w.rows[i-2][j-2]+1)
		}
	}
}

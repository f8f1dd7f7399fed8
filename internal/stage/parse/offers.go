package parse

// offers holds the last versions of a source's offers. There may be millions, so each
// takes 32 bytes, and some 16 more in the indexes by key and by address.
type offers struct {
	pieces [][]offerState // of pieceSize, so that growing copies none
	n      int32
	keys   index // of all
	urls   index // by address; each address belongs to one offer
}

// offerState is the last version of an offer: parts of digests.
type offerState struct {
	key, hash, url uint64
	before         bool // it was live before this reading
	seen           bool
}

const pieceSize = 1 << 12

func newOffers() *offers {
	return &offers{keys: index{of: func(s *offerState) uint64 { return s.key }}, urls: index{of: func(s *offerState) uint64 { return s.url }}}
}

// add adds a new offer and returns its number.
func (o *offers) add(s offerState) int32 {
	if o.n%pieceSize == 0 {
		o.pieces = append(o.pieces, make([]offerState, pieceSize))
	}
	at := o.n
	o.n++
	*o.at(at) = s
	o.keys.put(o, at)
	return at
}

func (o *offers) at(n int32) *offerState { return &o.pieces[n/pieceSize][n%pieceSize] }

// all iterates over the offers.
func (o *offers) all(yield func(*offerState) bool) {
	for n := range o.n {
		if !yield(o.at(n)) {
			return
		}
	}
}

// index finds offers by one of their digests: a hash table of their numbers with linear
// probing, filled up to two thirds.
type index struct {
	of    func(*offerState) uint64
	slots []int32 // a number plus 1; 0 if empty, -1 if deleted
	used  int     // slots that are not 0
	shift int
}

// find returns the number of the offer with the digest.
func (x *index) find(o *offers, digest uint64) (at int32, ok bool) {
	if len(x.slots) == 0 {
		return 0, false
	}
	slot := x.slot(o, digest)
	return x.slots[slot] - 1, x.slots[slot] > 0
}

// slot is the slot of the offer with the digest, or else a free one.
func (x *index) slot(o *offers, digest uint64) int {
	for i := x.first(digest); ; i = (i + 1) % len(x.slots) {
		if at := x.slots[i]; at == 0 || at > 0 && x.of(o.at(at-1)) == digest {
			return i
		}
	}
}

// first is where the search begins. Fibonacci hashing spreads short keys, which are ids
// and not digests.
func (x *index) first(digest uint64) int { return int(digest * 0x9e3779b97f4a7c15 >> x.shift) }

// put adds an offer, replacing another one with the same digest.
func (x *index) put(o *offers, at int32) {
	if 3*(x.used+1) > 2*len(x.slots) {
		x.grow(o)
	}
	slot := x.slot(o, x.of(o.at(at)))
	if x.slots[slot] == 0 {
		x.used++
	}
	x.slots[slot] = at + 1
}

// drop removes the offer with the digest.
func (x *index) drop(o *offers, digest uint64) {
	if slot := x.slot(o, digest); x.slots[slot] > 0 {
		x.slots[slot] = -1
	}
}

func (x *index) grow(o *offers) {
	old := x.slots
	size := max(2*len(old), 1<<10)
	x.slots, x.used, x.shift = make([]int32, size), 0, 64
	for ; size > 1; size /= 2 {
		x.shift--
	}
	for _, at := range old {
		if at > 0 {
			x.slots[x.slot(o, x.of(o.at(at-1)))] = at
			x.used++
		}
	}
}

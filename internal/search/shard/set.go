package shard

import "math/bits"

// set is a set of documents, one bit each.
type set []uint64

func (s set) has(doc uint32) bool { return s[doc/64]&(1<<(doc%64)) != 0 }
func (s set) add(doc uint32)      { s[doc/64] |= 1 << (doc % 64) }
func (s set) drop(doc uint32)     { s[doc/64] &^= 1 << (doc % 64) }

// grow makes room for n documents.
func (s *set) grow(n int) {
	for len(*s) < (n+63)/64 {
		*s = append(*s, 0)
	}
}

// put adds or drops a document.
func (s set) put(doc uint32, in bool) {
	if in {
		s.add(doc)
	} else {
		s.drop(doc)
	}
}

// and keeps what is in other too.
func (s set) and(other set) {
	for i := range s {
		s[i] &= other[i]
	}
}

// span adds the documents [from, to).
func (s set) span(from, to uint32) {
	for ; from < to && from%64 != 0; from++ {
		s.add(from)
	}
	for ; from+64 <= to; from += 64 {
		s[from/64] = ^uint64(0)
	}
	for ; from < to; from++ {
		s.add(from)
	}
}

// count is the number of documents.
func (s set) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// each calls f with every document, in order.
func (s set) each(f func(doc uint32)) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			f(uint32(i*64 + bits.TrailingZeros64(w)))
		}
	}
}

// keep drops the documents for which f returns false.
func (s set) keep(f func(doc uint32) bool) {
	for i, w := range s {
		for left := w; left != 0; left &= left - 1 {
			bit := left & -left
			if !f(uint32(i*64 + bits.TrailingZeros64(left))) {
				w &^= bit
			}
		}
		s[i] = w
	}
}

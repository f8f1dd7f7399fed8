package shard

import (
	"errors"
	"slices"
)

// postings are the documents of each text. Those of the sorted documents never change:
// each list is the gaps between its ascending numbers, seven bits a byte, the lowest
// first, and a high bit where more follow. A document that came since then is a link in
// the chain of each of its texts.
type postings struct {
	dict
	gaps   []byte
	ends   []uint64 // of the list of each text in gaps
	counts []uint32 // documents of each text
	heads  []uint32 // the newest link of each text, from 1; 0 for none
	chain  []posting
}

// posting is a document of a text, and the link before it, from 1; 0 for none.
type posting struct{ doc, before uint32 }

// add appends the newest document to a text's list.
func (p *postings) add(id, doc uint32) {
	for len(p.heads) <= int(id) {
		p.heads, p.counts = append(p.heads, 0), append(p.counts, 0)
	}
	head := p.heads[id]
	if head != 0 && p.chain[head-1].doc == doc {
		return
	}
	p.chain = append(p.chain, posting{doc, head})
	p.heads[id] = uint32(len(p.chain))
	p.counts[id]++
}

// count is the number of documents of a text.
func (p *postings) count(id uint32) int {
	if int(id) >= len(p.counts) {
		return 0
	}
	return int(p.counts[id])
}

// addTo adds the documents of a text to a set.
func (p *postings) addTo(id uint32, s set) {
	doc, gap, shift := uint32(0), uint32(0), 0
	for _, b := range p.sorted(id) {
		if b >= 0x80 {
			gap, shift = gap|uint32(b&0x7f)<<shift, shift+7
			continue
		}
		doc += gap | uint32(b)<<shift
		s.add(doc)
		gap, shift = 0, 0
	}
	for at := p.head(id); at != 0; at = p.chain[at-1].before {
		s.add(p.chain[at-1].doc)
	}
}

// sorted are the gaps of a text's sorted documents.
func (p *postings) sorted(id uint32) []byte {
	if int(id) >= len(p.ends) {
		return nil
	}
	from := uint64(0)
	if id > 0 {
		from = p.ends[id-1]
	}
	return p.gaps[from:p.ends[id]]
}

func (p *postings) head(id uint32) uint32 {
	if int(id) >= len(p.heads) {
		return 0
	}
	return p.heads[id]
}

// docs appends the documents of a text to a list.
func (p *postings) docs(id uint32, to []uint32) []uint32 {
	doc, gap, shift := uint32(0), uint32(0), 0
	for _, b := range p.sorted(id) {
		gap, shift = gap|uint32(b&0x7f)<<shift, shift+7
		if b < 0x80 {
			doc += gap
			to = append(to, doc)
			gap, shift = 0, 0
		}
	}
	for at := p.head(id); at != 0; at = p.chain[at-1].before {
		to = append(to, p.chain[at-1].doc)
	}
	return to
}

// moved are the postings with other numbers of the documents, none of them in a chain.
// Documents that have no number are dropped.
func (p *postings) moved(number func(doc uint32) (at uint32, ok bool)) postings {
	out := postings{dict: p.dict, ends: make([]uint64, p.len()), counts: make([]uint32, p.len()), heads: make([]uint32, p.len()),
		gaps: make([]byte, 0, len(p.gaps)+2*len(p.chain))}
	var docs []uint32
	for id := range out.ends {
		docs = p.docs(uint32(id), docs[:0])
		n := 0
		for _, doc := range docs {
			if at, ok := number(doc); ok {
				docs[n] = at
				n++
			}
		}
		slices.Sort(docs[:n])
		last := uint32(0)
		for _, doc := range docs[:n] {
			gap := doc - last
			for ; gap >= 0x80; gap >>= 7 {
				out.gaps = append(out.gaps, byte(gap)|0x80)
			}
			out.gaps = append(out.gaps, byte(gap))
			last = doc
		}
		out.ends[id], out.counts[id] = uint64(len(out.gaps)), uint32(n)
	}
	return out
}

// check refuses postings that are inconsistent or have documents from most on.
func (p *postings) check(most int) error {
	if len(p.ends) > p.len() || len(p.heads) > p.len() || len(p.counts) != len(p.heads) || len(p.ends) > len(p.counts) {
		return errors.New("there are more posting lists than texts")
	}
	from := uint64(0)
	for _, end := range p.ends {
		if end < from || end > uint64(len(p.gaps)) || end > from && p.gaps[end-1] >= 0x80 {
			return errors.New("a posting list is out of order")
		}
		from = end
	}
	for i, l := range p.chain {
		if int(l.doc) >= most || int(l.before) > i {
			return errors.New("a chain of postings is out of order")
		}
	}
	var docs []uint32
	for id, head := range p.heads {
		if int(head) > len(p.chain) {
			return errors.New("a chain of postings has no beginning")
		}
		docs = p.docs(uint32(id), docs[:0])
		if len(docs) != int(p.counts[id]) || len(docs) > 0 && int(slices.Max(docs)) >= most {
			return errors.New("a posting list has a document that does not exist")
		}
	}
	return nil
}

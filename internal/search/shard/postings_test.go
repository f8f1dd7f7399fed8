package shard

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPostingsAreTheSameInEveryForm(t *testing.T) {
	const docs, texts = 70_000, 7
	random := rand.New(rand.NewPCG(1, 2))
	var p postings
	want := make([][]uint32, texts+1)
	for id := range uint32(texts) {
		if got := p.id(string('a' + rune(id))); got != id+1 {
			t.Fatalf("text %d has the number %d", id, got)
		}
	}
	for doc := range uint32(docs) {
		for id := uint32(1); id < texts; id++ { // the last has none
			if often := []int{1, 2, 100, 200, 20_000, 69_999}[id-1]; random.IntN(often) == 0 {
				p.add(id, doc)
				p.add(id, doc) // twice in a document
				want[id] = append(want[id], doc)
			}
		}
		if doc == docs/2 {
			p = p.moved(func(doc uint32) (uint32, bool) { return doc, true })
		}
	}
	compare := func(p *postings) {
		t.Helper()
		if err := p.check(docs); err != nil {
			t.Error(err)
		}
		for id, docs := range want {
			var s set
			s.grow(70_000)
			p.addTo(uint32(id), s)
			var got []uint32
			s.each(func(doc uint32) { got = append(got, doc) })
			listed := slices.Sorted(slices.Values(p.docs(uint32(id), nil)))
			if !slices.Equal(got, docs) || !slices.Equal(listed, docs) || p.count(uint32(id)) != len(docs) {
				t.Errorf("text %d: %d documents in a set, %d in a list, %d counted, want %d", id, len(got), len(listed), p.count(uint32(id)), len(docs))
			}
		}
	}
	compare(&p)
	p = p.moved(func(doc uint32) (uint32, bool) { return docs - 1 - doc, doc%3 != 0 })
	for id := range want {
		want[id] = slices.DeleteFunc(want[id], func(doc uint32) bool { return doc%3 == 0 })
		for i := range want[id] {
			want[id][i] = docs - 1 - want[id][i]
		}
		slices.Reverse(want[id])
	}
	compare(&p)
	if len(p.chain) != 0 {
		t.Errorf("%d links are left", len(p.chain))
	}
}

func TestInconsistentPostingsAreRefused(t *testing.T) {
	whole := func() postings {
		var p postings
		p.id("a")
		p.id("b")
		for doc := range uint32(300) {
			p.add(1, doc)
		}
		p = p.moved(func(doc uint32) (uint32, bool) { return doc * 200, true })
		p.add(1, 299*200+1)
		p.add(2, 299*200+2)
		return p
	}
	if p := whole(); p.check(299*200+3) != nil {
		t.Fatal(p.check(299*200 + 3))
	}
	for name, damage := range map[string]func(p *postings){
		"an end before the one before": func(p *postings) { p.ends[1], p.ends[2] = p.ends[2], p.ends[1]-1 },
		"an end after all":             func(p *postings) { p.ends[2]++ },
		"a number that is cut off":     func(p *postings) { p.gaps[len(p.gaps)-1] |= 0x80 },
		"another count":                func(p *postings) { p.counts[1]-- },
		"a document too many":          func(p *postings) { p.chain[1].doc++ },
		"a gap too large": func(p *postings) {
			p.gaps[len(p.gaps)-1]++
			p.chain = p.chain[:0]
			p.heads = make([]uint32, 3)
			p.counts[1]--
			p.counts[2]--
		},
		"a chain without an end": func(p *postings) { p.chain[1].before = 2 },
		"a head of nothing":      func(p *postings) { p.heads[2] = 3 },
		"a list of no text":      func(p *postings) { p.heads, p.counts = append(p.heads, 0), append(p.counts, 0) },
	} {
		p := whole()
		damage(&p)
		if most := 299*200 + 3; name == "a gap too large" && p.check(299*200+1) == nil || name != "a gap too large" && p.check(most) == nil {
			t.Errorf("%s is not noticed", name)
		}
	}
}

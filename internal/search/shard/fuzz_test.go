package shard_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/search/shard"
)

// summed is a snapshot whose checksum is right, whatever its content.
func summed(content []byte) []byte {
	return binary.LittleEndian.AppendUint32(bytes.Clone(content), crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli)))
}

// content is a snapshot of some documents without its checksum.
func content(t testing.TB, docs int) []byte {
	w := world{r: rand.New(rand.NewPCG(11, 1)), docs: map[int64]shard.Doc{}, shard: empty()}
	if docs > 0 {
		w.fill(docs)
		w.shard.Sort()
		w.fill(docs / 10)
	}
	var file bytes.Buffer
	if err := w.shard.Save(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()[:file.Len()-4]
}

func empty() *shard.Shard {
	return shard.New(shard.Config{Signals: signals(), Now: func() time.Time { return time.Unix(1e9, 0) }})
}

// use does with a shard what an index does; it must not panic.
func use(s *shard.Shard) {
	red := []shard.Word{{Text: "phone"}}
	for _, q := range []shard.Query{
		{Top: 48, Share: 1}, {Words: red, Near: true, Top: 48, Share: 0.5}, {Category: "1", Region: 6, Top: 48, Share: 1, Grouped: true, Explain: true},
		{Vendors: []string{"Acme"}, Source: "shop", Language: "en", Available: true, Kind: shard.Offers, PriceMin: 1, Sort: shard.Cheapest, Top: 48, Share: 1},
		{Params: []shard.Filter{{Name: "size", Values: []shard.Value{{Range: true, Lo: 1, Hi: 3}}}}, Top: 48, Share: 1},
	} {
		q.Person = shard.Nobody()
		a := s.Ask(&q)
		hits := make([]*shard.Hit, len(a.Hits))
		for i := range hits {
			hits[i] = &a.Hits[i]
		}
		s.Fill(hits)
	}
	s.Suggest(red, "a", 10)
	s.Suggest(nil, "", 10)
	s.Apply([]shard.Doc{{ID: 1, Title: "Phone", Words: "Phone", Offer: "1", Category: []string{"1", "10"}}, {ID: 77, Words: "new"}}, []int64{2, 3}, 9)
	s.Sort()
	s.Ask(&shard.Query{Words: red, Top: 48, Share: 1, Person: shard.Nobody()})
}

// load reads a snapshot that may be anything.
func load(t *testing.T, file []byte) {
	t.Helper()
	s := empty()
	if _, err := s.Load(bytes.NewReader(file)); err == nil {
		use(s)
	} else if n, version := s.Size(); !errors.Is(err, courant.Invalid) || n != 0 || version != 0 {
		t.Errorf("%v; %d documents are there", err, n)
	}
}

// What a snapshot holds is checked beside its checksum: a program with a fault may have
// written it.
func FuzzLoad(f *testing.F) {
	f.Add([]byte{})
	f.Add(content(f, 0))
	f.Add(content(f, 70))
	f.Fuzz(func(t *testing.T, content []byte) { load(t, summed(content)) })
}

func TestASnapshotOfAFaultyProgramIsRefusedOrUsedWithoutHarm(t *testing.T) {
	whole, r := content(t, 70), rand.New(rand.NewPCG(2, 2))
	for range 1000 {
		text := bytes.Clone(whole)
		for range 1 + r.IntN(3) {
			text[r.IntN(len(text))] = byte(r.IntN(256))
		}
		load(t, summed(text))
	}
}

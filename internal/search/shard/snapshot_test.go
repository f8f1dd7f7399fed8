package shard_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/search/shard"
)

func TestASnapshotAnswersAsTheShardDid(t *testing.T) {
	w := open(t, 7, model(t))
	w.fill(5000)
	var file bytes.Buffer
	if err := w.shard.Save(&file); err != nil {
		t.Fatal(err)
	}
	other := open(t, 8, model(t))
	if version, err := other.shard.Load(&file); err != nil || version != 1 {
		t.Fatal(version, err)
	}
	ask := func() {
		t.Helper()
		for range 50 {
			q := w.query()
			q.Exact, q.Near = w.r.IntN(2) == 0, true
			if a, b := w.shard.Ask(&q), other.shard.Ask(&q); fmt.Sprint(a) != fmt.Sprint(b) {
				t.Fatalf("%+v:\nbefore %+v\nafter  %+v", q, a, b)
			}
		}
	}
	ask()
	docs := []shard.Doc{w.offer(1), w.offer(99999), w.docs[17]}
	docs[2].Price += 100_00
	w.shard.Apply(docs, []int64{3, 4}, 2)
	other.shard.Apply(docs, []int64{3, 4}, 2)
	w.shard.Sort()
	other.shard.Sort()
	ask()
}

func TestADamagedSnapshotIsRefusedAndChangesNothing(t *testing.T) {
	w := open(t, 9, nil)
	w.fill(200)
	var file bytes.Buffer
	if err := w.shard.Save(&file); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		text := bytes.Clone(file.Bytes())
		if r.IntN(3) == 0 {
			text = text[:r.IntN(len(text))]
		} else {
			text[r.IntN(len(text))] ^= byte(1 + r.IntN(255))
		}
		other := open(t, 1, nil)
		if _, err := other.shard.Load(bytes.NewReader(text)); !errors.Is(err, courant.Invalid) {
			t.Fatalf("it was taken: %v", err)
		}
		if n, _ := other.shard.Size(); n != 0 {
			t.Fatalf("%d documents are there", n)
		}
	}
	if _, err := shard.New(shard.Config{}).Load(&file); !errors.Is(err, courant.Invalid) {
		t.Errorf("one with other signals was taken: %v", err)
	}
}

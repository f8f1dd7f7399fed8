package parse

import (
	"math/rand/v2"
	"testing"
)

// Compares offers with two maps while addresses change hands again and again.
func TestOffersAreFoundAsInMaps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	o, keys, urls := newOffers(), map[uint64]int32{}, map[uint64]int32{}
	for range 200_000 {
		key, url := uint64(random.IntN(50_000))<<40, uint64(random.IntN(60_000)) // digests of short ids end in zeros
		at, known := o.keys.find(o, key)
		if want, ok := keys[key]; ok != known || ok && at != want {
			t.Fatalf("key %d: got %d, %v, want %d, %v", key, at, known, want, ok)
		}
		if !known {
			at = o.add(offerState{key: key})
			keys[key] = at
		}
		owner, taken := o.urls.find(o, url)
		if want, ok := urls[url]; ok != taken || ok && owner != want {
			t.Fatalf("address %d: got %d, %v, want %d, %v", url, owner, taken, want, ok)
		}
		if old := o.at(at).url; known && urls[old] == at {
			o.urls.drop(o, old)
			delete(urls, old)
		}
		if !taken || owner == at || random.IntN(4) == 0 {
			o.at(at).url = url
			o.urls.put(o, at)
			urls[url] = at
		}
	}
	n := 0
	for range o.all {
		n++
	}
	if n != len(keys) {
		t.Errorf("%d offers, want %d", n, len(keys))
	}
}

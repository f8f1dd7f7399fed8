package parse

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
)

// entry is one item with its keys.
type entry struct {
	item  courant.Item
	offer *courant.Offer // of a product
	moved bool           // withdraws the page at an offer's old address
	key   [16]byte       // of the item within its source
	url   [16]byte       // of the page; zero for a tombstone that names no address
	addr  string
	hash  []byte
	pack  []byte // the packed document; made when it is first needed
}

// items gives every item its keys. It drops items without an address, the last item of
// a truncated document, and the second of two items with the same key or address.
//
// The key of an item is its id (guid, atom:id), unless other items of the file
// have the same id with other links; else its link, else its content.
func items(r *courant.Reading) []entry {
	seen := make(map[[16]byte]bool, 2*len(r.Items))
	out := make([]entry, 0, len(r.Items))
	links := make(map[string]string, len(r.Items)) // by id; "" if there are several
	for i := range r.Items {
		it := &r.Items[i]
		if link, ok := links[it.ID]; ok && link != it.Link {
			links[it.ID] = ""
		} else {
			links[it.ID] = it.Link
		}
	}
	for i := range r.Items {
		it := r.Items[i]
		if it.Cut {
			continue // half an item must not replace a whole one
		}
		f, ok := keyed(it, links[it.ID] == "" && it.Link != "")
		if !ok || seen[f.key] || f.addr != "" && seen[f.url] {
			continue
		}
		seen[f.key] = true
		if f.addr != "" {
			seen[f.url] = true
		}
		out = append(out, f)
	}
	return out
}

// keyed gives an item its keys; shared says that other items have the same id.
func keyed(item courant.Item, shared bool) (entry, bool) {
	f := entry{item: item}
	var err error
	f.hash, err = hex.DecodeString(item.Hash)
	if err != nil {
		return f, false
	}
	if addr, err := link.Canonical(item.Link); err == nil {
		f.addr, f.url = addr, link.Digest(addr)
	}
	if f.addr == "" && !item.Withdrawn {
		return f, false
	}
	name := item.ID
	if name == "" || shared {
		name = f.addr
	}
	if name == "" {
		name = item.Hash
	}
	sum := sha256.Sum256([]byte("item " + name))
	copy(f.key[:], sum[:])
	return f, true
}

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
	moved bool           // it ends the page that an offer had before under another address
	key   [16]byte       // of the item within its source
	url   [16]byte       // of the page; zero for a tombstone that names no address
	addr  string
	hash  []byte
	pack  []byte // the document as it is kept; made when it is first needed
}

// items gives every item its keys, drops those that have no address of their own
// and the one that a document which is cut off ends in, and keeps of two with one key or one address the first.
//
// The key of an item is its id (guid, atom:id), unless other items of the file
// have the same one and other links; else its link, else its content.
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
			continue // its next version may be whole; half of one replaces nothing
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

// keyed gives an item its keys; shared says that its id is that of others too.
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

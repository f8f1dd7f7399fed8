package parse

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
)

// entry is one item with its keys.
type entry struct {
	item    courant.Item
	offer   *courant.Offer // of a product
	moved   bool           // withdraws the page at an offer's old address
	renames *[16]byte      // the known key of the item, which has a new id
	key     [16]byte       // of the item within its source
	url     [16]byte       // of the page; zero for a tombstone that names no address
	addr    string
	hash    []byte
	pack    []byte // the packed document; made when it is first needed
}

// items gives every item its keys. It leaves out the last item of a truncated document,
// and an item with the key of an earlier one, with a warning.
//
// The key of an item is its id (guid, atom:id), unless other items of the file
// have the same id with other links; else its link, else its content.
func items(r *courant.Reading) []entry {
	seen := make(map[[16]byte]bool, len(r.Items))
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
			continue // half an item must not replace a whole one; the reader warns of it
		}
		f := keyed(it, links[it.ID] == "" && it.Link != "")
		if seen[f.key] {
			r.Warnings = append(r.Warnings, courant.Warning{Code: "duplicate-item", Element: "item", Text: fmt.Sprintf(
				"two items have the id %q and the same link, and only the first was used; give each item an id of its own", it.ID)})
			continue
		}
		seen[f.key] = true
		out = append(out, f)
	}
	return out
}

// keyed gives an item its keys; shared says that other items have the same id.
func keyed(item courant.Item, shared bool) entry {
	f := entry{item: item}
	f.hash, _ = hex.DecodeString(item.Hash) // the reader made it
	if addr, err := link.Canonical(item.Link); err == nil {
		f.addr, f.url = addr, link.Digest(addr)
	}
	name := item.ID
	if name == "" || shared {
		name = f.addr
	}
	if name == "" {
		name = item.Hash
	}
	f.key = itemKey(name)
	return f
}

// itemKey is the key of the item with this id within its source.
func itemKey(id string) (key [16]byte) {
	sum := sha256.Sum256([]byte("item " + id))
	copy(key[:], sum[:])
	return key
}

// ownAddress is the address of the page of an item that has no link, or whose link is
// the page of another item: the link, or else the address of the source, with a digest
// of the item's key. Two sources with the same items of one link share their pages.
func (f *entry) ownAddress(source string) (string, [16]byte) {
	base, _, _ := strings.Cut(source, "#")
	if f.addr != "" {
		base, _ = link.Canonical(f.item.Link)
	}
	mark := "?"
	if strings.Contains(base, "?") {
		mark = "&"
	}
	name := "item=" + hex.EncodeToString(f.key[:8])
	addr, err := link.Canonical(base + mark + name)
	if err != nil { // the base is nearly as long as an address may be
		sum := sha256.Sum256([]byte(base))
		addr = link.Origin(base) + "/?" + name + hex.EncodeToString(sum[:8])
	}
	return addr, link.Digest(addr)
}

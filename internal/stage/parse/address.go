package parse

import (
	"bytes"
	"slices"

	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/read/feed"
)

// addresses gives the items of a feed the addresses of their pages, and returns what is
// known of the items. The page of an item is at its link, unless another item of the
// source has its page there: then, or without a link, it has an address of its own.
// Once an item has an address, it keeps it as long as its link stays the same.
func addresses(r store.Reader, d download, found []entry) (map[[16]byte]known, error) {
	before, err := knownItems(r, d.source.ID, found)
	if err == nil {
		err = recognise(r, d, found, before)
	}
	if err != nil {
		return nil, err
	}
	s := addressing{r: r, d: d, before: before, taken: make(map[[16]byte]bool, len(found)), inFile: make(map[[16]byte]bool, len(found))}
	var links [][]any
	for i := range found {
		f := &found[i]
		s.inFile[f.key] = true
		if was, ok := before[f.key]; ok && f.addr != "" && [16]byte(was.url) == f.url {
			s.taken[f.url] = true
		} else if f.addr != "" {
			links = append(links, []any{d.source.ID, f.url[:]})
		}
	}
	if err := s.readOwners(links); err != nil {
		return nil, err
	}
	for i := range found {
		if err := s.place(&found[i]); err != nil {
			return nil, err
		}
	}
	return before, nil
}

// recognise gives items the keys by which they are known if they had another id when other
// items of the same id and link were in the file, or were not.
func recognise(r store.Reader, d download, found []entry, before map[[16]byte]known) error {
	if d.changed.IsZero() {
		return nil // nothing is known yet
	}
	type guess struct {
		item  *entry
		alone bool // the key is that of the item without others
	}
	var guesses []guess
	var keys []entry
	for i := range found {
		f := &found[i]
		was, ok := before[f.key]
		if f.item.Withdrawn || ok && bytes.Equal(was.hash, f.hash) {
			continue
		}
		alone, among := feed.OtherIDs(&f.item)
		if ok && among == "" {
			continue
		}
		guesses, keys = append(guesses, guess{f, alone != ""}), append(keys, entry{key: itemKey(alone + among)})
	}
	seen, err := knownItems(r, d.source.ID, keys)
	if err != nil {
		return err
	}
	for i, g := range guesses {
		key := keys[i].key
		was, ok := seen[key]
		if !ok || g.alone && !bytes.Equal(was.hash, g.item.hash) || taken(found, key) {
			continue
		}
		g.item.key, before[key] = key, was
	}
	return nil
}

// taken reports whether an item has the key.
func taken(found []entry, key [16]byte) bool {
	return slices.ContainsFunc(found, func(f entry) bool { return f.key == key })
}

// addressing is the state of addresses.
type addressing struct {
	r      store.Reader
	d      download
	before map[[16]byte]known
	inFile map[[16]byte]bool // by key
	taken  map[[16]byte]bool // by the digest of the address
	owners map[[16]byte]owner
}

// owner is the item of the source whose page is at a link.
type owner struct {
	key       [16]byte
	withdrawn bool
}

// readOwners reads who owns links: for each, the source and the digest.
func (s *addressing) readOwners(links [][]any) error {
	s.owners = map[[16]byte]owner{}
	return s.r.RowsAll(func(i int, rows store.Rows) error {
		var key []byte
		var o owner
		err := rows.Scan(&key, &o.withdrawn)
		copy(o.key[:], key)
		s.owners[[16]byte(links[i][1].([]byte))] = o
		return err
	}, itemAt, links)
}

func (s *addressing) place(f *entry) error {
	was, seen := s.before[f.key]
	if seen && f.addr != "" && [16]byte(was.url) == f.url {
		return nil
	}
	if f.addr == "" && f.item.Withdrawn {
		return nil // changes takes the address of the known item
	}
	own, digest := f.ownAddress(s.d.source.URL)
	free := f.addr != "" && !s.taken[f.url] && !(seen && [16]byte(was.url) == digest)
	var err error
	if free {
		free, err = s.vacant(f, seen)
	}
	switch {
	case free:
	case f.item.Withdrawn && !seen: // the page at its link is that of another item, which the file still has
		own, digest = "", [16]byte{}
		fallthrough
	default:
		f.addr, f.url = own, digest
	}
	s.taken[f.url] = true
	return err
}

// vacant reports whether the item may have its page at its link. It may not while that
// is the page of another item of the source. But an item with a new id is the one that
// is there if the title or the date of publication is the same.
func (s *addressing) vacant(f *entry, seen bool) (bool, error) {
	o, owned := s.owners[f.url]
	if !owned {
		return true, nil
	}
	if s.inFile[o.key] || seen { // the owner has another link now, or left the file
		return s.inFile[o.key] || o.withdrawn, nil
	}
	same, err := s.same(f)
	if same || o.withdrawn || f.item.Withdrawn {
		f.renames = &o.key
	}
	return f.renames != nil, err
}

// same reports whether the item is the one whose page is at its link. Without a page
// there is no saying, and it is taken for the same.
func (s *addressing) same(f *entry) (bool, error) {
	var title string
	var published int64
	err := s.r.Row(pageAt, f.url[:], s.d.source.ID).Scan(&title, &published)
	if store.NoRow(err) {
		return true, nil
	}
	return err == nil && (title == f.item.Title || published != 0 && published == store.Millis(f.item.Published.Time)), err
}

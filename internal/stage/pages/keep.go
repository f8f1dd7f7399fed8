package pages

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/port/store"
)

// live is the page that is live at an address now.
type live struct {
	id        int64
	address   string
	source    int64
	rank      courant.Rank
	asOf      int64
	hash      []byte
	revision  int
	stored    int64
	withdrawn bool
	minhash   []byte
	change    int64 // its number in the change feed
}

// keep replaces the live page, unless that one has precedence, and deletes the
// document's row. It does nothing if the row has changed meanwhile.
func (p *Pages) keep(tx *store.Tx, n *numbers, d document, page rendered) (kept bool, err error) {
	if dropped, err := tx.Exec(dropDocument, d.url, d.source, d.asOf, d.late); err != nil || dropped == 0 {
		return false, err // the changed row is rendered by itself
	}
	return p.settle(tx, n, d, page)
}

// settle replaces the live page, unless that one has precedence.
func (p *Pages) settle(tx *store.Tx, n *numbers, d document, page rendered) (kept bool, err error) {
	was, err := readLive(tx, d.url)
	if err != nil && !store.NoRow(err) {
		return false, err
	}
	return p.place(tx, n, d, page, was, err != nil)
}

// place is settle with a known live page; fresh says that there is none.
func (p *Pages) place(tx *store.Tx, n *numbers, d document, page rendered, was live, fresh bool) (kept bool, err error) {
	if !fresh && !d.replaces(was) || fresh && d.doc.Item.Withdrawn && d.doc.URL == "" {
		return false, nil
	}
	d.doc.URL = cmp.Or(d.doc.URL, was.address)
	hash, err := hex.DecodeString(d.doc.Item.Hash)
	if err != nil {
		return false, fmt.Errorf("hash of %s: %w", d.doc.URL, err)
	}
	if fresh {
		if was.id, err = p.ids.next(tx, p.Owner); err != nil {
			return false, err
		}
	}
	if was.change, err = n.next(); err != nil {
		return false, err
	}
	stored := was.stored
	if fresh || was.withdrawn || !bytes.Equal(was.hash, hash) {
		stored = tx.Now().UnixMilli()
	}
	was.hash = hash
	if err := d.put(tx, was, page, stored); err != nil {
		return false, err
	}
	if !d.reprice.IsZero() {
		if err := putReprice(tx, d.url, d.reprice); err != nil {
			return false, err
		}
	}
	return true, relate(tx, was.id, was.minhash, d.sketch)
}

// replaces reports whether the document has precedence over the live page. A source
// withdraws its own pages, and pages of foreign sources at its addresses.
func (d document) replaces(was live) bool {
	if was.source == d.source {
		return d.asOf >= was.asOf
	}
	if d.doc.Item.Withdrawn {
		return d.rank > courant.Foreign && was.rank == courant.Foreign
	}
	return d.rank.Beats(d.asOf, was.rank, was.asOf) || was.withdrawn && d.rank > courant.Foreign
}

// put writes the page, its body and its story.
func (d document) put(tx *store.Tx, was live, page rendered, stored int64) error {
	now := tx.Now().UnixMilli()
	item := d.doc.Item
	_, err := tx.Exec(putPage, d.url, was.id, d.doc.URL, link.Host(d.doc.URL), d.source, d.rank, d.asOf, item.Withdrawn,
		was.hash, was.revision+1, item.Title, item.Language, page.picture, store.Millis(item.Published.Time),
		store.Millis(item.Updated.Time), store.Millis(d.fetched), stored, now, was.change)
	if err != nil {
		return err
	}
	name := "printed"
	switch {
	case item.Withdrawn:
		name = "withdrawn"
		_, err = tx.Exec(dropBody, was.id)
	case page.html == nil:
		name, page.html = "kept", []byte{}
		fallthrough
	default:
		_, err = tx.Exec(putBody, was.id, d.content, page.html)
	}
	if err != nil || name == "kept" && was.revision == 0 {
		return err // api derives the first event of a batch's page from the page's id
	}
	line, err := json.Marshal(courant.Step{At: tx.Now(), Step: name, Note: fmt.Sprintf("revision %d", was.revision+1)})
	if err != nil {
		return err
	}
	_, err = tx.Exec(putEvent, was.id, d.asOf, now, d.trace+string(line)+"\n")
	return err
}

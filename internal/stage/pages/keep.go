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

// keep replaces the live pages of the documents that have precedence, and reports which
// are live now. Two documents of one address, such as two sources' versions, are
// processed one after the other.
func (p *Pages) keep(tx *store.Tx, n *numbers, docs []*document) ([]bool, error) {
	kept := make([]bool, len(docs))
	for rest := order(len(docs)); len(rest) > 0; {
		var now, later []int
		seen := make(map[string]bool, len(rest))
		for _, i := range rest {
			if key := string(docs[i].url); seen[key] {
				later = append(later, i)
			} else {
				seen[key] = true
				now = append(now, i)
			}
		}
		if err := p.keepDistinct(tx, n, docs, now, kept); err != nil {
			return nil, err
		}
		rest = later
	}
	return kept, nil
}

func order(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// keepDistinct is keep for those of docs that now lists, which have different addresses.
func (p *Pages) keepDistinct(tx *store.Tx, n *numbers, docs []*document, now []int, kept []bool) error {
	lives, err := readLives(tx, docs, now)
	if err != nil {
		return err
	}
	var w writes
	for _, i := range now {
		d := docs[i]
		was, ok := lives[string(d.url)]
		if ok && !d.replaces(was) || !ok && d.doc.Item.Withdrawn && d.doc.URL == "" {
			continue
		}
		next, err := p.next(tx, n, d, was, !ok)
		if err != nil {
			return err
		}
		kept[i] = true
		w.add(d, was, next)
	}
	if err := relate(tx, w.pages); err != nil {
		return err
	}
	return w.run(tx)
}

// next is the page that a document makes of the live one; fresh says that there is none.
func (p *Pages) next(tx *store.Tx, n *numbers, d *document, was live, fresh bool) (next live, err error) {
	d.doc.URL = cmp.Or(d.doc.URL, was.address)
	next = was
	if next.hash, err = hex.DecodeString(d.doc.Item.Hash); err != nil {
		return next, fmt.Errorf("hash of %s: %w", d.doc.URL, err)
	}
	if fresh {
		if next.id, err = p.ids.next(tx, p.Owner); err != nil {
			return next, err
		}
	}
	if fresh || was.withdrawn || !bytes.Equal(was.hash, next.hash) {
		next.stored = tx.Now().UnixMilli()
	}
	next.revision++
	next.change, err = n.next()
	return next, err
}

// replaces reports whether the document has precedence over the live page. A source
// withdraws its own pages, and pages of foreign sources at its addresses.
func (d *document) replaces(was live) bool {
	if was.source == d.source {
		return d.asOf >= was.asOf
	}
	if d.doc.Item.Withdrawn {
		return d.rank > courant.Foreign && was.rank == courant.Foreign
	}
	return d.rank.Beats(d.asOf, was.rank, was.asOf) || was.withdrawn && d.rank > courant.Foreign
}

// change is a page that is about to change.
type change struct {
	doc       *document
	was, now  live
	related   bool  // its text has changed, so that the next field counts
	duplicate int64 // the first page with nearly the same text
}

// writes collects the changes of a set, to write them with one round trip for each kind
// of statement.
type writes struct{ pages []*change }

func (w *writes) add(d *document, was, now live) {
	w.pages = append(w.pages, &change{doc: d, was: was, now: now})
}

// run writes pages, bodies, bands, prices and stories.
func (w *writes) run(tx *store.Tx) error {
	var pages, bodies, gone, events, prices [][]any
	now := tx.Now().UnixMilli()
	for _, c := range w.pages {
		d, item := c.doc, &c.doc.doc.Item
		pages = append(pages, []any{d.url, c.now.id, d.doc.URL, link.Host(d.doc.URL), d.source, d.rank, d.asOf, item.Withdrawn,
			c.now.hash, c.now.revision, item.Title, item.Language, d.page.picture, store.Millis(item.Published.Time),
			store.Millis(item.Updated.Time), store.Millis(d.fetched), c.now.stored, now, c.now.change,
			append([]byte{}, d.sketch.minhash...), c.duplicate, c.related})
		name, html := "printed", d.page.html
		switch {
		case item.Withdrawn:
			name = "withdrawn"
			gone = append(gone, []any{c.now.id})
		case html == nil:
			name, html = "kept", []byte{}
			fallthrough
		default:
			bodies = append(bodies, []any{c.now.id, d.content, html})
		}
		if !d.reprice.IsZero() {
			prices = append(prices, []any{d.url, d.reprice.UnixMilli()})
		}
		if name == "kept" && c.was.revision == 0 {
			continue // api derives the first event of a batch's page from the page's id
		}
		line, err := json.Marshal(courant.Step{At: tx.Now(), Step: name, Note: fmt.Sprintf("revision %d", c.now.revision)})
		if err != nil {
			return err
		}
		events = append(events, []any{c.now.id, d.asOf, now, d.trace + string(line) + "\n"})
	}
	if _, err := tx.ExecAll(putPage, pages); err != nil { // with a parameter that is in no column
		return err
	}
	if _, err := tx.ExecAll(dropBody, gone); err != nil {
		return err
	}
	for _, s := range []struct {
		query string
		args  [][]any
	}{{putBody, bodies}, {putEvent, events}, {putPrice, prices}} {
		if err := tx.Insert(nil, s.query, s.args); err != nil {
			return err
		}
	}
	return nil
}

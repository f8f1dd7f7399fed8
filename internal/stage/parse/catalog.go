package parse

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/store"
)

const (
	// fewChanges is how many changed offers of one reading become single documents,
	// with their pictures; more go in batches.
	fewChanges = 1000
	batchSize  = 1000
	// believeAfter is how long most offers of a catalogue must be missing before they
	// are withdrawn.
	believeAfter = 24 * time.Hour
	guardFrom    = 10 // offers; a smaller catalogue may lose most of them
)

// catalogue is the state of reading one catalogue. It holds what is needed to detect a
// change of each offer, and the changed offers that wait for their batch.
type catalogue struct {
	p    *Parse
	ctx  context.Context // of the reading; the value does not outlive it
	d    download
	rank map[string]courant.Rank // by host

	known   *offers
	waits   []entry
	writing chan error // result of the batch that is being written
	whole   bool       // offers go in batches
	n       int        // batches
	seen    int        // offers in the file
	fresh   int        // new or changed offers among them
}

func begin(digest []byte) uint64 { return binary.BigEndian.Uint64(digest) }

// place is the part of a digest that distinguishes addresses of one host.
func place(url []byte) uint64 { return binary.BigEndian.Uint64(url[8:]) }

// newCatalogue begins a reading: it takes the lease and loads the source's known offers.
func (p *Parse) newCatalogue(ctx context.Context, d download) (*catalogue, error) {
	c := &catalogue{p: p, ctx: ctx, d: d, rank: map[string]courant.Rank{}, known: newOffers()}
	if err := p.Store.Write(ctx, c.hold); err != nil {
		return c, err
	}
	err := p.Store.Read(ctx, func(r store.Reader) error {
		return r.Rows(func(rows store.Rows) error {
			var key, hash, url []byte
			var withdrawn bool
			if err := rows.Scan(&key, &hash, &url, &withdrawn); err != nil {
				return err
			}
			s := offerState{key: keyDigest([16]byte(key)), url: place(url), before: !withdrawn}
			if len(hash) >= 8 && !withdrawn {
				s.hash = begin(hash)
			}
			if at := c.known.add(s); !withdrawn {
				c.known.urls.put(c.known, at)
			}
			return nil
		}, allItems, d.source.ID)
	})
	if err == nil {
		err = p.Store.Read(ctx, func(r store.Reader) error { return r.Row(nextBatch, d.source.ID, d.asOf).Scan(&c.n) })
	}
	return c, err
}

// errOthers ends a reading that another process continues or has completed.
var errOthers = errors.New("the catalogue is read by another process")

// readTime is the length of the lease on a catalogue. Every batch and every note of
// progress renews it.
const readTime = time.Minute

// hold renews our lease on the catalogue, and checks that the download is still pending.
func (c *catalogue) hold(tx *store.Tx) error {
	l, err := tx.Take(fmt.Sprint("parse/", c.d.source.ID), c.p.Owner, readTime)
	if err == nil && l.Epoch == 0 {
		return errOthers
	}
	if err == nil {
		err = tx.Row(stillPending, c.d.source.ID, c.d.asOf).Scan(new(int64))
	}
	if store.NoRow(err) {
		return errOthers
	}
	return err
}

// offerKey is the key of an offer within its source: a short id as it is, so that
// offers are stored in the order of their ids, else a digest of the id.
func offerKey(id string) (key [16]byte) {
	if len(id) < len(key) {
		copy(key[:], id)
		key[15] = byte(len(id))
		return key
	}
	sum := sha256.Sum256([]byte("offer " + id))
	copy(key[:], sum[:])
	key[15] |= 0x80
	return key
}

// offer takes the next offer of the file.
func (c *catalogue) offer(o *courant.Offer) error {
	key := offerKey(o.ID)
	at, known := c.known.keys.find(c.known, keyDigest(key))
	if !known {
		at = c.known.add(offerState{key: keyDigest(key)})
	}
	s := c.known.at(at)
	if s.seen {
		return nil // the first of two offers with the same id counts
	}
	c.seen++
	s.seen = true
	hash, err := hex.DecodeString(o.Hash)
	if err != nil {
		return err
	}
	addr, digest := c.address(o, at)
	moved := known && s.before && s.url != place(digest[:])
	if known && s.hash == begin(hash) && !moved {
		return c.progress()
	}
	c.fresh++
	if moved {
		if err := c.leave(key, s.url, at); err != nil {
			return err
		}
	}
	s.hash, s.url = begin(hash), place(digest[:])
	c.known.urls.put(c.known, at)
	doc := courant.DocumentOf(addr, c.d.source.ID, o)
	c.waits = append(c.waits, entry{item: doc.Item, offer: doc.Offer, key: key, url: digest, addr: addr, hash: hash})
	if err := c.flush(); err != nil {
		return err
	}
	return c.progress()
}

// leave withdraws the page at an offer's old address after it has moved.
func (c *catalogue) leave(key [16]byte, url uint64, at int32) error {
	if owner, taken := c.known.urls.find(c.known, url); !taken || owner != at {
		return nil // another offer has it now
	}
	c.known.urls.drop(c.known, url)
	e := entry{moved: true, key: key, item: courant.Item{Withdrawn: true}}
	err := c.p.Store.Read(c.ctx, func(r store.Reader) error {
		var url []byte
		err := r.Row(itemURL, c.d.source.ID, key[:]).Scan(&url)
		copy(e.url[:], url)
		return err
	})
	c.waits = append(c.waits, e)
	return err
}

func keyDigest(key [16]byte) uint64 {
	return begin(key[:8]) ^ begin(key[8:])*0x9e3779b97f4a7c15
}

// address is the address of the offer's page: its own, unless another offer of the
// source has it already; then the catalogue's address with the offer's id, shortened
// to the length limit of addresses.
func (c *catalogue) address(o *courant.Offer, at int32) (string, [16]byte) {
	if addr, err := link.Canonical(o.URL); err == nil {
		digest := link.Digest(addr)
		if owner, taken := c.known.urls.find(c.known, place(digest[:])); !taken || owner == at {
			return addr, digest
		}
	}
	base, _, _ := strings.Cut(c.d.source.URL, "#")
	mark := "?"
	if strings.Contains(base, "?") {
		mark = "&"
	}
	id := sha256.Sum256([]byte(c.d.source.URL + " " + o.ID))
	digest := "offer=" + hex.EncodeToString(id[:16])
	for _, addr := range []string{base + mark + "offer=" + url.QueryEscape(o.ID), base + mark + digest} {
		if canonical, err := link.Canonical(addr); err == nil {
			return canonical, link.Digest(canonical)
		}
	}
	addr := link.Origin(base) + "/?" + digest // the catalogue's address is nearly as long as one may be
	return addr, link.Digest(addr)
}

// progress stores from time to time how many offers have been read.
func (c *catalogue) progress() error {
	if c.seen%noteEvery != 0 {
		return c.ctx.Err()
	}
	return c.p.Store.Write(c.ctx, func(tx *store.Tx) error {
		if err := c.hold(tx); err != nil {
			return err
		}
		_, err := tx.Exec(noteProgress, c.d.source.ID, c.seen)
		return err
	})
}

const noteEvery = 10_000

// flush writes a batch when there is enough for one.
func (c *catalogue) flush() error {
	if !c.whole && len(c.waits) <= fewChanges {
		return nil
	}
	c.whole = true
	for len(c.waits) >= batchSize {
		if err := c.batch(c.waits[:batchSize]); err != nil {
			return err
		}
		c.waits = append(c.waits[:0], c.waits[batchSize:]...)
	}
	return nil
}

// batch writes offers and their items in the background. The download stays pending
// until the last batch is written, so that after a crash it is read again.
func (c *catalogue) batch(entries []entry) error {
	content, err := c.pack(entries)
	if err != nil {
		return err
	}
	if err := c.written(); err != nil {
		return err
	}
	n, entries := c.n, slices.Clone(entries)
	c.n++
	c.writing = make(chan error, 1)
	go func() {
		c.writing <- c.p.Store.Write(c.ctx, func(tx *store.Tx) error {
			if err := c.hold(tx); err != nil {
				return err
			}
			return c.putBatch(tx, n, entries, content)
		})
	}()
	return nil
}

// written waits for the batch that is being written.
func (c *catalogue) written() error {
	if c.writing == nil {
		return nil
	}
	err := <-c.writing
	c.writing = nil
	return err
}

func (c *catalogue) putBatch(tx *store.Tx, n int, entries []entry, content []byte) error {
	if err := c.putItems(tx, entries); err != nil {
		return err
	}
	_, err := tx.Exec(putBatch, c.d.source.ID, c.d.asOf, n, tx.Now().Add(sweepAfter).UnixMilli(), store.Millis(c.d.fetched), content)
	tx.Emit(flow.BatchReady.Encode(flow.Batch{Source: c.d.source.ID, AsOf: c.d.asOf, N: n}))
	return err
}

// putItems stores the newest versions of offers.
func (c *catalogue) putItems(tx *store.Tx, entries []entry) error {
	rows := make([][]any, 0, len(entries))
	for i := range entries {
		if e := &entries[i]; !e.moved {
			rows = append(rows, []any{c.d.source.ID, e.key[:], e.url[:], e.hash, c.d.asOf, e.item.Withdrawn})
		}
	}
	return tx.Insert(nil, putOffer, rows)
}

// pack encodes the content of a batch.
func (c *catalogue) pack(entries []entry) ([]byte, error) {
	found := make([]courant.Found, 0, len(entries))
	for i := range entries {
		e := &entries[i]
		f := courant.Found{Key: e.url[:], Address: e.addr, Rank: c.rankOf(e.addr), Withdrawn: e.item.Withdrawn, Hash: e.hash, Title: e.item.Title}
		if !f.Withdrawn {
			var err error
			f.Reprice.Time = e.offer.PriceChanges(c.p.Store.Now())
			f.Document, err = pack.Encode(courant.Document{URL: e.addr, Source: c.d.source.ID, Item: e.item, Offer: e.offer})
			if err != nil {
				return nil, err
			}
		}
		found = append(found, f)
	}
	return pack.EncodeList(found)
}

func (c *catalogue) rankOf(addr string) courant.Rank {
	host := link.Host(addr)
	r, ok := c.rank[host]
	if !ok {
		r = courant.RankOf(c.d.source.Trusted, link.Host(c.d.source.URL), host)
		c.rank[host] = r
	}
	return r
}

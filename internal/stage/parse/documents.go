package parse

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/store"
)

// The states of a row of documents.
const (
	stateFound = 0
	stateReady = 2
)

// sweepAfter is how long a notified stage has before its sweep takes the row up.
const sweepAfter = 5 * time.Second

// known is a source's last version of an item.
type known struct {
	hash      []byte
	url       []byte
	withdrawn bool
}

// changes returns the items that differ from the source's last versions, and stores
// the new versions.
func changes(tx *store.Tx, d download, found []entry) ([]entry, error) {
	before, err := knownItems(tx.Reader, d.source.ID, found)
	if err != nil {
		return nil, err
	}
	var changed []entry
	var rows [][]any
	for _, f := range found {
		was, seen := before[f.key]
		if f.renames != nil && !seen {
			if was, seen, err = rename(tx, d, f); err != nil {
				return nil, err
			}
		}
		if seen && was.withdrawn == f.item.Withdrawn && bytes.Equal(was.hash, f.hash) {
			continue
		}
		if f.addr == "" { // a tombstone: the known item has the address
			if !seen {
				continue
			}
			f.url = [16]byte(was.url)
		}
		rows = append(rows, []any{d.source.ID, f.key[:], f.url[:], f.hash, d.asOf, f.item.Withdrawn})
		changed = append(changed, f)
	}
	return changed, tx.Insert(nil, putItem, rows)
}

// rename gives an item with a new id the row of the item that it is, so that a change of
// the id alone is no change of the item.
func rename(tx *store.Tx, d download, f entry) (was known, ok bool, err error) {
	err = tx.Row(itemOf, d.source.ID, f.renames[:]).Scan(&was.hash, &was.url, &was.withdrawn)
	if store.NoRow(err) {
		return known{}, false, nil
	}
	if err == nil {
		_, err = tx.Exec(renameItem, d.source.ID, f.renames[:], f.key[:])
	}
	return was, err == nil, err
}

// packNew gives the items their addresses and packs what looks new before the
// transaction, to keep that short.
func (p *Parse) packNew(ctx context.Context, d download, found []entry) error {
	var before map[[16]byte]known
	err := p.Store.Read(ctx, func(r store.Reader) (err error) {
		before, err = addresses(r, d, found)
		return err
	})
	if err != nil {
		return err
	}
	for i := range found {
		f := &found[i]
		if was, seen := before[f.key]; f.addr == "" || seen && bytes.Equal(was.hash, f.hash) {
			continue
		}
		if f.pack, err = pack.Encode(courant.Document{URL: f.addr, Source: d.source.ID, Item: f.item}); err != nil {
			return err
		}
	}
	return nil
}

// documents queues the changed items and notifies the next stage.
func (p *Parse) documents(tx *store.Tx, d download, changed []entry) error {
	var found, ready []flow.Version
	var rows [][]any
	for _, f := range changed {
		state := stateReady
		if p.Pictures && len(f.item.Images) > 0 && !f.item.Withdrawn {
			state = stateFound
		}
		row, err := p.document(tx, d, f, state)
		if err != nil {
			return err
		}
		rows = append(rows, row)
		v := flow.Version{URL: f.url[:], Source: d.source.ID, AsOf: d.asOf}
		if state == stateFound {
			found = append(found, v)
		} else {
			ready = append(ready, v)
		}
	}
	if err := tx.Insert(nil, putDocument, rows); err != nil {
		return err
	}
	tx.Emit(flow.DocumentFound.Encode(found...))
	tx.Emit(flow.DocumentReady.Encode(ready...))
	return nil
}

// document returns the parameters of putDocument.
func (p *Parse) document(tx *store.Tx, d download, f entry, state int) ([]any, error) {
	if f.item.Withdrawn {
		if err := p.withdraw(tx, d, &f); err != nil {
			return nil, err
		}
	}
	content := f.pack
	if content == nil {
		var err error
		if content, err = pack.Encode(courant.Document{URL: f.addr, Source: d.source.ID, Item: f.item, Offer: f.offer}); err != nil {
			return nil, err
		}
	}
	rank := courant.RankOf(d.source.Trusted, link.Host(d.source.URL), link.Host(f.addr))
	trace := steps(courant.Step{At: d.fetched, Step: "fetched", Note: d.url},
		courant.Step{At: tx.Now(), Step: "parsed"})
	return []any{f.url[:], f.addr, d.source.ID, rank, d.asOf, state, tx.Now().Add(sweepAfter).UnixMilli(), store.Millis(d.fetched), content, trace}, nil
}

// withdraw finds the address of a tombstone, and has other sources with the same item
// parsed again, since their version is to become live.
func (p *Parse) withdraw(tx *store.Tx, d download, f *entry) error {
	if f.addr == "" {
		err := tx.Row(addressOf, f.url[:]).Scan(&f.addr)
		if err != nil && !store.NoRow(err) {
			return err
		}
	}
	return askOthers(tx, f.url[:], d.source.ID)
}

// askOthers has other sources that still have the item of a page parsed again.
func askOthers(tx *store.Tx, url []byte, source int64) error {
	n, err := tx.Exec(forgetOthers, url, source)
	if err == nil && n > 0 {
		_, err = tx.Exec(rereadOthers, url, source)
	}
	return err
}

// steps encodes the first steps of a document's story.
func steps(s ...courant.Step) string {
	var b []byte
	for _, step := range s {
		line, err := json.Marshal(step)
		if err == nil {
			b = append(append(b, line...), '\n')
		}
	}
	return string(b)
}

// noteFeed stores what the reading says about the source as a whole.
func noteFeed(tx *store.Tx, d download, r *courant.Reading, items, changed int) error {
	now := tx.Now()
	if changed > 0 {
		d.rhythm = rhythm(d, r, changed, now)
		d.changed = now
		tx.Emit(flow.SourceChanged.Encode(flow.Poll{Source: d.source.ID, AsOf: d.asOf}))
	}
	hubs, self := websub(d, &r.Feed)
	_, err := tx.Exec(noteReading, d.source.ID, store.Millis(d.changed), d.rhythm.Milliseconds(),
		(time.Duration(r.Feed.TTL) * time.Second).Milliseconds(), items, report{Warnings: r.Warnings}.text(), bits(r.Feed.SkipHours), bits(r.Feed.SkipDays),
		hubs, self, shortened(r.Feed.Title, mostTitle), shortened(r.Feed.Link, mostAddress))
	return err
}

// shortened is text of at most this many bytes.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// Bounds of what a feed says about itself: number of hubs, and bytes of an address and
// of the title.
const (
	mostHubs    = 4
	mostAddress = 2048
	mostTitle   = 500
)

// websub returns a feed's hubs, separated by blanks, and its own address. The
// response's Link header has precedence (W3C WebSub section 4).
func websub(d download, f *courant.Feed) (hubs, self string) {
	named := strings.Fields(d.hubs)
	if len(named) == 0 {
		named = f.Hubs
	}
	var kept []string
	for _, h := range named {
		if len(h) <= mostAddress && !strings.ContainsAny(h, " \t\r\n") && len(kept) < mostHubs && !slices.Contains(kept, h) {
			kept = append(kept, h)
		}
	}
	if self = cmp.Or(d.self, f.Self); len(self) > mostAddress {
		self = ""
	}
	return strings.Join(kept, " "), self
}

// bits sets the bit of each number in a list of small numbers.
func bits(list []int) (set int) {
	for _, n := range list {
		set |= 1 << n
	}
	return set
}

// rhythm is the usual time between changes: at first the median distance of the
// items' dates, then the observed time, smoothed. It follows an acceleration faster
// than a slowdown, since nights are quiet everywhere. A catalogue counts as one change,
// a feed as many as it has new items.
func rhythm(d download, r *courant.Reading, changed int, now time.Time) time.Duration {
	if d.changed.IsZero() {
		return medianDistance(r.Items)
	}
	seen := now.Sub(d.changed)
	if len(r.Items) > 0 {
		seen /= time.Duration(changed)
	}
	switch {
	case d.rhythm == 0:
		return seen
	case seen < d.rhythm:
		return d.rhythm + (seen-d.rhythm)/2
	}
	return d.rhythm + (seen-d.rhythm)/4
}

func medianDistance(items []courant.Item) time.Duration {
	var at []int64
	for _, i := range items {
		if !i.Published.IsZero() {
			at = append(at, i.Published.Unix())
		}
	}
	slices.Sort(at)
	var distances []int64
	for i := 1; i < len(at); i++ {
		distances = append(distances, at[i]-at[i-1])
	}
	if len(distances) < 3 {
		return 0
	}
	slices.Sort(distances)
	return time.Duration(distances[len(distances)/2]) * time.Second
}

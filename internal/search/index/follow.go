package index

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/search/shard"
	"github.com/courant-platform/courant/internal/table"
)

// follower is how far the change feed has been followed.
type follower struct {
	after    int64
	kept     int64 // change that the snapshots go up to
	restored bool  // the snapshots were read, or were not usable
}

const changesAtOnce = 1000

// catchUp brings the index up to the newest change.
func (x *Index) catchUp(ctx context.Context) error {
	if x.Dir != "" && !x.follower.restored {
		if err := x.Store.Read(ctx, x.restore); err != nil {
			return err
		}
		x.follower.restored = true
	}
	for ctx.Err() == nil {
		changes, b, err := x.readChanges(ctx)
		switch {
		case err != nil:
			return err
		case x.follower.after > b.newest, x.ready.Load() && !b.hold(x.follower.after):
			if err := x.discard(b); err != nil {
				return err
			}
			continue
		case len(changes) > 0:
			x.apply(changes)
		}
		if len(changes) < changesAtOnce {
			x.ready.Store(true)
			return nil
		}
	}
	return ctx.Err()
}

// bounds are the changes that the store has: all between oldest and newest.
type bounds struct {
	oldest int64 // withdrawals up to this one are deleted
	newest int64
}

func (b *bounds) read(r store.Reader) (err error) {
	b.oldest, b.newest, err = table.ChangeBounds(r)
	return err
}

// hold reports whether an index that has followed the feed to a change can continue from
// there.
func (b bounds) hold(change int64) bool { return change >= b.oldest && change <= b.newest }

// readChanges reads the next changes and the bounds.
func (x *Index) readChanges(ctx context.Context) (changes []table.Change, b bounds, err error) {
	err = x.Store.Read(ctx, func(r store.Reader) error {
		if err := b.read(r); err != nil {
			return err
		}
		return table.ChangesWithDocuments(r, x.follower.after, changesAtOnce, func(c table.Change) { changes = append(changes, c) })
	})
	return changes, b, err
}

// decoders is the number of goroutines that decode documents.
const decoders = 2

// apply gives each change to its shard.
func (x *Index) apply(changes []table.Change) {
	docs := make([]shard.Doc, len(changes))
	var all sync.WaitGroup
	for w := range decoders {
		all.Go(func() {
			for i := w; i < len(changes); i += decoders {
				x.read(&changes[i], &docs[i])
			}
		})
	}
	all.Wait()
	var puts []shard.Doc
	var drops []int64
	for i := range changes {
		if changes[i].Withdrawn {
			drops = append(drops, changes[i].Page)
		} else {
			puts = append(puts, docs[i])
		}
	}
	x.Put(puts, drops, changes[len(changes)-1].Number)
}

// Put adds each document to its shard, removes pages, and stores the change that the
// feed has been followed to. Calls must not overlap.
func (x *Index) Put(docs []shard.Doc, drops []int64, version int64) {
	x.each(func(n int, s *shard.Shard) {
		var puts []shard.Doc
		out := slices.Clone(drops)
		for i := range docs {
			if x.shardOf(&docs[i]) == n {
				puts = append(puts, docs[i])
			} else {
				out = append(out, docs[i].ID) // it may have been in this shard before
			}
		}
		s.Apply(puts, out, version)
	})
	x.follower.after = version
	x.version.Store(version)
}

// read decodes a document. One that cannot be decoded is treated as withdrawn.
func (x *Index) read(c *table.Change, d *shard.Doc) {
	if c.Withdrawn {
		return
	}
	var err error
	if *d, err = x.doc(c); err != nil {
		x.Log.Warn("page not indexed", "url", c.Address, "error", err)
		c.Withdrawn = true
	}
}

// shardOf is the shard of a document. The offers of one model are in the same shard.
func (x *Index) shardOf(d *shard.Doc) int {
	key := shard.GroupKey(d)
	if key == 0 {
		key = uint64(d.ID)
	}
	key *= 0x9e3779b97f4a7c15
	return int((key >> 32) % uint64(len(x.shards)))
}

// doc is a document as the index takes it.
func (x *Index) doc(c *table.Change) (d shard.Doc, err error) {
	var doc courant.Document
	if err := pack.Decode(c.Document, &doc); err != nil {
		return d, err
	}
	d = shard.Doc{ID: c.Page, Source: c.Source, URL: c.Address, Title: c.Title, Language: c.Language,
		Published: store.Time(c.Published), Pictures: len(doc.Item.Images)}
	if found := store.Time(c.Stored); d.Published.IsZero() || d.Published.After(found) { // without a date, or with one of the future
		d.Published = found
	}
	if doc.Offer == nil {
		text := markup.Text(doc.Item.Content)
		if text == "" {
			text = markup.Text(doc.Item.Summary)
		}
		d.Words, d.Length = c.Title+"\n"+text, len(text)
		d.Group = strconv.FormatInt(cmp.Or(c.DuplicateOf, c.Page), 10)
		return d, nil
	}
	x.Offer(&d, doc.Whole(x.Store.Now()))
	return d, nil
}

// Offer fills in the fields of an offer.
func (x *Index) Offer(d *shard.Doc, o *courant.Offer) {
	d.Offer, d.Vendor, d.Group, d.Currency, d.Available = o.ID, strings.TrimSpace(o.Vendor), o.GroupID, o.Currency, o.Available
	d.Words = strings.Join([]string{o.Name, o.TypePrefix, o.Vendor, o.Model}, "\n")
	d.Category, d.CategoryNames = x.categories.Path(d.Source, o.CategoryPath, o.Category)
	d.Price, d.OldPrice = hundredths(o.Price), hundredths(o.OldPrice)
	d.Length = len(o.Description)
	d.Signals = make([]float32, len(x.Config.Signals))
	for i := range d.Signals {
		d.Signals[i] = float32(math.NaN())
	}
	for _, p := range o.Params {
		if p.Name == x.RegionParam {
			d.Regions, _ = shard.ParseRegions(p.Value)
			continue
		}
		if !x.signal(d.Signals, p) {
			d.Params = append(d.Params, shard.Param{Name: p.Name, Value: p.Value})
		}
	}
}

// signal stores a param that is a signal; false if it is not one.
func (x *Index) signal(values []float32, p courant.Param) bool {
	for i, name := range x.Config.Signals {
		if name == p.Name {
			v, err := strconv.ParseFloat(strings.Replace(strings.TrimSpace(p.Value), ",", ".", 1), 32)
			if err == nil {
				values[i] = float32(v)
			}
			return true
		}
	}
	return false
}

// hundredths is a decimal price in hundredths; 0 for none.
func hundredths(price string) int64 {
	whole, part, _ := strings.Cut(price, ".")
	part = (part + "00")[:2]
	n, err := strconv.ParseInt(whole+part, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/1000 {
		return 0
	}
	return n
}

// Package parse parses downloads into documents. It promises that each new or
// changed item is found once, that an unchanged one costs no write, and that a
// feed's validators are committed together with what was found.
package parse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/read"
)

// Config is the stage's section.
type Config struct {
	Workers int `toml:"workers" comment:"downloads parsed at once"`
}

// Defaults returns the default configuration.
func Defaults() Config { return Config{Workers: 2} }

// Parse is the stage.
type Parse struct {
	Store    *store.Store
	Blobs    blob.Bucket
	Config   Config
	MaxFeed  int64  // largest feed of a polled source in bytes, unpacked; 0 for the limit of files
	Pictures bool   // media fetches pictures: documents with pictures wait for it
	Owner    string // this process, for the lease of a catalogue
	Metrics  *obs.Set
	Log      *slog.Logger

	// mu guards busy.
	mu   sync.Mutex
	busy map[int64]bool // sources being parsed; true if they must be parsed again
}

const sweepEvery = 5 * time.Second

// Handlers returns the stage's handlers.
func (p *Parse) Handlers() []bus.Handler {
	return []bus.Handler{flow.FeedFetched.Handle("parse", max(p.Config.Workers, 1), p.fetched)}
}

// Run parses downloads whose notification was lost, until ctx ends.
func (p *Parse) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for age := time.Duration(0); ; age = sweepEvery {
		if err := p.sweep(ctx, age); err != nil && ctx.Err() == nil {
			p.Log.Warn("sweep failed; retrying", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (p *Parse) sweep(ctx context.Context, age time.Duration) error {
	pending, err := p.pendingOlder(ctx, age)
	if err != nil {
		return err
	}
	for _, poll := range pending {
		if err := p.fetched(ctx, poll); err != nil {
			p.Log.Warn("download not parsed; retrying", "source", poll.Source, "error", err)
		}
	}
	return nil
}

// fetched parses the pending download of a source, unless that is being done.
func (p *Parse) fetched(ctx context.Context, poll flow.Poll) error {
	if !p.enter(poll.Source) {
		return nil
	}
	for {
		if err := p.pending(ctx, poll.Source); err != nil {
			p.free(poll.Source)
			return err
		}
		if !p.leave(poll.Source) {
			return nil
		}
	}
}

// enter reports whether the caller is to parse the source; if not, the goroutine that
// is parsing it checks for another download when it is done.
func (p *Parse) enter(source int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy == nil {
		p.busy = map[int64]bool{}
	}
	_, busy := p.busy[source]
	p.busy[source] = busy
	return !busy
}

// leave reports whether the source must be parsed again; if not, it is free.
func (p *Parse) leave(source int64) (again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if again = p.busy[source]; again {
		p.busy[source] = false
	} else {
		delete(p.busy, source)
	}
	return again
}

// free lets the source be parsed again after an error, whoever asked for it meanwhile:
// the retry and the sweep do.
func (p *Parse) free(source int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.busy, source)
}

func (p *Parse) pending(ctx context.Context, source int64) error {
	d, err := p.download(ctx, source)
	if store.NoRow(err) {
		return nil // parsed already
	}
	if err != nil {
		return err
	}
	if d.blob == "" { // only the validators have changed
		return p.Store.Write(ctx, func(tx *store.Tx) error {
			_, err := promote(tx, d)
			return err
		})
	}
	err = p.read(ctx, d)
	if blob.Missing(err) {
		return p.lost(ctx, d)
	}
	return err
}

// read parses a download of any format.
func (p *Parse) read(ctx context.Context, d download) error {
	var c *catalogue
	opt := read.Options{URL: d.url, ContentType: d.kind, Kind: d.source.Kind, MaxFeed: p.MaxFeed, Now: p.Store.Now(), Offer: func(o *courant.Offer) (err error) {
		if c == nil {
			if c, err = p.newCatalogue(ctx, d); err != nil {
				return err
			}
		}
		return c.offer(o)
	}}
	if d.source.Kind == courant.KindFile {
		opt.URL, opt.MaxFeed = "", 0 // no relative address of a file is below ImportHost
	}
	first := true
	r, err := read.Read(func() (io.ReadCloser, error) {
		if !first {
			return p.Blobs.Open(ctx, d.blob)
		}
		first = false
		return p.Blobs.OpenCached(ctx, d.blob)
	}, opt)
	if c != nil {
		err = errors.Join(err, c.written())
	}
	switch {
	case errors.Is(err, errOthers):
		return nil
	case err != nil && !errors.Is(err, courant.Invalid):
		return fmt.Errorf("read %s: %w", d.url, err)
	case err != nil:
		return p.unreadable(ctx, d, report{Error: err.Error(), Links: r.Links})
	case r.Sitemap():
		return p.unreadable(ctx, d, report{Error: "not_a_feed: this is a sitemap, which lists pages but has nothing of their contents; add a feed of the site"})
	case r.Format == "opml" || r.Format == "unknown":
		return p.unreadable(ctx, d, report{Error: "not_a_feed: this is a list of addresses, not a feed; add the feeds that it lists", Links: r.Links})
	case !r.Catalog():
		return p.keep(ctx, d, &r.Reading)
	case c == nil: // an empty catalogue
		if c, err = p.newCatalogue(ctx, d); err != nil {
			return err
		}
	}
	if err := errors.Join(c.finish(&r), c.written()); err != nil {
		if errors.Is(err, errOthers) {
			return nil
		}
		return err
	}
	p.Metrics.Add("courant_parse_feeds_total", 1, "result", "read")
	p.Metrics.Add("courant_parse_offers_total", float64(c.fresh), "result", "changed")
	p.Metrics.Add("courant_parse_offers_total", float64(c.seen-c.fresh), "result", "unchanged")
	return nil
}

// lost drops a download whose body is gone. The old validators stay, so that the next
// poll fetches it again.
func (p *Parse) lost(ctx context.Context, d download) error {
	p.Log.Warn("download missing from the blob store; fetching it again", "url", d.url)
	return p.Store.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(dropPending, d.source.ID, d.asOf); err != nil {
			return err
		}
		_, err := tx.Exec(noteLost, d.source.ID, d.asOf)
		return err
	})
}

// unreadable reports a download that is no feed. It keeps the validators, since the same
// bytes would fail again.
func (p *Parse) unreadable(ctx context.Context, d download, why report) error {
	p.Metrics.Add("courant_parse_feeds_total", 1, "result", "unreadable")
	return p.Store.Write(ctx, func(tx *store.Tx) error {
		newest, err := promote(tx, d)
		if err != nil || !newest {
			return err
		}
		_, err = tx.Exec(noteReport, d.source.ID, why.text())
		return err
	})
}

// keep writes the changes of a reading, the validators and the notifications.
func (p *Parse) keep(ctx context.Context, d download, reading *courant.Reading) error {
	found := items(reading)
	if err := p.packNew(ctx, d, found); err != nil {
		return err
	}
	var changed []entry
	err := p.Store.Write(ctx, func(tx *store.Tx) error {
		newest, err := promote(tx, d)
		if err != nil || !newest {
			return err
		}
		changed, err = changes(tx, d, found)
		if err != nil {
			return err
		}
		if err := p.documents(tx, d, changed); err != nil {
			return err
		}
		return noteFeed(tx, d, reading, len(reading.Items), len(changed))
	})
	if err == nil {
		p.Metrics.Add("courant_parse_feeds_total", 1, "result", "read")
		p.Metrics.Add("courant_parse_items_total", float64(len(changed)), "result", "changed")
		p.Metrics.Add("courant_parse_items_total", float64(len(found)-len(changed)), "result", "unchanged")
	}
	return err
}

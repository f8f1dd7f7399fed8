// Package parse reads downloads into documents. It promises that each new or
// changed item is found once, that an unchanged one costs no write, and that a
// feed's validators are kept in the transaction that keeps what was found.
package parse

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/read/feed"
)

// Config is the stage's section.
type Config struct {
	Workers int `toml:"workers" comment:"downloads read at once"`
}

// Defaults are the working values.
func Defaults() Config { return Config{Workers: 2} }

// Parse is the stage.
type Parse struct {
	Store    *store.Store
	Blobs    blob.Bucket
	Config   Config
	Pictures bool // media fetches pictures: documents that have some wait for it
	Metrics  *obs.Set
	Log      *slog.Logger
}

const sweepEvery = 5 * time.Second

// Handlers are what the stage wants to hear.
func (p *Parse) Handlers() []bus.Handler {
	return []bus.Handler{flow.FeedFetched.Handle("parse", max(p.Config.Workers, 1), p.fetched)}
}

// Run takes up downloads that no bell announced, until ctx ends.
func (p *Parse) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for age := time.Duration(0); ; age = sweepEvery {
		if err := p.sweep(ctx, age); err != nil && ctx.Err() == nil {
			p.Log.Warn("downloads wait for the next sweep", "error", err)
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
			p.Log.Warn("download not read", "source", poll.Source, "error", err)
		}
	}
	return nil
}

// fetched reads the pending download of a source.
func (p *Parse) fetched(ctx context.Context, poll flow.Poll) error {
	d, err := p.download(ctx, poll.Source)
	if store.NoRow(err) {
		return nil // read already
	}
	if err != nil {
		return err
	}
	if d.blob == "" { // the same bytes under new validators
		return p.Store.Write(ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(promote, d.source.ID, d.asOf)
			return err
		})
	}
	body, err := p.Blobs.GetCached(ctx, d.blob)
	if blob.Missing(err) {
		return p.lost(ctx, d)
	}
	if err != nil {
		return err
	}
	reading, err := feed.Read(body, feed.Options{URL: d.url, ContentType: d.kind})
	if err != nil && !errors.Is(err, courant.Invalid) {
		return fmt.Errorf("read %s: %w", d.url, err)
	}
	if err != nil {
		return p.unreadable(ctx, d, report{Error: err.Error(), Links: reading.Links})
	}
	return p.keep(ctx, d, reading)
}

// lost asks again for a download whose body is gone: the old validators stay.
func (p *Parse) lost(ctx context.Context, d download) error {
	p.Log.Warn("a download is gone and will be asked for again", "url", d.url)
	return p.Store.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(dropPending, d.source.ID, d.asOf)
		return err
	})
}

// unreadable keeps the validators of what is no feed: the same bytes would be
// none again.
func (p *Parse) unreadable(ctx context.Context, d download, why report) error {
	p.Metrics.Add("courant_parse_feeds_total", 1, "result", "unreadable")
	return p.Store.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(promote, d.source.ID, d.asOf)
		if err != nil || n == 0 {
			return err
		}
		_, err = tx.Exec(noteReport, d.source.ID, why.text())
		return err
	})
}

// keep writes what is new in a reading, the validators and the messages.
func (p *Parse) keep(ctx context.Context, d download, reading *courant.Reading) error {
	found := items(d, reading)
	if err := p.packNew(ctx, d, found); err != nil {
		return err
	}
	var changed []entry
	err := p.Store.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(promote, d.source.ID, d.asOf)
		if err != nil || n == 0 {
			return err
		}
		changed, err = changes(tx, d, found)
		if err != nil {
			return err
		}
		if err := p.documents(tx, d, changed); err != nil {
			return err
		}
		return noteFeed(tx, d, reading, len(changed))
	})
	if err == nil {
		p.Metrics.Add("courant_parse_feeds_total", 1, "result", "read")
		p.Metrics.Add("courant_parse_items_total", float64(len(changed)), "result", "changed")
		p.Metrics.Add("courant_parse_items_total", float64(len(found)-len(changed)), "result", "unchanged")
	}
	return err
}

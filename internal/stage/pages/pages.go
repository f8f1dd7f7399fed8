// Package pages renders the light page of a document: clean, links and pictures
// rewritten, rendered once, compressed once. The newest version of the source
// with the highest rank for the address is live; a withdrawn page is gone.
package pages

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/store"
)

// Config is the stage's section.
type Config struct {
	Workers int `toml:"workers" comment:"pages rendered at once; they share commits"`
}

// Defaults returns the default configuration.
func Defaults() Config { return Config{Workers: 16} }

// Pages is the stage.
type Pages struct {
	Store    *store.Store
	Config   Config
	Owner    string // this process, for the lease of its id prefix
	Pictures bool   // media fetches pictures
	Metrics  *obs.Set
	Log      *slog.Logger

	ids  ids
	zips sync.Pool
}

const (
	sweepEvery   = 2 * time.Second
	sweepBatch   = 500
	batchWorkers = 2 // one reads while the other writes
)

// Handlers returns the stage's handlers.
func (p *Pages) Handlers() []bus.Handler {
	p.zips.New = newZip
	return []bus.Handler{
		flow.DocumentReady.Handle("pages", max(p.Config.Workers, 1), p.ready),
		flow.BatchReady.Handle("pages", batchWorkers, p.batch),
		flow.PageWanted.Handle("pages", 1, p.wanted),
		flow.PageKept.Handle("pages", 1, p.kept),
	}
}

// Run processes ready documents whose notification was lost, until ctx ends.
func (p *Pages) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	var tidied time.Time
	for {
		err := errors.Join(p.sweep(ctx), p.sweepBatches(ctx), p.prices(ctx), p.number(ctx))
		if err == nil && p.Store.Now().Sub(tidied) >= forgetEvery {
			tidied, err = p.Store.Now(), p.forget(ctx)
		}
		if err != nil && ctx.Err() == nil {
			p.Log.Warn("sweep failed; retrying", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (p *Pages) sweep(ctx context.Context) error {
	for {
		due, err := p.due(ctx)
		if err != nil {
			return err
		}
		for _, v := range due {
			if err := p.ready(ctx, v); err != nil {
				return err
			}
		}
		if len(due) < sweepBatch {
			return nil
		}
	}
}

// ready renders one document and makes its page live.
func (p *Pages) ready(ctx context.Context, v flow.Version) error {
	d, err := p.read(ctx, v)
	if store.NoRow(err) {
		return nil // rendered already, or a later version has come
	}
	if err != nil {
		return err
	}
	var page rendered
	if !d.doc.Item.Withdrawn {
		if page, err = p.render(d); err != nil {
			return errors.Join(courant.Invalid, err)
		}
		if d.doc.Offer == nil {
			d.sketch = sketchOf(cmp.Or(d.doc.Item.Content, d.doc.Item.Summary))
		}
	}
	var kept bool
	err = p.change(ctx, func(tx *store.Tx, n *numbers) (err error) {
		kept, err = p.keep(tx, n, d, page)
		return err
	})
	if err != nil {
		return err
	}
	result := "printed"
	if !kept {
		result = "passed over"
	} else if d.doc.Item.Withdrawn {
		result = "withdrawn"
	}
	p.Metrics.Add("courant_pages_total", 1, "result", result)
	p.Metrics.Observe("courant_pages_fetched_to_live_seconds", p.Store.Now().Sub(d.fetched))
	return nil
}

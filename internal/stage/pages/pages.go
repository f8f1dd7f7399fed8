// Package pages renders the light page of a document: clean, links and pictures
// rewritten, rendered once, compressed once. The newest version of the source
// with the highest rank for the address is live; a withdrawn page is gone.
package pages

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/store"
)

// Config is the stage's section.
type Config struct {
	Workers int `toml:"workers" comment:"largest number of pages that go live in one transaction"`
}

// Defaults returns the default configuration.
func Defaults() Config { return Config{Workers: 64} }

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
	sets gather
}

const (
	sweepEvery   = 2 * time.Second
	sweepBatch   = 500
	batchWorkers = 2 // one reads while the other writes
	setsAtOnce   = 2 // one is rendered while the other is written
)

// Handlers returns the stage's handlers.
func (p *Pages) Handlers() []bus.Handler {
	p.zips.New = newZip
	p.sets = gather{most: max(p.Config.Workers, 1), leaders: setsAtOnce, process: p.set}
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
		if err := p.sets.all(ctx, due); err != nil {
			return err
		}
		if len(due) < sweepBatch {
			return nil
		}
	}
}

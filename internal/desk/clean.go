package desk

import (
	"context"
	"time"

	"github.com/courant-platform/courant/internal/port/store"
)

const (
	itemsAtOnce = 1000             // deleted in one transaction
	cleanEvery  = 10 * time.Second // removed sources are looked for
)

// Run cleans up after removed sources until ctx ends. failed is called with each error.
func (d *Desk) Run(ctx context.Context, failed func(error)) {
	tick := time.NewTicker(cleanEvery)
	defer tick.Stop()
	for {
		if err := d.Clean(ctx); err != nil && ctx.Err() == nil {
			failed(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Clean deletes the items of removed sources, in short transactions, since a catalogue may
// have a million. If it is interrupted, the next call continues.
func (d *Desk) Clean(ctx context.Context) error {
	for {
		var source int64
		err := d.Store.Row(ctx, nextRemoval).Scan(&source)
		if store.NoRow(err) {
			return nil
		}
		if err == nil {
			err = d.dropItems(ctx, source)
		}
		if err != nil {
			return err
		}
	}
}

// dropItems deletes the items of a removed source, and then forgets the removal.
func (d *Desk) dropItems(ctx context.Context, source int64) error {
	for more := true; more; {
		err := d.Store.Write(ctx, func(tx *store.Tx) error {
			n, err := tx.Exec(dropItems, source, itemsAtOnce)
			if more = n == itemsAtOnce; err != nil || more {
				return err
			}
			_, err = tx.Exec(dropRemoval, source)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

package desk

import (
	"context"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
)

// Zones says which zones may be switched. The search fleet implements it.
type Zones interface {
	// MaySwitch returns why a zone cannot be switched on or off: NotFound for an unknown
	// zone, Conflict for the last one that is on.
	MaySwitch(ctx context.Context, zone string, on bool) error
}

// SwitchZone takes a zone of the search out of use or puts it back. All fronts follow
// within about two seconds.
func (d *Desk) SwitchZone(ctx context.Context, who courant.Visitor, zones Zones, zone string, on bool) error {
	if err := who.MayOperate(); err != nil {
		return err
	}
	if err := zones.MaySwitch(ctx, zone, on); err != nil {
		return err
	}
	return d.Store.Write(ctx, func(tx *store.Tx) error {
		off := false
		if err := tx.Row(readZone, zone).Scan(&off); err != nil && !store.NoRow(err) {
			return err
		}
		if off == !on {
			return nil
		}
		if _, err := tx.Exec(putZone, zone, !on, store.Millis(tx.Now())); err != nil {
			return err
		}
		return note(tx, who, "zone.switch", zone, Change{Before: !off, After: on})
	})
}

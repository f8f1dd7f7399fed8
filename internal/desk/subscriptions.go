package desk

import (
	"context"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// Subscribe creates a subscription to downloads, which begins with the next download,
// or changes the kinds of an existing one. Kinds are feed, catalog and picture.
func (d *Desk) Subscribe(ctx context.Context, who courant.Visitor, name string, kinds []string) error {
	if err := who.MayOperate(); err != nil {
		return err
	}
	return d.Store.Write(ctx, func(tx *store.Tx) error {
		before, err := kindsOf(tx.Reader, name)
		if err != nil {
			return err
		}
		newest, err := table.NumberDownloads(tx)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(putSubscription, name, strings.Join(kinds, ","), newest, tx.Now().UnixMilli()); err != nil {
			return err
		}
		return note(tx, who, "subscription.put", name, Change{Before: before, After: kinds})
	})
}

// Unsubscribe ends a subscription. An unknown name is not an error.
func (d *Desk) Unsubscribe(ctx context.Context, who courant.Visitor, name string) error {
	if err := who.MayOperate(); err != nil {
		return err
	}
	return d.Store.Write(ctx, func(tx *store.Tx) error {
		before, err := kindsOf(tx.Reader, name)
		if err != nil || before == nil {
			return err
		}
		if _, err := tx.Exec(dropSubscription, name); err != nil {
			return err
		}
		return note(tx, who, "subscription.remove", name, Change{Before: before})
	})
}

// kindsOf are the kinds of a subscription, nil if there is none.
func kindsOf(r store.Reader, name string) (kinds []string, err error) {
	var list string
	err = r.Row(readKinds, name).Scan(&list)
	if store.NoRow(err) {
		return nil, nil
	}
	return strings.Split(list, ","), err
}

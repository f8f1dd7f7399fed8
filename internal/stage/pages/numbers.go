package pages

import (
	"context"
	"time"

	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// numbers assigns change-feed numbers to the changes of one transaction. A follower
// that has read up to a number never misses a lower one. If transactions are serial, a
// change gets its number at once. Otherwise they may commit in another order than they
// run, so one process numbers what has committed.
type numbers struct {
	tx     *store.Tx
	serial bool
	last   int64
	any    bool
}

// next returns the number of a change, 0 if it is numbered later.
func (n *numbers) next() (int64, error) {
	n.any = true
	if !n.serial {
		return 0, nil
	}
	if n.last == 0 {
		var err error
		if _, n.last, err = table.ChangeBounds(n.tx.Reader); err != nil {
			return 0, err
		}
	}
	n.last++
	return n.last, nil
}

// notify emits the notification of the changes.
func (n *numbers) notify() {
	switch {
	case !n.any:
	case n.serial:
		n.tx.Emit(flow.PageChanged.Encode(flow.Changes{Newest: n.last}))
	default:
		n.tx.Emit(flow.PageKept.Encode(flow.Kept{}))
	}
}

// change runs f in a transaction that changes pages.
func (p *Pages) change(ctx context.Context, f func(*store.Tx, *numbers) error) error {
	return p.Store.Write(ctx, func(tx *store.Tx) error {
		n := numbers{tx: tx, serial: p.Store.Serial()}
		if err := f(tx, &n); err != nil {
			return err
		}
		n.notify()
		return nil
	})
}

const (
	numberBatch = 1000
	numberTries = 50
	numberAgain = 20 * time.Millisecond // time between two tries
	forgetAfter = 90 * 24 * time.Hour
	forgetEvery = time.Hour
	forgetBatch = 500
)

// kept handles changes that are numbered later.
func (p *Pages) kept(ctx context.Context, _ flow.Kept) error { return p.number(ctx) }

// number assigns numbers to what had committed when it was called. Pages that stay
// locked for longer than it tries are left to the next sweep.
func (p *Pages) number(ctx context.Context) error {
	if p.Store.Serial() {
		return nil
	}
	for range numberTries {
		var n, left int
		err := p.Store.Write(ctx, func(tx *store.Tx) (err error) {
			n, left, err = numberSome(tx)
			return err
		})
		if err != nil || left == 0 {
			return err
		}
		if n == numberBatch {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(numberAgain):
		}
	}
	return nil
}

// numberSome numbers n changes and returns whether more are left (1) or not (0). It locks
// the counter until it commits, so that numbers commit in order. It skips locked pages:
// waiting for them could deadlock with a transaction that locks pages in another order.
func numberSome(tx *store.Tx) (n, left int, err error) {
	if err := tx.Row(countUnnumbered).Scan(&left); err != nil || left == 0 {
		return 0, 0, err
	}
	if _, err := table.HoldCount(tx, "changes"); err != nil {
		return 0, 0, err
	}
	_, last, err := table.ChangeBounds(tx.Reader)
	if err != nil {
		return 0, 0, err
	}
	ids, err := numbersOf(tx, unnumbered, numberBatch)
	if err != nil {
		return 0, 0, err
	}
	for _, id := range ids {
		last++
		if _, err := tx.Exec(numberPage, id, last); err != nil {
			return 0, 0, err
		}
	}
	if err := tx.Row(countUnnumbered).Scan(&left); err != nil || len(ids) == 0 {
		return 0, left, err
	}
	if err := table.PutCount(tx, "changes", last); err != nil {
		return 0, 0, err
	}
	tx.Emit(flow.PageChanged.Encode(flow.Changes{Newest: last}))
	return len(ids), left, nil
}

func numbersOf(tx *store.Tx, query string, args ...any) (all []int64, err error) {
	err = tx.Rows(func(rows store.Rows) error {
		var n int64
		err := rows.Scan(&n)
		all = append(all, n)
		return err
	}, query, args...)
	return all, err
}

// forget deletes the rows of pages that were withdrawn long ago. Followers of the change
// feed that are further behind are told to start again.
func (p *Pages) forget(ctx context.Context) error {
	for {
		n := 0
		err := p.Store.Write(ctx, func(tx *store.Tx) (err error) {
			n, err = forgetSome(tx)
			return err
		})
		if err != nil || n < forgetBatch {
			return err
		}
	}
}

func forgetSome(tx *store.Tx) (n int, err error) {
	var ids []int64
	var newest int64
	err = tx.Rows(func(rows store.Rows) error {
		var id, change int64
		err := rows.Scan(&id, &change)
		ids, newest = append(ids, id), max(newest, change)
		return err
	}, longWithdrawn, tx.Now().Add(-forgetAfter).UnixMilli(), forgetBatch)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	for _, id := range ids {
		for _, drop := range []string{dropEvents, dropBands, dropPage} {
			if _, err := tx.Exec(drop, id); err != nil {
				return 0, err
			}
		}
	}
	return len(ids), table.PutCount(tx, "forgotten", newest)
}

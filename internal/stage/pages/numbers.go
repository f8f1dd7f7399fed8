package pages

import (
	"context"
	"time"

	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// numbers gives the changes of one transaction their places in the change feed:
// who has read up to a number never misses one below it. Where transactions run
// one at a time a change gets its number at once. Elsewhere they commit in another
// order than they run, and one process numbers what has committed.
type numbers struct {
	tx     *store.Tx
	serial bool
	last   int64
	any    bool
}

// next is the number of a change, 0 if it gets one later.
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

// tell rings for what has changed.
func (n *numbers) tell() {
	switch {
	case !n.any:
	case n.serial:
		n.tx.Emit(flow.PageChanged.Encode(flow.Changes{Newest: n.last}))
	default:
		n.tx.Emit(flow.PageKept.Encode(flow.Kept{}))
	}
}

// change runs f in a transaction in which pages change.
func (p *Pages) change(ctx context.Context, f func(*store.Tx, *numbers) error) error {
	return p.Store.Write(ctx, func(tx *store.Tx) error {
		n := numbers{tx: tx, serial: p.Store.Serial()}
		if err := f(tx, &n); err != nil {
			return err
		}
		n.tell()
		return nil
	})
}

const (
	numberBatch = 1000
	numberTries = 50
	numberAgain = 20 * time.Millisecond // between two tries
	forgetAfter = 90 * 24 * time.Hour
	forgetEvery = time.Hour
	forgetBatch = 500
)

// kept is rung where changes get their numbers later.
func (p *Pages) kept(ctx context.Context, _ flow.Kept) error { return p.number(ctx) }

// number numbers what had committed when it was called. What somebody has locked for
// longer than it tries, the next sweep numbers.
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

// numberSome numbers n changes and says how many it left. It waits for who else
// numbers and holds the right to it until it commits, so that numbers commit in their
// order. Pages that somebody is about to change it leaves, for who has locked pages one
// after the other may not be waited for in another order.
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

// forget deletes what is left of pages that were withdrawn long ago. Who follows
// the change feed from before that is told to begin again.
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
		for _, drop := range []string{dropEvents, dropLikeness, dropPage} {
			if _, err := tx.Exec(drop, id); err != nil {
				return 0, err
			}
		}
	}
	return len(ids), table.PutCount(tx, "forgotten", newest)
}

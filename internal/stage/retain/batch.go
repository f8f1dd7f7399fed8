package retain

import (
	"context"
	"time"

	"github.com/courant-platform/courant/internal/port/store"
)

// Rows are deleted a batch at a time. The size of a batch follows from how long the
// last one took, since other writers wait as long.
const (
	firstSize = 100
	leastSize = 10
	mostSize  = 500
	longBatch = 20 * time.Millisecond // what a batch may take
	leastRest = 20 * time.Millisecond // shortest pause between two batches
	readSize  = 500                   // rows read at a time
	walkEvery = 24 * time.Hour
)

// nextSize returns the size of the batch after one of a size that took a time.
func nextSize(size int, took time.Duration) int {
	switch {
	case took > longBatch:
		return max(leastSize, int(int64(size)*int64(longBatch)/int64(took)))
	case took < longBatch/4:
		return min(mostSize, size*2)
	}
	return size
}

// rest pauses after a batch for as long as it took or longer, and returns an error when
// ctx ends.
func rest(ctx context.Context, took time.Duration) error {
	timer := time.NewTimer(max(took, leastRest))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// aged deletes the old rows of a table, the oldest first.
func (t *turn) aged(ctx context.Context, rule agedRule) error {
	cut, ends := t.before(rule.age(t.Config))
	for ends {
		var keys [][]any
		size := t.size
		took, err := t.write(ctx, func(tx *store.Tx) (err error) {
			if keys, err = readKeys(tx.Reader, rule.columns, rule.find, cut, size); err != nil {
				return err
			}
			_, err = tx.ExecAll(rule.drop, keys)
			return err
		})
		if err != nil {
			return err
		}
		t.count(rule.table, len(keys))
		if len(keys) < size {
			return nil
		}
		t.size = nextSize(size, took)
		if err := rest(ctx, took); err != nil {
			return err
		}
	}
	return nil
}

func readKeys(r store.Reader, columns int, find string, args ...any) (keys [][]any, err error) {
	err = r.Rows(func(rows store.Rows) error {
		key, dest := make([]any, columns), make([]any, columns)
		for i := range key {
			dest[i] = &key[i]
		}
		err := rows.Scan(dest...)
		keys = append(keys, key)
		return err
	}, find, args...)
	return keys, err
}

// walk goes through a table in the order of its key and deletes what has ended.
func (t *turn) walk(ctx context.Context, rule walkRule) error {
	cut, ends := t.before(rule.age(t.Config))
	if !ends {
		return nil
	}
	if due, err := t.due(ctx, rule.table, walkEvery); err != nil || !due {
		return err
	}
	began := t.Store.Now()
	for after := rule.first; ; {
		from := time.Now()
		last, n, old, err := t.readSome(ctx, rule, cut, after)
		if err == nil {
			err = t.drop(ctx, rule, old)
		}
		if err != nil {
			return err
		}
		if n < readSize {
			break
		}
		if err := t.between(ctx, time.Since(from)); err != nil {
			return err
		}
		after = last
	}
	return t.done(ctx, rule.table, began)
}

// readSome reads the next n rows of a walk and returns the last key and the parameters of
// drop for those that have ended.
func (t *turn) readSome(ctx context.Context, rule walkRule, cut int64, after any) (last any, n int, old [][]any, err error) {
	err = t.Store.Read(ctx, func(r store.Reader) error {
		n, old = 0, nil
		return r.Rows(func(rows store.Rows) error {
			var ended bool
			err := rows.Scan(&last, &ended)
			if n++; ended {
				old = append(old, []any{last, cut})
			}
			return err
		}, rule.find, cut, after, readSize)
	})
	return last, n, old, err
}

// drop deletes rows that a walk has found, if they have still ended.
func (t *turn) drop(ctx context.Context, rule walkRule, old [][]any) error {
	return t.inBatches(ctx, rule.table, old, func(tx *store.Tx, some [][]any) (n int, err error) {
		if rule.lock != "" {
			if some, err = lockSome(tx, rule.lock, some); err != nil {
				return 0, err
			}
		}
		changed, err := tx.ExecAll(rule.drop, some)
		for _, c := range changed {
			n += int(c)
		}
		return n, err
	})
}

// lockSome locks the rows whose keys come first in the parameters, and returns the
// parameters of those that no one else has locked. It waits for nobody, so that it cannot
// deadlock with a transaction that locks rows in another order.
func lockSome(tx *store.Tx, lock string, all [][]any) (locked [][]any, err error) {
	keys := make([][]any, len(all))
	for i, args := range all {
		keys[i] = args[:1]
	}
	err = tx.RowsAll(func(i int, _ store.Rows) error {
		locked = append(locked, all[i])
		return nil
	}, lock, keys)
	return locked, err
}

// inBatches calls f in transactions for a few of all at a time, and counts what it
// deleted.
func (t *turn) inBatches(ctx context.Context, table string, all [][]any, f func(*store.Tx, [][]any) (int, error)) error {
	for len(all) > 0 {
		some := all[:min(t.size, len(all))]
		n := 0
		took, err := t.write(ctx, func(tx *store.Tx) (err error) {
			n, err = f(tx, some)
			return err
		})
		if err != nil {
			return err
		}
		t.count(table, n)
		if len(some) == t.size || took > longBatch {
			t.size = nextSize(t.size, took)
		}
		all = all[len(some):]
		if err := rest(ctx, took); err != nil {
			return err
		}
	}
	return nil
}

// between pauses between two reads and keeps the lease.
func (t *turn) between(ctx context.Context, took time.Duration) error {
	if err := rest(ctx, took); err != nil {
		return err
	}
	return t.renew(ctx)
}

// due reports whether a walk is due, after the last one that came to the end. One that
// began in the future was begun by a clock that has been corrected since.
func (t *turn) due(ctx context.Context, name string, every time.Duration) (bool, error) {
	at, err := t.lastDone(ctx, name)
	since := t.Store.Now().Sub(at)
	return err == nil && (since >= every || since < 0), err
}

func (t *turn) lastDone(ctx context.Context, name string) (at time.Time, err error) {
	err = t.Store.Read(ctx, func(r store.Reader) error {
		at, err = lastDone(r, name)
		return err
	})
	return at, err
}

// lastDone returns when the last walk that came to the end began; the zero time if
// there was none.
func lastDone(r store.Reader, name string) (time.Time, error) {
	var at int64
	err := r.Row(readDone, name).Scan(&at)
	if store.NoRow(err) {
		err = nil
	}
	return store.Time(at), err
}

func (t *turn) done(ctx context.Context, name string, began time.Time) error {
	_, err := t.write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(putDone, name, began.UnixMilli())
		return err
	})
	return err
}

package parse

import (
	"fmt"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/read"
)

// finish commits the reading: the last changes, the withdrawals, the validators and the
// notifications.
func (c *catalogue) finish(r *read.Result) error {
	keep, warning := c.judge(r)
	if warning != nil {
		r.Warnings = append(r.Warnings, *warning)
	}
	gone := 0
	if !keep {
		var err error
		if gone, err = c.withdrawMissing(); err != nil {
			return err
		}
	}
	if c.whole {
		for len(c.waits) > 0 {
			n := min(len(c.waits), batchSize)
			if err := c.batch(c.waits[:n]); err != nil {
				return err
			}
			c.waits = c.waits[n:]
		}
	}
	if err := c.written(); err != nil {
		return err
	}
	shrunk := warning != nil && warning.Code == "catalog-shrunk"
	return c.p.Store.Write(c.ctx, func(tx *store.Tx) error {
		newest, err := promote(tx, c.d)
		if err != nil || !newest {
			return err
		}
		if err := c.putItems(tx, c.waits); err != nil {
			return err
		}
		if err := c.p.documents(tx, c.d, c.waits); err != nil {
			return err
		}
		if err := c.noteShrunk(tx, shrunk); err != nil {
			return err
		}
		return noteFeed(tx, c.d, &r.Reading, c.seen, c.fresh+gone)
	})
}

// judge reports whether offers that are missing from the file are kept, and returns a
// warning if they are kept although the source's setting says otherwise.
func (c *catalogue) judge(r *read.Result) (keep bool, warning *courant.Warning) {
	missing, before := c.missing()
	switch {
	case missing == 0 || c.d.absence == courant.AbsenceKept:
		return true, nil
	case !r.Complete:
		return true, &courant.Warning{Code: "catalog-cut-off", Element: "offers", Text: fmt.Sprintf(
			"the file is truncated or damaged; the %d offers that are missing from it were not withdrawn", missing)}
	case 2*missing > before && (before >= guardFrom || c.seen == 0) && !c.believed():
		return true, &courant.Warning{Code: "catalog-shrunk", Element: "offers", Text: fmt.Sprintf(
			"%d of %d offers are missing from the file; they will be withdrawn if they are still missing after a day", missing, before)}
	}
	return false, nil
}

// believed reports whether the catalogue has been that small for long enough.
func (c *catalogue) believed() bool {
	return !c.d.shrunk.IsZero() && c.p.Store.Now().Sub(c.d.shrunk) >= believeAfter
}

// noteShrunk stores since when most offers are missing. As long as they are, the
// validators are dropped, so that an unchanged catalogue is judged again too.
func (c *catalogue) noteShrunk(tx *store.Tx, shrunk bool) error {
	since := time.Time{}
	if shrunk {
		if since = c.d.shrunk; since.IsZero() {
			since = tx.Now()
		}
	}
	if _, err := tx.Exec(noteShrunk, c.d.source.ID, store.Millis(since)); err != nil || !shrunk {
		return err
	}
	_, err := tx.Exec(forgetValidators, c.d.source.ID)
	return err
}

// withdrawMissing withdraws the offers that are missing from the file.
func (c *catalogue) withdrawMissing() (n int, err error) {
	var gone []entry
	err = c.p.Store.Read(c.ctx, func(r store.Reader) error {
		return r.Rows(func(rows store.Rows) error {
			var key, hash, url []byte
			var withdrawn bool
			if err := rows.Scan(&key, &hash, &url, &withdrawn); err != nil {
				return err
			}
			at, ok := c.known.keys.find(c.known, keyDigest([16]byte(key)))
			if withdrawn || !ok || c.known.at(at).seen {
				return nil
			}
			e := entry{key: [16]byte(key), hash: []byte{}, item: courant.Item{Withdrawn: true}}
			copy(e.url[:], url)
			gone = append(gone, e)
			return nil
		}, allItems, c.d.source.ID)
	})
	for left := gone; len(left) > 0 && err == nil; {
		n := min(len(left), batchSize)
		err = c.batch(left[:n])
		left = left[n:]
	}
	return len(gone), err
}

// missing counts the offers from before, and those of them that are missing from the file.
func (c *catalogue) missing() (missing, before int) {
	for s := range c.known.all {
		if s.before {
			before++
			if !s.seen {
				missing++
			}
		}
	}
	return missing, before
}

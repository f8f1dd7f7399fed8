package pages

import (
	"context"
	"encoding/json"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// prices changes the pages of offers whose sale has begun or ended: the page is rendered
// again, and followers of the change feed, such as the index, learn of it.
func (p *Pages) prices(ctx context.Context) error {
	for {
		var due [][]byte
		err := p.Store.Read(ctx, func(r store.Reader) error {
			return r.Rows(func(rows store.Rows) error {
				var url []byte
				err := rows.Scan(&url)
				due = append(due, url)
				return err
			}, duePrices, p.Store.Now().UnixMilli(), sweepBatch)
		})
		if err != nil || len(due) == 0 {
			return err
		}
		err = p.change(ctx, func(tx *store.Tx, n *numbers) error {
			for _, url := range due {
				if err := reprice(tx, n, url); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		p.Metrics.Add("courant_pages_total", float64(len(due)), "result", "repriced")
		if len(due) < sweepBatch {
			return nil
		}
	}
}

// reprice changes one page, and notes when its price changes next.
func reprice(tx *store.Tx, n *numbers, url []byte) error {
	var next time.Time
	was, err := readLive(tx, url)
	if err == nil && !was.withdrawn {
		next, err = repriceLive(tx, n, url, was)
	}
	if err != nil && !store.NoRow(err) {
		return err
	}
	if next.IsZero() {
		_, err = tx.Exec(dropPrice, url)
		return err
	}
	return putReprice(tx, url, next)
}

// repriceLive changes a live page and returns when its price changes next. A page that
// was rendered is queued to be rendered again. One that was not is only counted as
// changed: it is rendered when a reader requests it.
func repriceLive(tx *store.Tx, n *numbers, url []byte, was live) (next time.Time, err error) {
	var size int
	var doc courant.Document
	packed, err := table.Body(tx.Reader, was.id)
	if err != nil {
		return next, err
	}
	if err := pack.Decode(packed, &doc); err != nil || doc.Offer == nil {
		return next, err
	}
	if err := tx.Row(sizeOfHTML, was.id).Scan(&size); err != nil {
		return next, err
	}
	next = doc.Offer.PriceChanges(tx.Now())
	line, err := json.Marshal(courant.Step{At: tx.Now(), Step: "repriced", Note: "a sale has begun or ended"})
	if err != nil {
		return next, err
	}
	trace := string(line) + "\n"
	if size > 0 {
		_, err = table.Requeue(tx, table.Requeued{URL: url, Source: was.source, AsOf: was.asOf, State: stateReady, Due: tx.Now(), Trace: trace})
		return next, err
	}
	change, err := n.next()
	if err == nil {
		_, err = tx.Exec(touchPage, was.id, change)
	}
	if err == nil {
		_, err = tx.Exec(putEvent, was.id, was.asOf, tx.Now().UnixMilli(), trace)
	}
	return next, err
}

// putReprice notes when the price of a page changes next.
func putReprice(tx *store.Tx, url []byte, at time.Time) error {
	_, err := tx.Exec(putPrice, url, at.UnixMilli())
	return err
}

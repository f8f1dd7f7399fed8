package pages

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// batch makes the pages of a batch live without rendering them: most products of a
// large catalogue change again before anybody reads them.
func (p *Pages) batch(ctx context.Context, b flow.Batch) error {
	all, err := p.readBatch(ctx, b)
	if store.NoRow(err) {
		return nil // live already
	}
	if err != nil {
		return err
	}
	live := 0
	err = p.change(ctx, func(tx *store.Tx, n *numbers) error {
		live = 0
		if dropped, err := tx.Exec(dropBatch, b.Source, b.AsOf, b.N); err != nil || dropped == 0 {
			return err
		}
		kept, err := p.keep(tx, n, all)
		for _, k := range kept {
			if k {
				live++
			}
		}
		return err
	})
	if err == nil {
		p.Metrics.Add("courant_pages_total", float64(live), "result", "kept")
		p.Metrics.Add("courant_pages_total", float64(len(all)-live), "result", "passed over")
	}
	return err
}

// readBatch reads the documents of a batch.
func (p *Pages) readBatch(ctx context.Context, b flow.Batch) ([]*document, error) {
	var content []byte
	var fetched int64
	err := p.Store.Read(ctx, func(r store.Reader) error {
		return r.Row(readBatch, b.Source, b.AsOf, b.N).Scan(&fetched, &content)
	})
	if err != nil {
		return nil, err
	}
	found, err := pack.DecodeList[courant.Found](content)
	if err != nil {
		return nil, errors.Join(courant.Invalid, err)
	}
	step, err := json.Marshal(courant.Step{At: store.Time(fetched), Step: "fetched", Note: "in a batch"})
	if err != nil {
		return nil, err
	}
	out := make([]*document, len(found))
	for i, f := range found {
		out[i] = &document{url: f.Key, source: b.Source, rank: f.Rank, asOf: b.AsOf, fetched: store.Time(fetched),
			reprice: f.Reprice.Time, content: f.Document, trace: string(step) + "\n", doc: courant.Document{URL: f.Address, Source: b.Source,
				Item: courant.Item{Title: f.Title, Hash: hex.EncodeToString(f.Hash), Withdrawn: f.Withdrawn}}}
	}
	return out, nil
}

// wanted queues a page that a reader requests to be rendered. Media fetches its
// pictures first, as for any document.
func (p *Pages) wanted(ctx context.Context, w flow.Page) error {
	step, err := json.Marshal(courant.Step{At: p.Store.Now(), Step: "wanted", Note: "requested by a reader"})
	if err != nil {
		return err
	}
	return p.Store.Write(ctx, func(tx *store.Tx) error {
		state := stateReady
		if p.Pictures {
			state = stateFound
		}
		var v flow.Version
		err := tx.Row(notRendered, w.URL).Scan(&v.URL, &v.Source, &v.AsOf)
		if store.NoRow(err) {
			return nil
		}
		if err != nil {
			return err
		}
		taken, err := table.Requeue(tx, table.Requeued{URL: v.URL, Source: v.Source, AsOf: v.AsOf, State: state,
			Due: tx.Now().Add(sweepAfter), Trace: string(step) + "\n"})
		if err != nil || !taken {
			return err
		}
		if state == stateFound {
			tx.Emit(flow.DocumentFound.Encode(v))
		} else {
			tx.Emit(flow.DocumentReady.Encode(v))
		}
		return nil
	})
}

// sweepAfter is how long a notified stage has before its sweep takes the row up.
const sweepAfter = 5 * time.Second

// The states that pages sets on a document.
const (
	stateFound = 0
	stateReady = 2
)

func (p *Pages) sweepBatches(ctx context.Context) error {
	for {
		var due []flow.Batch
		err := p.Store.Read(ctx, func(r store.Reader) error {
			return r.Rows(func(rows store.Rows) error {
				var b flow.Batch
				err := rows.Scan(&b.Source, &b.AsOf, &b.N)
				due = append(due, b)
				return err
			}, dueBatches, p.Store.Now().UnixMilli(), sweepBatch)
		})
		for _, b := range due {
			if err == nil {
				err = p.batch(ctx, b)
			}
		}
		if err != nil || len(due) < sweepBatch {
			return err
		}
	}
}

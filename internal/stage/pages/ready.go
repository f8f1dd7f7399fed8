package pages

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/port/store"
)

// ready renders one document and makes its page live, together with others that are
// ready at the same time.
func (p *Pages) ready(ctx context.Context, v flow.Version) error { return p.sets.do(ctx, v) }

// set renders documents and makes their pages live in one transaction. It returns an
// error for each version. A version whose row is gone was processed already.
func (p *Pages) set(ctx context.Context, versions []flow.Version) []error {
	errs := make([]error, len(versions))
	var docs []*document
	err := p.safely(func() (err error) {
		if docs, err = p.read(ctx, versions); err != nil {
			return err
		}
		p.renderAll(docs)
		return p.publish(ctx, slices.DeleteFunc(slices.Clone(docs), func(d *document) bool { return d == nil || d.err != nil }))
	})
	switch {
	case err != nil && len(versions) > 1 && ctx.Err() == nil: // one of them may be the cause
		for i, v := range versions {
			errs[i] = p.set(ctx, []flow.Version{v})[0]
		}
	case err != nil:
		for i := range errs {
			errs[i] = err
		}
	default:
		for i, d := range docs {
			if d != nil {
				errs[i] = d.err
			}
		}
	}
	return errs
}

// renderAll renders the documents of a set, on all cores.
func (p *Pages) renderAll(docs []*document) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(docs)) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(docs)); i = next.Add(1) - 1 {
				if d := docs[i]; d != nil && d.err == nil && !d.doc.Item.Withdrawn {
					p.prepare(d)
				}
			}
		})
	}
	all.Wait()
}

// prepare renders a document and computes its sketch.
func (p *Pages) prepare(d *document) {
	d.err = p.safely(func() error {
		page, err := p.render(*d)
		if err != nil {
			return errors.Join(courant.Invalid, err)
		}
		d.page = page
		if d.doc.Offer == nil {
			d.sketch = sketchOf(cmp.Or(d.doc.Item.Content, d.doc.Item.Summary))
		}
		return nil
	})
}

// safely returns a panic of f as an error, which the bus does not retry: the process and
// the other documents of the set go on.
func (p *Pages) safely(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			p.Log.Error("panic while processing documents", "error", v, "stack", string(debug.Stack()))
			err = courant.Errorf(courant.Invalid, "panic: %v", v)
		}
	}()
	return f()
}

// publish makes the pages of rendered documents live and deletes their rows. A row that
// has changed meanwhile stays, and is processed by itself.
func (p *Pages) publish(ctx context.Context, docs []*document) error {
	if len(docs) == 0 {
		return nil
	}
	// pages are always locked in the same order
	slices.SortFunc(docs, func(a, b *document) int { return bytes.Compare(a.url, b.url) })
	var live []bool
	var taken []*document
	err := p.change(ctx, func(tx *store.Tx, n *numbers) error {
		args := make([][]any, len(docs))
		for i, d := range docs {
			args[i] = []any{d.url, d.source, d.asOf, d.late}
		}
		dropped, err := tx.ExecAll(dropDocument, args)
		if err != nil {
			return err
		}
		taken = taken[:0]
		for i, d := range docs {
			if dropped[i] > 0 {
				taken = append(taken, d)
			}
		}
		live, err = p.keep(tx, n, taken)
		return err
	})
	if err == nil {
		p.count(docs, taken, live)
	}
	return err
}

// count counts the results of a set: live says which of the taken documents are live.
func (p *Pages) count(docs, taken []*document, live []bool) {
	p.Metrics.Add("courant_pages_total", float64(len(docs)-len(taken)), "result", "passed over")
	for i, d := range taken {
		result := "passed over"
		switch {
		case live[i] && d.doc.Item.Withdrawn:
			result = "withdrawn"
		case live[i]:
			result = "printed"
		}
		p.Metrics.Add("courant_pages_total", 1, "result", result)
	}
	now := p.Store.Now()
	for _, d := range docs {
		p.Metrics.Observe("courant_pages_fetched_to_live_seconds", now.Sub(d.fetched))
	}
}

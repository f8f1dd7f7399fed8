package robot

import (
	"context"
	"slices"
	"sort"
	"time"

	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// clean deletes old downloads, every minute until ctx ends.
func (r *Robot) clean(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := r.cleanOnce(ctx); err != nil && ctx.Err() == nil {
			r.Log.Warn("old downloads not deleted", "error", err)
		}
	}
}

// cleanOnce deletes downloads older than KeepBodies and, of the rest, the oldest
// beyond KeepBodiesSize; never one that is still to be read.
func (r *Robot) cleanOnce(ctx context.Context) error {
	inUse := map[string]bool{}
	err := r.Store.Rows(ctx, func(rows store.Rows) error {
		var key string
		err := rows.Scan(&key)
		inUse[blob.Holder(key)] = true
		return err
	}, bodiesInUse)
	if err != nil {
		return err
	}
	var bodies []blob.Info
	total := int64(0)
	err = r.Blobs.List(ctx, "body/", func(b blob.Info) error {
		if !inUse[b.Key] {
			bodies = append(bodies, b)
			total += b.Size
		}
		return nil
	})
	if err != nil {
		return err
	}
	sort.Slice(bodies, func(i, j int) bool { return bodies[i].Key < bodies[j].Key })
	oldest := table.BodyKey(r.Store.Now().Add(-r.Config.KeepBodies.Or(time.Hour)), "")
	fresh := table.BodyKey(r.Store.Now().Add(-time.Minute), "")
	var gone []string
	for _, b := range bodies {
		tooMuch := total > r.Config.KeepBodiesSize.Or(1<<30)
		if b.Key >= fresh || b.Key >= oldest && !tooMuch {
			break
		}
		if err := r.Blobs.Delete(ctx, b.Key); err != nil {
			return err
		}
		gone = append(gone, b.Key)
		total -= b.Size
	}
	return r.unlist(ctx, gone)
}

// unlist removes deleted bodies from the subscribers' log.
func (r *Robot) unlist(ctx context.Context, gone []string) error {
	for some := range slices.Chunk(gone, 500) {
		err := r.Store.Write(ctx, func(tx *store.Tx) error {
			if _, err := table.NumberDownloads(tx); err != nil {
				return err
			}
			for _, key := range some {
				if err := table.DropDownloads(tx, key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

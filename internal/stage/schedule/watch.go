package schedule

import (
	"context"
	"time"

	"github.com/courant-platform/courant/internal/port/store"
)

const (
	watchEvery   = 15 * time.Second
	sourcesEvery = time.Minute
	mostDue      = 10_000 // rows that are counted
)

// stages are the queries for the work of each stage that should have been taken up by now:
// how many rows, up to mostDue, and since when the oldest is due.
var stages = map[string]string{"polls": overduePolls, "found": dueFound, "waiting": dueWaiting, "ready": dueReady, "batches": dueBatches}

// Watch exports what is overdue, and how the sources are, until ctx ends. Each process with
// the role schedule does.
func (s *Schedule) Watch(ctx context.Context) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for last := (time.Time{}); ; {
		err := s.exportDue(ctx)
		if err == nil && time.Since(last) >= sourcesEvery {
			last = time.Now()
			err = s.exportSources(ctx)
		}
		if err != nil && ctx.Err() == nil {
			s.Log.Warn("metrics of due work not read; retrying", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (s *Schedule) exportDue(ctx context.Context) error {
	now := s.Store.Now()
	set := func(stage string, n int, oldest time.Time) {
		late := 0.0
		if n > 0 {
			late = max(now.Sub(oldest).Seconds(), 0)
		}
		s.Metrics.Gauge("courant_work_due", float64(n), "stage", stage)
		s.Metrics.Gauge("courant_work_oldest_seconds", late, "stage", stage)
	}
	for stage, query := range stages {
		var n int
		var oldest int64
		if err := s.Store.Row(ctx, query, now.UnixMilli(), mostDue).Scan(&n, &oldest); err != nil {
			return err
		}
		set(stage, n, store.Time(oldest))
	}
	var n int
	if err := s.Store.Row(ctx, wantedFetches, mostDue).Scan(&n); err != nil {
		return err
	}
	s.Metrics.Gauge("courant_work_due", float64(n), "stage", "fetches")
	n, oldest, err := s.Store.Outbox(ctx, mostDue)
	if err == nil {
		set("outbox", n, oldest)
	}
	return err
}

func (s *Schedule) exportSources(ctx context.Context) error {
	var all, waiting, failing, gone int
	if err := s.Store.Row(ctx, countSources).Scan(&all, &waiting, &failing, &gone); err != nil {
		return err
	}
	for state, n := range map[string]int{"ok": all - waiting - failing - gone, "new": waiting, "failing": failing, "gone": gone} {
		s.Metrics.Gauge("courant_sources", float64(n), "state", state)
	}
	return nil
}

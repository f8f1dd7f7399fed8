package robot

import (
	"context"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/port/store"
)

const (
	sweepTime = 250 * time.Millisecond // time limit of one sweep of the wanted addresses
	fillHosts = 100                    // hosts whose queues are refilled in one read transaction
)

// found is a row of the store to make a task of.
type found struct {
	origin string
	part   int
	task   task
}

// sweeps runs a sweep after each renewal of the leases, until ctx ends.
func (r *Robot) sweeps(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.look:
		}
		if err := r.sweep(ctx); err != nil && ctx.Err() == nil {
			r.Log.Warn("sweep failed; retrying", "error", err)
		}
	}
}

// sweep queues the work in the store whose notification was lost: all polls, and the
// wanted addresses of as many partitions as fit into sweepTime.
func (r *Robot) sweep(ctx context.Context) error {
	var work []found
	busy := map[int]bool{}
	err := r.Store.Read(ctx, func(q store.Reader) (err error) {
		err = q.Rows(func(rows store.Rows) error {
			f := found{task: task{priority: pollPriority}}
			var redirectURL string
			err := rows.Scan(&f.task.id.source, &f.origin, &f.part, &f.task.wanted, &redirectURL)
			if redirectURL != "" {
				f.origin, f.part = link.Origin(redirectURL), courant.Partition(link.Domain(link.Host(redirectURL)))
			}
			work = append(work, f)
			return err
		}, wantedPolls)
		if err != nil {
			return err
		}
		return q.Rows(func(rows store.Rows) error {
			var n int
			err := rows.Scan(&n)
			busy[n] = true
			return err
		}, wantedParts)
	})
	if err != nil {
		return err
	}
	for _, f := range work {
		r.add(f.origin, f.part, f.task)
	}
	return r.sweepParts(ctx, busy)
}

// sweepParts sweeps the partitions that have work. Those that were not swept since we
// took their lease are always swept, the others, from where the last sweep ended, while
// there is time.
func (r *Robot) sweepParts(ctx context.Context, busy map[int]bool) error {
	began := time.Now()
	for _, n := range r.sweepOrder(busy) {
		if !r.swept(n) || time.Since(began) < sweepTime {
			if err := r.sweepPart(ctx, n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Robot) sweepOrder(busy map[int]bool) (order []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range courant.Partitions {
		n := (r.sweptLast + 1 + i) % courant.Partitions
		if p, ours := r.parts[n]; ours && busy[n] {
			order = append(order, n)
		} else if ours {
			p.swept = true
			r.parts[n] = p
		}
	}
	return order
}

func (r *Robot) swept(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.parts[n].swept
}

// sweepPart queues the first tasks of each host in a partition.
func (r *Robot) sweepPart(ctx context.Context, n int) error {
	var work []found
	err := r.Store.Rows(ctx, func(rows store.Rows) error {
		f := found{part: n}
		err := f.scan(rows)
		work = append(work, f)
		return err
	}, wantedOfPart, n, r.Store.Now().UnixMilli(), window+1)
	if err != nil {
		return err
	}
	for _, f := range work {
		r.add(f.origin, f.part, f.task) // the one beyond the window marks that there are more
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweptLast = n
	if p, ours := r.parts[n]; ours {
		p.swept = true
		r.parts[n] = p
	}
	return nil
}

func (f *found) scan(rows store.Rows) error {
	var hash []byte
	err := rows.Scan(&hash, &f.origin, &f.task.priority, &f.task.wanted)
	copy(f.task.id.hash[:], hash)
	return err
}

// fill refills the queues of hungry hosts from the store, until ctx ends.
func (r *Robot) fill(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.want:
		}
		for r.fillSome(ctx) {
		}
	}
}

func (r *Robot) fillSome(ctx context.Context) (again bool) {
	r.mu.Lock()
	n := min(len(r.queue.hungry), fillHosts)
	hungry := r.queue.hungry[:n:n]
	r.queue.hungry = r.queue.hungry[n:]
	r.mu.Unlock()
	if n == 0 || ctx.Err() != nil {
		return false
	}
	more := make([][]found, n)
	err := r.Store.Read(ctx, func(q store.Reader) error {
		for i, h := range hungry {
			more[i] = nil
			err := q.Rows(func(rows store.Rows) error {
				f := found{part: h.part}
				err := f.scan(rows)
				more[i] = append(more[i], f)
				return err
			}, wantedOfHost, h.part, h.origin, r.Store.Now().UnixMilli(), window+lowWater)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		r.Log.Warn("host queues not refilled; the next sweep retries", "error", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, h := range hungry {
		h.hungry, h.more = false, err != nil || len(more[i]) == window+lowWater
		for _, f := range more[i] {
			if !h.gone {
				r.queue.add(h, f.task)
			}
		}
	}
	notify(r.wake)
	return true
}

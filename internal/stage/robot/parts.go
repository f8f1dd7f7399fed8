package robot

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
)

const (
	leaseTime  = 15 * time.Second
	leaseRenew = 5 * time.Second
	// leaseReserve is the rest of the lease in which a response is stored.
	leaseReserve = 2 * time.Second
	leaseName    = "robot/"       // prefix of partition leases
	nodeName     = "robot-alive/" // prefix of leases by owner, which count the live robots
)

// part is a partition of the hosts (courant.Partition) that this robot holds.
type part struct {
	lease store.Lease
	since time.Time // when it was taken, by our clock
	until time.Time // until then it is surely ours, by our monotonic clock
	swept bool      // its work in the store was swept since then
}

// parts are the partitions held, by number.
type parts map[int]part

// lease returns a partition that we hold, zero if it is not ours.
func (r *Robot) lease(n int) part {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.parts[n]
}

// hold renews the leases until ctx ends.
func (r *Robot) hold(ctx context.Context) {
	tick := time.NewTicker(leaseRenew)
	defer tick.Stop()
	for {
		if err := r.renew(ctx); err != nil && ctx.Err() == nil {
			r.Log.Warn("leases not renewed", "error", err)
		}
		notify(r.look)
		r.mu.Lock()
		r.queue.forget(time.Now())
		r.mu.Unlock()
		q := r.Queued()
		r.Metrics.Gauge("courant_robot_queue", float64(q.Hosts), "of", "hosts")
		r.Metrics.Gauge("courant_robot_queue", float64(q.Tasks), "of", "tasks")
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// renew renews our leases, takes free partitions up to our share, and gives up those
// beyond it.
func (r *Robot) renew(ctx context.Context) error {
	before := time.Now()
	var held map[int]store.Lease
	err := r.Store.Write(ctx, func(tx *store.Tx) (err error) {
		if _, err = tx.Take(nodeName+r.Owner, r.Owner, leaseTime); err != nil {
			return err
		}
		held, err = r.take(tx)
		return err
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now, lost := make(parts, len(held)), map[int]bool{}
	for n, lease := range held {
		was, had := r.parts[n]
		if !had || was.lease.Epoch != lease.Epoch || was.until.Before(before) {
			lost[n] = true
			was.since, was.swept = time.Now(), false
		}
		now[n] = part{lease: lease, since: was.since, until: before.Add(leaseTime), swept: was.swept}
	}
	for n := range r.parts {
		if _, still := now[n]; !still {
			lost[n] = true
		}
	}
	if len(lost) > 0 {
		r.queue.drop(lost)
	}
	r.parts = now
	return nil
}

// take renews our leases in one statement, then gives up partitions beyond our share or
// takes free ones up to it.
func (r *Robot) take(tx *store.Tx) (map[int]store.Lease, error) {
	now := tx.Now().UnixMilli()
	live := 0
	if err := tx.Row(countLive, nodeName+"%", now).Scan(&live); err != nil {
		return nil, err
	}
	share := (courant.Partitions + max(live, 1) - 1) / max(live, 1)
	held := map[int]store.Lease{}
	err := tx.Rows(func(rows store.Rows) error {
		l := store.Lease{Owner: r.Owner}
		if err := rows.Scan(&l.Name, &l.Epoch); err != nil {
			return err
		}
		n, err := strconv.Atoi(strings.TrimPrefix(l.Name, leaseName))
		held[n] = l
		return err
	}, renewParts, r.Owner, leaseName+"%", now, now+leaseTime.Milliseconds())
	if err != nil {
		return nil, err
	}
	for n := 0; n < courant.Partitions && len(held) > share; n++ {
		if l, ok := held[n]; ok {
			if _, err := tx.Exec(freePart, l.Name, r.Owner, now+2*time.Second.Milliseconds()); err != nil {
				return nil, err
			}
			delete(held, n)
		}
	}
	return held, r.takeFree(tx, held, share)
}

func (r *Robot) takeFree(tx *store.Tx, held map[int]store.Lease, share int) error {
	if len(held) >= share {
		return nil
	}
	taken := map[string]bool{}
	err := tx.Rows(func(rows store.Rows) error {
		var name string
		err := rows.Scan(&name)
		taken[name] = true
		return err
	}, takenParts, leaseName+"%", tx.Now().UnixMilli())
	if err != nil {
		return err
	}
	for n := 0; n < courant.Partitions && len(held) < share; n++ {
		name := fmt.Sprint(leaseName, n)
		if taken[name] {
			continue
		}
		lease, err := tx.Take(name, r.Owner, leaseTime)
		if err != nil {
			return err
		}
		if lease.Epoch != 0 {
			held[n] = lease
		}
	}
	return nil
}

package robot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/stage/robot/client"
)

// verdict is what a response means for its host.
type verdict struct {
	next     time.Time // earliest next request
	why      string    // why the response is useless, "" if it is not
	again    bool      // the request is to be retried
	keep     bool      // the state of the host is to be stored
	reason   string    // reason of the wait, to be shown
	siblings time.Time // end of the back-off from its domain; zero if there is none
}

// outcome judges a response for the host, and stores what has to survive a restart.
func (r *Robot) outcome(ctx context.Context, h *host, a *client.Answer, err error, start time.Time) verdict {
	r.Metrics.Add("courant_robot_requests_total", 1, "status", strconv.Itoa(statusOf(a)))
	r.mu.Lock()
	v := r.queue.judge(h, a, err, start, r.gap())
	r.mu.Unlock()
	if v.keep {
		r.keepWait(ctx, h, v)
	}
	return v
}

// judge applies the response to a request that began at start to the host's state.
func (q *queue) judge(h *host, a *client.Answer, err error, start time.Time, gap time.Duration) (v verdict) {
	if err != nil && refused(err) {
		return verdict{next: start.Add(h.pace(gap)), why: err.Error()}
	}
	if errors.Is(err, client.Lost) && !h.lost {
		h.lost = true
		return verdict{next: start.Add(h.pace(gap)), why: err.Error(), again: true}
	}
	now := time.Now()
	h.lost = false
	if a != nil {
		h.address = a.Address
	}
	if err != nil || a.Status >= 500 || a.Status == http.StatusTooManyRequests || a.Wall != "" {
		return q.failed(h, a, err, now, gap)
	}
	refusals := h.refusals
	if a.Status != http.StatusForbidden {
		h.refusals = 0
	} else if wait := h.refused(false); wait > 0 {
		why := fmt.Sprintf("the host refused the last %d requests (403); it seems to block robots", h.refusals)
		return q.block(h, now, wait, why, false)
	}
	h.answered(a.Latency, gap)
	q.groups.answered(h, now)
	v.next = start.Add(h.pace(gap))
	if a.RetryAfter > 0 {
		v.next = later(v.next, now.Add(a.RetryAfter))
	}
	if v.next.Sub(now) > persistAbove {
		v.reason = "the host's pace, or its Retry-After header"
	}
	v.keep = v.reason != "" || h.refusals != refusals
	return v
}

// failed begins or extends a back-off.
func (q *queue) failed(h *host, a *client.Answer, err error, now time.Time, gap time.Duration) verdict {
	if err != nil {
		return q.block(h, now, h.failed(0), err.Error(), false)
	}
	if a.Wall != "" {
		return q.block(h, now, max(h.refused(true), a.RetryAfter), "blocked by a bot wall ("+a.Wall+"): "+said(a), false)
	}
	limit := a.Status == http.StatusTooManyRequests
	if limit {
		h.limited(gap)
	}
	return q.block(h, now, h.failed(a.RetryAfter), said(a), limit)
}

// block backs off from the host, and from its siblings if they fail together.
func (q *queue) block(h *host, now time.Time, wait time.Duration, why string, limit bool) verdict {
	return verdict{next: now.Add(wait), why: why, keep: true, reason: why, siblings: q.groups.failed(h, now, wait, limit)}
}

// keepWait stores the waits of the host and of its domain, so that they survive a
// restart.
func (r *Robot) keepWait(ctx context.Context, h *host, v verdict) {
	r.mu.Lock()
	lease, failures, refusals := r.parts[h.part].lease, h.failures, h.refusals
	latency, pace := h.latency.Milliseconds(), h.limit.Milliseconds()
	r.mu.Unlock()
	err := r.Store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		if ok, err := tx.Holds(lease); err != nil || !ok {
			return err
		}
		at := func(t time.Time) int64 { return store.Millis(tx.Now().Add(time.Until(t))) }
		_, err := tx.Exec(blockHost, h.origin, h.part, at(v.next), failures, refusals, v.reason, latency, pace)
		if err == nil && !v.siblings.IsZero() {
			_, err = tx.Exec(blockHost, allHosts+h.domain(), h.part, at(v.siblings), 0, 0, v.reason+" ("+h.origin+")", 0, 0)
		}
		return err
	})
	if err != nil {
		r.Log.Warn("back-off not stored", "host", h.origin, "error", err)
	}
	if v.why != "" && failures == 1 {
		r.Log.Info("host in back-off", "host", h.origin, "for", time.Until(v.next).Round(time.Second), "reason", v.reason)
	}
}

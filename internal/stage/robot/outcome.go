package robot

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/stage/robot/client"
)

// outcome judges an answer for the host: when it may be asked next, and why the
// answer is none, if it is none.
func (r *Robot) outcome(ctx context.Context, h *host, a *client.Answer, err error, start time.Time) (next time.Time, why string) {
	r.Metrics.Add("courant_robot_requests_total", 1, "status", strconv.Itoa(statusOf(a)))
	pace, refusals := h.pace(r.gap()), h.refusals
	switch {
	case err != nil && refused(err):
		return start.Add(pace), err.Error()
	case err != nil, a.Status >= 500, a.Status == http.StatusTooManyRequests, a.Wall != "":
		return r.failed(ctx, h, a, err)
	case a.Status == http.StatusForbidden:
		if wait := h.refused(false); wait > 0 {
			next = time.Now().Add(wait)
			why = fmt.Sprintf("the host has refused the last %d requests (403); it seems to want no robots", h.refusals)
			r.block(ctx, h, next, why, false)
			return next, why
		}
	default:
		h.refusals = 0
	}
	h.answered(a.Latency, r.gap())
	r.mu.Lock()
	h.address = a.Address
	r.queue.groups.answered(h, time.Now())
	r.mu.Unlock()
	next = start.Add(h.pace(r.gap()))
	if a.RetryAfter > 0 {
		next = later(next, time.Now().Add(a.RetryAfter))
	}
	if long := time.Until(next) > persistAbove; long || h.refusals != refusals {
		reason := ""
		if long {
			reason = "the host asks for time between requests"
		}
		r.keepWait(ctx, h, next, reason, time.Time{})
	}
	return next, ""
}

// failed begins or widens a back-off.
func (r *Robot) failed(ctx context.Context, h *host, a *client.Answer, err error) (next time.Time, why string) {
	retry, limit := time.Duration(0), false
	if a != nil {
		retry, limit = a.RetryAfter, a.Status == http.StatusTooManyRequests && a.Wall == ""
		h.address = a.Address
	}
	wait := time.Duration(0)
	switch {
	case err != nil:
		why = err.Error()
	case a.Wall != "":
		why = "blocked by a bot wall (" + a.Wall + "): " + said(a)
		wait = h.refused(true)
	default:
		why = said(a)
	}
	if limit {
		h.limited(r.gap())
	}
	if wait == 0 {
		wait = h.failed(retry)
	}
	next = time.Now().Add(max(wait, retry))
	r.block(ctx, h, next, why, limit)
	return next, why
}

// block leaves the host alone, and its siblings if they are in it together, and has
// that survive a restart.
func (r *Robot) block(ctx context.Context, h *host, next time.Time, why string, limit bool) {
	r.mu.Lock()
	siblings := r.queue.groups.failed(h, time.Now(), time.Until(next), limit)
	r.mu.Unlock()
	r.keepWait(ctx, h, next, why, siblings)
}

// keepWait writes how long the host waits, and its domain if it does.
func (r *Robot) keepWait(ctx context.Context, h *host, next time.Time, why string, siblings time.Time) {
	err := r.Store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		if ok, err := tx.Holds(r.lease(h.part).lease); err != nil || !ok {
			return err
		}
		at := func(t time.Time) int64 { return store.Millis(tx.Now().Add(time.Until(t))) }
		if _, err := tx.Exec(blockHost, h.origin, h.part, at(next), h.failures, h.refusals, why, h.latency.Milliseconds(), h.limit.Milliseconds()); err != nil || siblings.IsZero() {
			return err
		}
		_, err := tx.Exec(blockHost, allHosts+h.domain(), h.part, at(siblings), 0, 0, why+" ("+h.origin+")", 0, 0)
		return err
	})
	if err != nil {
		r.Log.Warn("the host's wait is not kept", "host", h.origin, "error", err)
	}
}

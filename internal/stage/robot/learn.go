package robot

import (
	"context"
	"time"

	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/stage/robot/client"
	"github.com/courant-platform/courant/internal/stage/robot/rules"
)

// persistAbove is the wait above which a host's wait survives a restart.
const persistAbove = 2 * time.Second

// allHosts is the prefix of rows of hosts that are about all hosts of a domain.
const allHosts = "*."

// learn does the next step before a host's first request: it loads the host's state,
// then fetches its robots.txt. It returns the earliest time of the next request, and an
// errand if robots.txt redirects to another host.
func (r *Robot) learn(ctx context.Context, h *host) (time.Time, *task) {
	if !h.loaded {
		next, err := r.load(ctx, h)
		if err != nil {
			r.Log.Warn("host state not read; retrying", "host", h.origin, "error", err)
			next = time.Now().Add(time.Second)
		}
		return next, nil
	}
	return r.askRobots(ctx, h)
}

// known reports whether the host's state and robots.txt are there for the task; an
// errand needs no robots.txt. If not, learns reports whether the caller must call
// learn; otherwise another goroutine is doing it.
func (r *Robot) known(h *host, t task, now time.Time) (known, learns bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known = h.loaded && (t.errand() || !h.until.Before(now))
	learns = !known && !h.learning
	h.learning = h.learning || learns
	return known, learns
}

// kept is a row of hosts.
type kept struct {
	origin                     string
	text                       []byte
	robots, failures, refusals int
	until, allowed             int64
	latency, pace              int64
}

// load reads the state of a host and returns the earliest time of its next request.
func (r *Robot) load(ctx context.Context, h *host) (time.Time, error) {
	var of, all kept // the host, and all hosts of its domain
	err := r.Store.Rows(ctx, func(rows store.Rows) error {
		var k kept
		err := rows.Scan(&k.origin, &k.text, &k.robots, &k.until, &k.allowed, &k.failures, &k.refusals, &k.latency, &k.pace)
		if k.origin == h.origin {
			of = k
		} else {
			all = k
		}
		return err
	}, readHost, h.origin, allHosts+h.domain())
	if err != nil {
		return time.Time{}, err
	}
	now, storeNow := time.Now(), r.Store.Now()
	wait := func(t int64) time.Time {
		if t == 0 {
			return time.Time{}
		}
		return now.Add(min(store.Time(t).Sub(storeNow), client.MostRetryAfter))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	h.loaded = true
	h.robots, h.failures, h.refusals = of.robots, of.failures, of.refusals
	h.limit, h.latency = time.Duration(of.pace)*time.Millisecond, time.Duration(of.latency)*time.Millisecond
	if left := store.Time(of.until).Sub(storeNow); of.until != 0 && left <= robotsFresh { // else a clock was ahead
		h.until = now.Add(left)
	}
	if len(of.text) > 0 {
		text, err := pack.Open(of.text)
		if err != nil {
			h.until = time.Time{} // fetch it again
			r.Log.Warn("stored robots.txt is damaged; fetching it again", "host", h.origin, "error", err)
		}
		h.obey(rules.Parse(text, r.Config.UserAgent))
	}
	if t := wait(all.allowed); t.After(now) {
		r.queue.groups.block(h, t)
	}
	// The robot that held it before may have sent it a request just now; longer waits are in the store.
	just := r.parts[h.part].since.Add(max(r.gap(), min(h.pace(r.gap()), leaseTime)))
	return later(later(h.next, just), wait(of.allowed)), nil
}

// obey sets the rules, without the sitemaps, which robot does not use.
func (h *host) obey(r rules.Rules) {
	r.Sitemaps = nil
	h.rules = r
}

// keep stores the state of the host.
func (r *Robot) keep(ctx context.Context, h *host, text []byte, next time.Time) {
	var packed []byte
	if len(text) > 0 {
		packed = pack.Bytes(text[:min(len(text), rules.MaxSize)])
	}
	storeNow := r.Store.Now()
	r.mu.Lock()
	robots, until, failures, refusals := h.robots, store.Millis(storeNow.Add(time.Until(h.until))), h.failures, h.refusals
	latency := h.latency.Milliseconds()
	r.mu.Unlock()
	err := r.Store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		if ok, err := tx.Holds(r.lease(h.part).lease); err != nil || !ok {
			return err
		}
		_, err := tx.Exec(keepHost, h.origin, h.part, packed, robots, until,
			store.Millis(storeNow.Add(time.Until(next))), failures, refusals, latency)
		return err
	})
	if err != nil {
		r.Log.Warn("host state not stored", "host", h.origin, "error", err)
	}
}

package robot

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/stage/robot/client"
	"github.com/courant-platform/courant/internal/stage/robot/rules"
)

const (
	robotsFresh  = 24 * time.Hour   // RFC 9309 section 2.4: the longest time
	robotsAgain  = 10 * time.Minute // after an answer that forbids everything
	robotsHops   = 5                // section 2.3.1.2
	noRules      = http.StatusNotFound
	hasRules     = http.StatusOK
	nothingGoes  = http.StatusServiceUnavailable
	persistAbove = 2 * time.Second // waits longer than this survive a restart
)

// load reads what is known of a host and returns when it may be asked.
func (r *Robot) load(ctx context.Context, h *host) (time.Time, error) {
	var text []byte
	var until, allowed, latency, blocked int64
	err := r.Store.Read(ctx, func(q store.Reader) error {
		return q.Rows(func(rows store.Rows) error {
			var row struct {
				origin                     string
				text                       []byte
				robots, failures, refusals int
				until, allowed, latency    int64
				pace                       int64
			}
			err := rows.Scan(&row.origin, &row.text, &row.robots, &row.until, &row.allowed, &row.failures, &row.refusals, &row.latency, &row.pace)
			if row.origin != h.origin {
				blocked = row.allowed
				return err
			}
			text, until, allowed, latency = row.text, row.until, row.allowed, row.latency
			h.robots, h.failures, h.refusals, h.limit = row.robots, row.failures, row.refusals, time.Duration(row.pace)*time.Millisecond
			return err
		}, readHost, h.origin, allHosts+h.domain())
	})
	if err != nil {
		return time.Time{}, err
	}
	h.loaded = true
	now, storeNow := time.Now(), r.Store.Now()
	if left := store.Time(until).Sub(storeNow); until != 0 && left <= robotsFresh { // else a clock ran ahead
		h.until = now.Add(left)
	}
	h.latency = time.Duration(latency) * time.Millisecond
	if len(text) > 0 {
		if text, err = pack.Open(text); err != nil {
			h.until = time.Time{} // ask again
		}
		h.obey(rules.Parse(text, r.Config.UserAgent))
	}
	wait := func(t int64) time.Time {
		if t == 0 {
			return time.Time{}
		}
		return now.Add(min(store.Time(t).Sub(storeNow), client.MostRetryAfter))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := wait(blocked); t.After(now) {
		r.queue.groups.block(h, t)
	}
	// A robot that held it before may have asked it just now.
	return later(later(h.next, r.parts[h.part].since.Add(h.pace(r.gap()))), wait(allowed)), nil
}

// obey takes rules over, without the sitemaps, which robot has no use for.
func (h *host) obey(r rules.Rules) {
	r.Sitemaps = nil
	h.rules = r
}

// allHosts begins the row of a domain whose hosts are all left alone.
const allHosts = "*."

// askRobots asks for robots.txt, over a few redirects, and returns when the host
// may be asked next. A host that does not answer, or with a 5xx, forbids
// everything for a while; a 4xx forbids nothing.
func (r *Robot) askRobots(ctx context.Context, h *host) time.Time {
	start := time.Now()
	a, err := r.getRobots(ctx, h)
	var text []byte
	status, until, retry := noRules, start.Add(robotsFresh), time.Duration(0)
	switch {
	case errors.Is(err, courant.Forbidden), errors.Is(err, courant.NotFound):
		until = start.Add(robotsAgain) // the address itself says no below
	case err != nil, a.Status >= 500, a.Status == http.StatusTooManyRequests:
		status, until = nothingGoes, start.Add(robotsAgain)
		if a != nil && a.RetryAfter > 0 {
			retry = a.RetryAfter
			until = start.Add(max(retry, time.Minute))
		}
	case a.Status == http.StatusOK:
		status, text = hasRules, a.Body
	}
	r.mu.Lock()
	h.robots, h.until = status, until
	h.obey(rules.Parse(text, r.Config.UserAgent))
	next := start.Add(max(h.pace(r.gap()), retry))
	var v verdict
	if retry > 0 {
		v = r.queue.block(h, start, next.Sub(start), "robots.txt: "+said(a), a.Status == http.StatusTooManyRequests)
	}
	r.mu.Unlock()
	if v.keep {
		r.keepWait(ctx, h, v)
	}
	r.keep(ctx, h, text, next)
	r.Metrics.Add("courant_robot_robots_total", 1, "result", http.StatusText(status))
	return next
}

func (r *Robot) getRobots(ctx context.Context, h *host) (*client.Answer, error) {
	address := h.origin + "/robots.txt"
	for range robotsHops {
		a, err := r.Client.Get(ctx, client.Request{URL: address, Max: rules.MaxSize * 4, Accept: "text/plain, */*;q=0.1"})
		if err != nil || a.Location == "" {
			return a, err
		}
		address = a.Location
	}
	return &client.Answer{Status: http.StatusNotFound}, nil
}

// keep writes what is known of the host.
func (r *Robot) keep(ctx context.Context, h *host, text []byte, next time.Time) {
	var packed []byte
	if len(text) > 0 {
		packed = pack.Bytes(text[:min(len(text), rules.MaxSize)])
	}
	storeNow := r.Store.Now()
	until := store.Millis(storeNow.Add(time.Until(h.until)))
	err := r.Store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		if ok, err := tx.Holds(r.lease(h.part).lease); err != nil || !ok {
			return err
		}
		_, err := tx.Exec(keepHost, h.origin, h.part, packed, h.robots, until,
			store.Millis(storeNow.Add(time.Until(next))), h.failures, h.refusals, h.latency.Milliseconds())
		return err
	})
	if err != nil {
		r.Log.Warn("host not kept", "host", h.origin, "error", err)
	}
}

// allowed says why robots.txt forbids an address, "" if it does not.
func (h *host) allowed(address string) string {
	if h.robots == nothingGoes {
		return "robots.txt of the host cannot be had, so that nothing may be fetched"
	}
	u, err := url.Parse(address)
	if err != nil {
		return "the address cannot be read"
	}
	if !h.rules.Allowed(u.RequestURI()) {
		return "robots.txt of the host forbids it"
	}
	return ""
}

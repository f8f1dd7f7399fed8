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
	var until, allowed, latency int64
	err := r.Store.Read(ctx, func(q store.Reader) error {
		return q.Row(readHost, h.origin).Scan(&text, &h.robots, &until, &allowed, &h.failures, &latency)
	})
	if err != nil && !store.NoRow(err) {
		return time.Time{}, err
	}
	h.loaded = true
	if err != nil {
		return h.next, nil
	}
	now, storeNow := time.Now(), r.Store.Now()
	if left := store.Time(until).Sub(storeNow); until != 0 && left <= robotsFresh { // else a clock ran ahead
		h.until = now.Add(left)
	}
	h.latency = time.Duration(latency) * time.Millisecond
	if len(text) > 0 {
		if text, err = pack.Open(text); err != nil {
			h.until = time.Time{} // ask again
		}
		h.rules = rules.Parse(text, r.Config.UserAgent)
	}
	if allowed == 0 {
		return h.next, nil
	}
	return now.Add(min(store.Time(allowed).Sub(storeNow), client.MostRetryAfter)), nil
}

// askRobots asks for robots.txt, over a few redirects, and returns when the host
// may be asked next. A host that does not answer, or with a 5xx, forbids
// everything for a while; a 4xx forbids nothing.
func (r *Robot) askRobots(ctx context.Context, h *host) time.Time {
	start := time.Now()
	a, err := r.getRobots(ctx, h)
	var text []byte
	retry := time.Duration(0)
	switch {
	case errors.Is(err, courant.Forbidden), errors.Is(err, courant.NotFound):
		h.robots, h.until = noRules, start.Add(robotsAgain) // the address itself says no below
	case err != nil, a.Status >= 500, a.Status == http.StatusTooManyRequests:
		h.robots, h.until = nothingGoes, start.Add(robotsAgain)
		if a != nil {
			retry = a.RetryAfter
		}
	case a.Status == http.StatusOK:
		h.robots, h.until, text = hasRules, start.Add(robotsFresh), a.Body
	default:
		h.robots, h.until = noRules, start.Add(robotsFresh)
	}
	h.rules = rules.Parse(text, r.Config.UserAgent)
	next := start.Add(max(h.pace(r.gap()), retry))
	r.keep(ctx, h, text, next)
	r.Metrics.Add("courant_robot_robots_total", 1, "result", http.StatusText(h.robots))
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
			store.Millis(storeNow.Add(time.Until(next))), h.failures, "", h.latency.Milliseconds())
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

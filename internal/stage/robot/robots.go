package robot

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/stage/robot/client"
	"github.com/courant-platform/courant/internal/stage/robot/rules"
)

const (
	robotsFresh = 24 * time.Hour   // RFC 9309 section 2.4: the longest time to cache it
	robotsAgain = 10 * time.Minute // after a response that disallows everything
	robotsHops  = 5                // section 2.3.1.2
	noRules     = http.StatusNotFound
	hasRules    = http.StatusOK
	nothingGoes = http.StatusServiceUnavailable
)

// askRobots fetches robots.txt and returns the earliest time of the host's next
// request. If robots.txt redirects to another host, it returns an errand: a delegated
// fetch in the queue of that host, for which this host waits.
func (r *Robot) askRobots(ctx context.Context, h *host) (time.Time, *task) {
	start := time.Now()
	way, address := h.way, h.origin+"/robots.txt"
	if way != nil {
		address = way.url
	}
	h.way = nil
	a, err := r.getRobots(ctx, address)
	if r.tryAgain(h, err) {
		h.way = way
		return r.paced(h, start), nil
	}
	if way = way.robotsAt(address, a); way == nil {
		return r.settleRobots(ctx, h, a, err, start), nil
	}
	if !h.elsewhere(way.url) {
		h.way = way
		return r.paced(h, start), nil
	}
	r.mu.Lock()
	if h.errand == 0 {
		r.errands--
		h.errand = r.errands
	}
	r.mu.Unlock()
	way.rules = h
	next := start.Add(robotsAgain)
	r.keepWait(ctx, h, verdict{next: next, reason: "its robots.txt redirects to " + way.url + ", which is fetched first, at the pace of that host"})
	return next, &task{id: taskID{source: h.errand}, priority: pollPriority, trail: way}
}

func (r *Robot) paced(h *host, start time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return start.Add(h.pace(r.gap()))
}

// tryAgain reports whether a request is to be retried after an error.
func (r *Robot) tryAgain(h *host, err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	again := errors.Is(err, client.Lost) && !h.lost
	h.lost = again
	return again
}

// robotsAt extends the redirect chain of a robots.txt by a response; nil if it is no
// redirect, a loop, or too long.
func (w *trail) robotsAt(address string, a *client.Answer) *trail {
	if a == nil || a.Location == "" {
		return nil
	}
	next, why := w.on(address, a)
	if why != "" || next.hops > robotsHops {
		return nil
	}
	return next
}

// runErrand fetches the robots.txt of another host, which redirects here.
func (r *Robot) runErrand(ctx context.Context, h *host, t task) (time.Time, *task) {
	start := time.Now()
	a, err := r.getRobots(ctx, t.trail.url)
	v := verdict{next: r.paced(h, start)}
	if a == nil || a.Status != http.StatusForbidden { // a 403 for this file says nothing about others
		v = r.outcome(ctx, h, a, err, start)
	}
	if v.again {
		return v.next, &t
	}
	if way := t.trail.robotsAt(t.trail.url, a); way != nil {
		t.trail = way
		return v.next, &t
	}
	if a != nil {
		a.RetryAfter = 0 // settleRobots would apply it to the host that redirects here
	}
	from := t.trail.rules
	next := r.settleRobots(ctx, from, a, err, time.Now())
	r.mu.Lock()
	if !from.gone && len(from.hands) == 0 {
		from.next = next // it was waiting for this
		r.queue.place(from)
	}
	r.mu.Unlock()
	return v.next, nil
}

func (r *Robot) getRobots(ctx context.Context, address string) (*client.Answer, error) {
	return r.Client.Get(ctx, client.Request{URL: address, Max: rules.MaxSize * 4, Accept: "text/plain, */*;q=0.1"})
}

// settleRobots applies the response to a request for a host's robots.txt, and returns
// the earliest time of the host's next request. No response, a 5xx or a 429 disallows
// everything for a while; other 4xx and redirects that end nowhere allow everything.
func (r *Robot) settleRobots(ctx context.Context, h *host, a *client.Answer, err error, start time.Time) time.Time {
	var text []byte
	status, until, retry := noRules, start.Add(robotsFresh), time.Duration(0)
	switch {
	case errors.Is(err, courant.Forbidden), errors.Is(err, courant.NotFound):
		until = start.Add(robotsAgain) // the address itself is refused when it is fetched
	case err != nil, a.Status >= 500, a.Status == http.StatusTooManyRequests:
		status, until = nothingGoes, start.Add(robotsAgain)
		if a != nil && a.RetryAfter > 0 {
			retry = a.RetryAfter
			until = start.Add(max(retry, time.Minute))
		}
	case a.Complete():
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

// allowed returns why robots.txt forbids an address, "" if it does not, and until when
// if that is because robots.txt is not available.
func (r *Robot) allowed(h *host, address string) (why string, until time.Time) {
	r.mu.Lock()
	status, obeyed, until := h.robots, h.rules, h.until
	r.mu.Unlock()
	if status == nothingGoes {
		return "robots.txt of the host is not available, so nothing may be fetched", until
	}
	u, err := url.Parse(address)
	if err != nil {
		return "the address is not a valid URL", time.Time{}
	}
	if !obeyed.Allowed(u.RequestURI()) {
		return "robots.txt of the host forbids it", time.Time{}
	}
	return "", time.Time{}
}

package explain

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/stage/robot/client"
	"github.com/courant-platform/courant/internal/stage/robot/rules"
)

// host is a Fetcher's state of one origin.
type host struct {
	origin string
	gap    time.Duration // minimum time from one request to the next
	pace   string        // reason of gap
	next   time.Time     // no request before
	why    string        // reason of next

	known   bool // robots.txt was fetched
	rules   rules.Rules
	refusal error  // why nothing may be fetched
	free    string // why everything is allowed; "" if there are rules
}

const (
	// mostPatience is the longest wait for a request.
	mostPatience = 30 * time.Second
	// mostLatency bounds the pace by latency, as in robot.
	mostLatency = 20 * time.Second
	// setback is the first back-off after a failure.
	setback = 30 * time.Second
	// wallWait is the back-off after a bot wall.
	wallWait   = time.Hour
	robotsHops = 5 // redirects; RFC 9309 section 2.3.1.2
)

// place returns the state of the origin of an address.
func (f *Fetcher) place(address string) *host {
	if canonical, err := link.Canonical(address); err == nil {
		address = canonical
	}
	origin := link.Origin(address)
	h := f.hosts[origin]
	if h == nil {
		if f.hosts == nil {
			f.hosts = map[string]*host{}
		}
		h = &host{origin: origin, gap: f.Gap, pace: "the minimum gap, robot.gap"}
		f.hosts[origin] = h
	}
	return h
}

// host returns the origin of an address after fetching its robots.txt. The error says
// that nothing may be fetched from it, or not now.
func (f *Fetcher) host(ctx context.Context, out *Fetched, address string) (*host, error) {
	h := f.place(address)
	if h.known {
		return h, h.refusal
	}
	if f.Known != nil && !f.Now {
		if err := f.leftAlone(ctx, h); err != nil {
			return nil, err
		}
	}
	a, at, err := f.robotsOf(ctx, out, h)
	if notNow := notNowError(""); ctx.Err() != nil || errors.As(err, &notNow) {
		return nil, err
	}
	h.known = true
	h.learn(a, at, err, f.UserAgent)
	return h, h.refusal
}

// leftAlone takes over the pace that a running robot has learnt, and returns an error if
// the robot is in back-off for the host.
func (f *Fetcher) leftAlone(ctx context.Context, h *host) error {
	known, err := f.Known(ctx, h.origin)
	if err != nil {
		return err
	}
	h.slower(known.Pace, "the pace that the robot has learnt from 429 responses")
	h.rest(known.Host.Until, known.Host.Why)
	h.rest(known.Domain.Until, known.Domain.Why)
	h.rest(known.NoRobots, "its robots.txt is not available, so nothing may be fetched")
	return h.tooLong("the robot is in back-off for %s until %s: %s")
}

// slower raises the host's gap.
func (h *host) slower(gap time.Duration, why string) {
	if gap > h.gap {
		h.gap, h.pace = gap, why
	}
}

// rest delays the host's next request.
func (h *host) rest(until time.Time, why string) {
	if until.After(h.next) {
		h.next, h.why = until, why
	}
}

// notNowError says that the next request to a host is too far away.
type notNowError string

func (e notNowError) Error() string { return string(e) }

// tooLong returns an error if the wait for a host exceeds mostPatience. The format takes
// origin, time and reason.
func (h *host) tooLong(format string) error {
	if time.Until(h.next) <= mostPatience {
		return nil
	}
	return notNowError(fmt.Sprintf(format+"; use --now to fetch anyway", h.origin, h.next.UTC().Format("2006-01-02 15:04:05 UTC"), h.why))
}

// wait waits for the time of the host's next request; with Now, at most for the gap.
func (f *Fetcher) wait(ctx context.Context, out *Fetched, h *host) error {
	next := h.next
	if !f.Now {
		if err := h.tooLong("no request to %s before %s: %s"); err != nil {
			return err
		}
	} else if soon := time.Now().Add(f.Gap); next.After(soon) {
		next = soon
	}
	wait := time.Until(next)
	if wait <= 0 {
		return nil
	}
	out.say("waited %v for %s: %s", wait.Round(time.Millisecond), h.origin, h.why)
	if wait >= 2*time.Second && f.Waiting != nil {
		f.Waiting("waiting %v for %s: %s", wait.Round(time.Second), h.origin, h.why)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}

// asked sets the time of the next request after a response.
func (h *host) asked(a *client.Answer, err error) {
	now := time.Now()
	if a == nil {
		if err != nil && !errors.Is(err, courant.Forbidden) {
			h.next, h.why = now.Add(setback), "it did not answer"
		}
		return
	}
	h.next, h.why = now.Add(h.gap-a.Latency), h.pace
	h.rest(now.Add(min(2*a.Latency, mostLatency)-a.Latency), "its pace, twice its latency")
	answered := "it answered " + status(a.Status)
	switch {
	case a.Wall != "":
		h.rest(now.Add(wallWait), answered+" (bot wall of "+a.Wall+")")
	case a.Status >= 500, a.Status == http.StatusTooManyRequests:
		h.rest(now.Add(setback), answered)
	}
	h.rest(now.Add(a.RetryAfter), answered+" with Retry-After")
}

// robotsOf fetches the robots.txt of a host, over a few redirects, and returns where it
// was found.
func (f *Fetcher) robotsOf(ctx context.Context, out *Fetched, h *host) (a *client.Answer, at string, err error) {
	at = h.origin + "/robots.txt"
	been := map[string]bool{}
	for n := 0; ; n++ {
		if err := f.wait(ctx, out, f.place(at)); err != nil {
			return nil, at, err
		}
		a, err = f.Client.Get(ctx, client.Request{URL: at, Max: 4 * rules.MaxSize, Accept: "text/plain, */*;q=0.1"})
		f.place(at).asked(a, err)
		if err != nil || a.Location == "" {
			return a, at, err
		}
		to := link.Redact(a.Location)
		out.say("%s answered %s and redirects to %s", at, status(a.Status), to)
		been[at] = true
		switch bad := f.guards(a.Location); {
		case been[a.Location]:
			return nil, at, nowhere("%s/robots.txt ends in a redirect loop at %s: everything is allowed", h.origin, to)
		case n == robotsHops:
			return nil, at, nowhere("%s/robots.txt has more than %d redirects: everything is allowed", h.origin, robotsHops)
		case bad != nil:
			return nil, at, nowhere("%s/robots.txt redirects to %s, which may not be fetched: everything is allowed", h.origin, to)
		}
		at = a.Location
	}
}

// nowhereError says that the redirects of a robots.txt lead to no file.
type nowhereError string

func (e nowhereError) Error() string { return string(e) }

func nowhere(format string, args ...any) error { return nowhereError(fmt.Sprintf(format, args...)) }

// learn applies the response to the request for robots.txt.
func (h *host) learn(a *client.Answer, at string, err error, agent string) {
	own := at == h.origin+"/robots.txt"
	var nowhere nowhereError
	switch {
	case errors.As(err, &nowhere):
		h.free = string(nowhere)
	case own && (errors.Is(err, courant.Forbidden) || errors.Is(err, courant.NotFound)):
		h.refusal = err // the host itself may not be contacted, or does not exist
	case errors.Is(err, courant.Forbidden), errors.Is(err, courant.NotFound):
		h.free = fmt.Sprintf("%s/robots.txt redirects to %s, which cannot be fetched (%v): everything is allowed", h.origin, at, err)
	case err != nil:
		h.refusal = fmt.Errorf("%s is not available, so nothing may be fetched: %w", at, plain(err))
	case a.Status >= 500 || a.Status == http.StatusTooManyRequests:
		h.refusal = fmt.Errorf("%s answered %s, so nothing may be fetched", at, status(a.Status))
	case !a.Complete():
		h.free = fmt.Sprintf("%s answered %s: everything is allowed", at, status(a.Status))
	default:
		h.rules = rules.Parse(a.Body, agent)
		h.slower(h.rules.Delay, fmt.Sprintf("its robots.txt asks for %v between two requests (Crawl-delay)", setting.Duration(h.rules.Delay)))
		h.rest(time.Now().Add(h.gap-a.Latency), h.pace)
	}
}

// allows explains what robots.txt says about an address, and returns an error if it forbids it.
func (h *host) allows(out *Fetched, address, agent string) error {
	again := out.told == h.origin
	out.told = h.origin
	if h.free != "" && !again {
		out.say("%s", h.free)
	}
	if h.free != "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	if !h.rules.Allowed(u.RequestURI()) {
		return courant.Errorf(courant.Forbidden, "robots.txt of %s disallows it for %s", h.origin, rules.Token(agent))
	}
	if again {
		return nil
	}
	out.say("robots.txt of %s allows it for %s; pace: one request per %v", h.origin, rules.Token(agent), setting.Duration(h.gap))
	return nil
}

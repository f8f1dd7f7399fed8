package api

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// Host is the crawl state of an origin (scheme, name and port): each has its own
// robots.txt and pace.
type Host struct {
	Origin   string       `json:"origin"`
	Robot    string       `json:"robot"`    // the process that fetches from it; "" if none does now
	Next     courant.Time `json:"next"`     // no request before; empty if there is no wait
	Reason   string       `json:"reason"`   // of the wait
	Failures int          `json:"failures"` // in a row
	Refusals int          `json:"refusals"` // answers of 403 in a row
	Latency  string       `json:"latency"`  // smoothed, from the request to the header of its answer
	Pace     string       `json:"pace"`     // between two requests, learned from its rate limits (429); 0s for none
	// CrawlDelay is the time between two requests that its robots.txt asks for.
	CrawlDelay string `json:"crawl_delay"`

	// Domain is the wait that all hosts of its registrable domain share.
	Domain *DomainWait `json:"domain,omitempty"`

	Robots  HostRobots   `json:"robots"`
	Queue   []HostQueue  `json:"queue"`
	Sources []HostSource `json:"sources"` // up to 100, those polled last first
	Again   []HostAgain  `json:"again"`   // addresses that failed and are retried, up to 20
}

// HostAgain is an address that failed and is retried.
type HostAgain struct {
	URL      string       `json:"url"`
	Attempts int          `json:"attempts"`
	Status   int          `json:"status"` // of the last answer, 0 for none
	Problem  string       `json:"problem"`
	Due      courant.Time `json:"due"`
}

// DomainWait is a limit that the hosts of a domain share.
type DomainWait struct {
	Name   string       `json:"name"`
	Next   courant.Time `json:"next"`
	Reason string       `json:"reason"`
}

// HostRobots is the robots.txt in force.
type HostRobots struct {
	Status int          `json:"status"` // 200 rules, 404 everything is allowed, 503 nothing is allowed, 0 not fetched yet
	Until  courant.Time `json:"until"`  // when it is fetched again
	Text   string       `json:"text"`
}

// HostQueue counts waiting requests of one kind: polls, pictures, …
type HostQueue struct {
	Kind     string       `json:"kind"`
	Priority int          `json:"priority"` // lower goes first
	Count    int          `json:"count"`
	Oldest   courant.Time `json:"oldest"`
}

// HostSource is the last answer to a source of the host.
type HostSource struct {
	Name     string       `json:"name"`
	URL      string       `json:"url"` // that is polled, after a move
	Checked  courant.Time `json:"checked"`
	Status   int          `json:"status"`
	Failures int          `json:"failures"`
	Problem  string       `json:"problem"`
	Due      courant.Time `json:"due"`
}

// hosts lists the hosts in back-off, those with the longest wait first.
func (a *API) hosts(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	out := []Host{}
	err := a.Store.Rows(r.Context(), func(rows store.Rows) error {
		var h Host
		err := h.scan(rows)
		a.settle(&h)
		h.Robots.Text = ""
		if domain, ok := strings.CutPrefix(h.Origin, "*."); ok && isAddress(domain) {
			h.Origin = domain // stands for all its ports
		}
		out = append(out, h)
		return err
	}, waitingHosts, a.Store.Now().UnixMilli())
	return http.StatusOK, out, err
}

func (h *Host) scan(rows interface{ Scan(...any) error }) error {
	var until, next, latency, pace int64
	var text []byte
	h.CrawlDelay = "0s"
	err := rows.Scan(&h.Origin, &text, &h.Robots.Status, &until, &next, &h.Failures, &h.Refusals, &h.Reason, &latency, &pace)
	h.Robots.Until.Time, h.Next.Time = store.Time(until), store.Time(next)
	h.Latency, h.Pace = (time.Duration(latency) * time.Millisecond).String(), (time.Duration(pace) * time.Millisecond).String()
	if len(text) > 0 {
		if open, bad := pack.Open(text); bad == nil {
			h.Robots.Text = strings.ToValidUTF8(string(open), "\ufffd")
		}
	}
	return err
}

// settle completes a row: a wait that is over is removed; a wait for the Crawl-delay,
// and one without a reason, gets its reason.
func (a *API) settle(h *Host) {
	delay := time.Duration(0)
	if a.CrawlDelay != nil && h.Robots.Text != "" {
		delay = a.CrawlDelay([]byte(h.Robots.Text))
	}
	h.CrawlDelay = delay.String()
	left := h.Next.Sub(a.Store.Now())
	switch {
	case left <= 0:
		h.Next, h.Reason = courant.Time{}, ""
	case delay > 0 && left <= delay && h.Failures == 0:
		h.Reason = "its robots.txt asks for " + setting.Duration(delay).String() + " between two requests (Crawl-delay)"
	case h.Reason == "":
		h.Reason = "its pace"
	}
}

// isAddress says whether a host is an IP address. It has no domain; its ports share
// their waits.
func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// host gives the state of one host: of one origin if a scheme is given, of one port if
// that is given, else of all its origins.
func (a *API) host(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	name := r.URL.Query().Get("host")
	out, exact := []Host{}, strings.Contains(name, "://")
	err := a.Store.Read(r.Context(), func(q store.Reader) error {
		out = out[:0]
		origins, err := originsOf(q, name)
		for _, o := range origins {
			h := Host{Origin: o, Queue: []HostQueue{}, Sources: []HostSource{}, Again: []HostAgain{}}
			known, err := a.readHost(q, &h)
			if err != nil {
				return err
			}
			if known || exact && h.Domain != nil {
				out = append(out, h)
			}
		}
		return err
	})
	if err == nil && len(out) == 0 {
		err = courant.Errorf(courant.NotFound, "no request was ever sent to %q, and none is queued", name)
	}
	return http.StatusOK, out, err
}

// originsOf are the origins that a host, with or without scheme and port, stands for.
func originsOf(q store.Reader, name string) (origins []string, err error) {
	if isAddress(name) && strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	given := []string{name}
	if !strings.Contains(name, "://") {
		given = []string{"https://" + name, "http://" + name}
	}
	for _, g := range given {
		canonical, bad := link.Canonical(g)
		if bad != nil {
			return nil, courant.Errorf(courant.Invalid, "host must be a host or an origin, such as example.org or https://example.org, not %q", name)
		}
		origin := link.Origin(canonical)
		if len(given) == 1 || hasPort(name) {
			origins = append(origins, origin)
			continue
		}
		err = q.Rows(func(rows store.Rows) error {
			var o string
			err := rows.Scan(&o)
			origins = append(origins, o)
			return err
		}, originsOfHost, origin, origin+":", origin+";", courant.Partition(link.Domain(link.Host(origin))))
		if err != nil {
			return nil, err
		}
	}
	return origins, nil
}

// hasPort says whether a host has a port.
func hasPort(host string) bool {
	host, _, _ = strings.Cut(host, "/")
	return strings.LastIndexByte(host, ':') > strings.LastIndexByte(host, ']')
}

// readHost reads what is known about an origin; known is false if that is nothing.
func (a *API) readHost(q store.Reader, h *Host) (known bool, err error) {
	origin, domain, now := h.Origin, link.Domain(link.Host(h.Origin)), a.Store.Now()
	err = h.scan(q.Row(readHost, origin))
	known = err == nil
	if err != nil && !store.NoRow(err) {
		return false, err
	}
	h.Origin = origin
	var d Host
	if err := d.scan(q.Row(readHost, "*."+domain)); err == nil && d.Next.After(now) {
		h.Domain = &DomainWait{Name: domain, Next: d.Next, Reason: d.Reason}
	} else if err != nil && !store.NoRow(err) {
		return false, err
	}
	a.settle(h)
	if err := q.Row(readRobot, fmt.Sprint("robot/", courant.Partition(domain)), now.UnixMilli()).Scan(&h.Robot); err != nil && !store.NoRow(err) {
		return false, err
	}
	if err := h.readWork(q, origin, courant.Partition(domain)); err != nil {
		return false, err
	}
	return known || len(h.Queue)+len(h.Sources) > 0, nil
}

// readWork reads the queue of the host and its last answers.
func (h *Host) readWork(q store.Reader, origin string, partition int) error {
	err := q.Rows(func(rows store.Rows) error {
		var k HostQueue
		var oldest int64
		err := rows.Scan(&k.Kind, &k.Priority, &k.Count, &oldest)
		k.Oldest.Time = store.Time(oldest)
		h.Queue = append(h.Queue, k)
		return err
	}, readQueue, origin, partition)
	if err != nil {
		return err
	}
	err = q.Rows(func(rows store.Rows) error {
		var s HostSource
		var checked, due int64
		err := rows.Scan(&s.Name, &s.URL, &checked, &s.Status, &s.Failures, &s.Problem, &due)
		if due == table.Never {
			due = 0
		}
		s.Checked.Time, s.Due.Time = store.Time(checked), store.Time(due)
		h.Sources = append(h.Sources, s)
		return err
	}, sourcesOfHost, origin)
	if err != nil {
		return err
	}
	return q.Rows(func(rows store.Rows) error {
		var f HostAgain
		var due int64
		err := rows.Scan(&f.URL, &f.Attempts, &f.Status, &f.Problem, &due)
		f.Due.Time = store.Time(due)
		h.Again = append(h.Again, f)
		return err
	}, failedOfHost, origin, partition)
}

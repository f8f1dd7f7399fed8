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

// Host is how the robot fares with a host: scheme, name and port, for each such
// origin has a robots.txt and a pace of its own.
type Host struct {
	Origin   string       `json:"origin"`
	Robot    string       `json:"robot"`    // the process that asks it; "" if none does now
	Next     courant.Time `json:"next"`     // not asked before; empty if it may be asked now
	Reason   string       `json:"reason"`   // of a longer wait
	Failures int          `json:"failures"` // in a row
	Refusals int          `json:"refusals"` // answers of 403 in a row
	Latency  string       `json:"latency"`  // smoothed, until the header of an answer
	Pace     string       `json:"pace"`     // between two requests, if its limits (429) have taught one
	// CrawlDelay is the time between two requests that its robots.txt asks for.
	CrawlDelay string `json:"crawl_delay"`

	// Domain is what all hosts of its registrable domain wait for.
	Domain *DomainWait `json:"domain,omitempty"`

	Robots  HostRobots   `json:"robots"`
	Queue   []HostQueue  `json:"queue"`
	Sources []HostSource `json:"sources"` // up to 100, those asked last first
	Again   []HostAgain  `json:"again"`   // addresses that failed and are asked for again, up to 20
}

// HostAgain is an address that could not be had yet.
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

// HostRobots is the robots.txt that holds.
type HostRobots struct {
	Status int          `json:"status"` // 200 rules, 404 nothing is forbidden, 503 nothing is allowed, 0 not known
	Until  courant.Time `json:"until"`  // asked for again then
	Text   string       `json:"text"`
}

// HostQueue is what waits, by its kind: polls, pictures, …
type HostQueue struct {
	Kind     string       `json:"kind"`
	Priority int          `json:"priority"` // lower goes first
	Count    int          `json:"count"`
	Oldest   courant.Time `json:"oldest"`
}

// HostSource is the last answer to a source of the host.
type HostSource struct {
	Name     string       `json:"name"`
	URL      string       `json:"url"` // that is asked, after a move
	Checked  courant.Time `json:"checked"`
	Status   int          `json:"status"`
	Failures int          `json:"failures"`
	Problem  string       `json:"problem"`
	Due      courant.Time `json:"due"`
}

// hosts lists the hosts that are left alone for a while, those longest first.
func (a *API) hosts(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	out := []Host{}
	err := a.Store.Read(r.Context(), func(q store.Reader) error {
		return q.Rows(func(rows store.Rows) error {
			var h Host
			err := h.scan(rows)
			a.settle(&h)
			h.Robots.Text = ""
			if domain, ok := strings.CutPrefix(h.Origin, "*."); ok && isAddress(domain) {
				h.Origin = domain // all ports of it
			}
			out = append(out, h)
			return err
		}, waitingHosts, a.Store.Now().UnixMilli())
	})
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

// settle completes what a row says of a host: a wait that is over is none, and one that
// its robots.txt asks for has that for its reason.
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

// isAddress says whether a host is an IP address, which has no domain: its ports wait
// together.
func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// host tells what is known of one host: of one origin where a scheme is given, of one
// port where that is, else of all its origins.
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
		err = courant.Errorf(courant.NotFound, "nothing was ever asked of %q, and nothing waits for it", name)
	}
	return http.StatusOK, out, err
}

// likeEscape takes their meaning in LIKE from characters that hosts may have.
var likeEscape = strings.NewReplacer("!", "!!", "_", "!_", "%", "!%")

// originsOf are the origins that the name of a host stands for.
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
			return nil, courant.Errorf(courant.Invalid, "host: %q is no host: write example.org or https://example.org", name)
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
		}, originsOfHost, origin, likeEscape.Replace(origin)+":%", courant.Partition(link.Domain(link.Host(origin))))
		if err != nil {
			return nil, err
		}
	}
	return origins, nil
}

// hasPort says whether a host is written with a port.
func hasPort(host string) bool {
	host, _, _ = strings.Cut(host, "/")
	return strings.LastIndexByte(host, ':') > strings.LastIndexByte(host, ']')
}

// readHost reads what is known of an origin, and says whether that is anything.
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

// readWork reads what waits for the host, and its last answers.
func (h *Host) readWork(q store.Reader, origin string, part int) error {
	err := q.Rows(func(rows store.Rows) error {
		var k HostQueue
		var oldest int64
		err := rows.Scan(&k.Kind, &k.Priority, &k.Count, &oldest)
		k.Oldest.Time = store.Time(oldest)
		h.Queue = append(h.Queue, k)
		return err
	}, readQueue, origin, part)
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
	}, failedOfHost, origin, part)
}

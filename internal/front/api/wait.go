package api

import (
	"fmt"
	"slices"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/port/store"
)

// SourceWait is why a source is not polled when it is due.
type SourceWait struct {
	Next   courant.Time `json:"next"` // the earliest time of the poll; empty for as soon as possible
	Reason string       `json:"reason"`
}

// waits tells what sources wait for.
type waits struct {
	now    time.Time
	hosts  map[string]Host // by origin; what robot knows of them
	robots map[int]bool    // partitions of hosts for which a robot runs
}

// waitsOf reads what the waits of sources depend on, in two round trips.
func (a *API) waitsOf(q store.Reader, sources []SourceState) (*waits, error) {
	w := &waits{now: a.Store.Now(), hosts: map[string]Host{}, robots: map[int]bool{}}
	origins, partitions := map[string]bool{}, map[int]bool{}
	for i := range sources {
		partitions[sources[i].partition] = true
		for _, origin := range sources[i].origins() {
			origins[origin], origins[ofDomain(origin)] = true, true
		}
	}
	var args [][]any
	for origin := range origins {
		args = append(args, []any{origin})
	}
	err := q.RowsAll(func(_ int, rows store.Rows) error {
		var h Host
		err := h.scan(rows)
		a.settle(&h)
		w.hosts[h.Origin] = h
		return err
	}, readHost, args)
	if err != nil {
		return nil, err
	}
	var robots []int
	args = nil
	for n := range partitions {
		robots, args = append(robots, n), append(args, []any{fmt.Sprint("robot/", n), w.now.UnixMilli()})
	}
	return w, q.RowsAll(func(i int, _ store.Rows) error {
		w.robots[robots[i]] = true
		return nil
	}, readRobot, args)
}

// origins are those of the source's address and of its redirects, the first one first.
func (s *SourceState) origins() []string {
	all := []string{link.Origin(s.asked())}
	for _, address := range []string{s.redirect, s.moved, s.final} {
		if origin := link.Origin(address); origin != "" && !slices.Contains(all, origin) {
			all = append(all, origin)
		}
	}
	return all
}

// ofDomain is the row of hosts for what all hosts of an origin's domain wait for.
func ofDomain(origin string) string { return "*." + link.Domain(link.Host(origin)) }

// shortWait is the longest wait that is not reported: the normal pace.
const shortWait = 2 * time.Second

// of is what a source waits for; nil if only for its interval.
func (w *waits) of(s *SourceState) *SourceWait {
	due := s.Due.Time
	if s.asking || due.Before(w.now) {
		due = w.now
	}
	switch {
	case s.Kind == courant.KindFile || !s.Gone.IsZero():
		return nil
	case s.reading && due.Equal(w.now):
		return &SourceWait{Reason: "its newest download is being read"}
	}
	if wait := w.longest(s); wait.Next.Sub(due) > shortWait {
		return &wait
	}
	switch {
	case due.After(w.now):
		return nil
	case !w.robots[s.partition]:
		return &SourceWait{Reason: "no robot is running; start one with `courant run`"}
	case s.asking:
		return &SourceWait{Reason: "it is queued for " + link.Origin(s.asked()) + ", or for a host that it redirects to"}
	case s.Checked.IsZero():
		return &SourceWait{Reason: "it has not been polled yet and is next"}
	}
	return nil
}

// longest is the longest wait among the hosts of the source's address and of its
// redirects.
func (w *waits) longest(s *SourceState) SourceWait {
	origins := s.origins()
	most := w.at(origins[0], s.Robots)
	for _, origin := range origins[1:] {
		if there := w.at(origin, true); there.Next.After(most.Next.Time) {
			most = SourceWait{Next: there.Next, Reason: "it redirects to " + origin + ", and " + there.Reason}
		}
	}
	return most
}

// asked is the address that is polled.
func (s *SourceState) asked() string {
	if s.Asks != "" {
		return s.Asks
	}
	return s.URL
}

// at is how long an origin gets no requests: because of its own wait, that of its
// domain, or because its robots.txt is not available.
func (w *waits) at(origin string, robots bool) SourceWait {
	var most SourceWait
	more := func(until courant.Time, reason string) {
		if until.After(w.now) && until.After(most.Next.Time) {
			most = SourceWait{Next: until, Reason: reason}
		}
	}
	h := w.hosts[origin]
	more(h.Next, origin+" is in back-off until then: "+h.Reason)
	if robots && h.Robots.Status == 503 {
		more(h.Robots.Until, "robots.txt of "+origin+" is not available, so nothing may be fetched; it is requested again then")
	}
	domain := link.Domain(link.Host(origin))
	which := "all hosts of " + domain + " are"
	if isAddress(domain) {
		which = domain + " is"
	}
	d := w.hosts[ofDomain(origin)]
	more(d.Next, which+" in back-off until then: "+d.Reason)
	return most
}

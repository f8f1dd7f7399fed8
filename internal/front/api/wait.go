package api

import (
	"fmt"
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
	now   time.Time
	host  func(origin string) (Host, error) // NotFound if nothing is known about the host
	robot func(partition int) (bool, error) // whether a robot runs for a partition of hosts
}

// oneWait looks up what is needed for one source.
func (a *API) oneWait(q store.Reader) *waits {
	w := &waits{now: a.Store.Now()}
	w.host = func(origin string) (h Host, err error) {
		err = h.scan(q.Row(readHost, origin))
		a.settle(&h)
		return h, err
	}
	w.robot = func(partition int) (bool, error) {
		var owner string
		err := q.Row(readRobot, fmt.Sprint("robot/", partition), w.now.UnixMilli()).Scan(&owner)
		if store.NoRow(err) {
			return false, nil
		}
		return err == nil, err
	}
	return w
}

// allWaits reads what is needed for a list of sources, in two queries.
func (a *API) allWaits(q store.Reader) (*waits, error) {
	w := &waits{now: a.Store.Now()}
	hosts, held := map[string]Host{}, map[string]bool{}
	err := q.Rows(func(rows store.Rows) error {
		var h Host
		err := h.scan(rows)
		a.settle(&h)
		hosts[h.Origin] = h
		return err
	}, restingHosts, w.now.UnixMilli())
	if err != nil {
		return nil, err
	}
	w.host = func(origin string) (Host, error) {
		h, ok := hosts[origin]
		if !ok {
			return h, courant.Errorf(courant.NotFound, "%s is not in back-off", origin)
		}
		return h, nil
	}
	w.robot = func(partition int) (bool, error) { return held[fmt.Sprint("robot/", partition)], nil }
	return w, q.Rows(func(rows store.Rows) error {
		var name string
		err := rows.Scan(&name)
		held[name] = true
		return err
	}, robotLeases, w.now.UnixMilli())
}

// shortWait is the longest wait that is not reported: the normal pace.
const shortWait = 2 * time.Second

// of is what a source waits for; nil if only for its interval.
func (w *waits) of(s *SourceState) (*SourceWait, error) {
	due := s.Due.Time
	if s.asking || due.Before(w.now) {
		due = w.now
	}
	switch {
	case s.Kind == courant.KindFile || !s.Gone.IsZero():
		return nil, nil
	case s.reading && due.Equal(w.now):
		return &SourceWait{Reason: "its newest download is being read"}, nil
	}
	wait, err := w.longest(s)
	if err != nil || wait.Next.Sub(due) > shortWait {
		return &wait, err
	}
	if due.After(w.now) {
		return nil, nil
	}
	runs, err := w.robot(s.partition)
	switch {
	case err != nil:
		return nil, err
	case !runs:
		return &SourceWait{Reason: "no robot is running; start one with `courant run`"}, nil
	case s.asking:
		return &SourceWait{Reason: "it is queued for " + link.Origin(s.asked()) + ", or for a host that it redirects to"}, nil
	case s.Checked.IsZero():
		return &SourceWait{Reason: "it has not been polled yet and is next"}, nil
	}
	return nil, nil
}

// longest is the longest wait among the hosts of the source's address and of its
// redirects.
func (w *waits) longest(s *SourceState) (SourceWait, error) {
	own := link.Origin(s.asked())
	most, err := w.at(own, s.Robots)
	for _, address := range []string{s.redirect, s.moved, s.final} {
		origin := link.Origin(address)
		if err != nil || origin == "" || origin == own {
			continue
		}
		var there SourceWait
		if there, err = w.at(origin, true); there.Next.After(most.Next.Time) {
			most = SourceWait{Next: there.Next, Reason: "it redirects to " + origin + ", and " + there.Reason}
		}
	}
	return most, err
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
func (w *waits) at(origin string, robots bool) (SourceWait, error) {
	var most SourceWait
	more := func(until courant.Time, reason string) {
		if until.After(w.now) && until.After(most.Next.Time) {
			most = SourceWait{Next: until, Reason: reason}
		}
	}
	h, err := w.host(origin)
	if err != nil && !store.NoRow(err) {
		return most, err
	}
	more(h.Next, origin+" is in back-off until then: "+h.Reason)
	if robots && h.Robots.Status == 503 {
		more(h.Robots.Until, "robots.txt of "+origin+" is not available, so nothing may be fetched; it is requested again then")
	}
	domain := link.Domain(link.Host(origin))
	d, err := w.host("*." + domain)
	if err != nil && !store.NoRow(err) {
		return most, err
	}
	which := "all hosts of " + domain + " are"
	if isAddress(domain) {
		which = domain + " is"
	}
	more(d.Next, which+" in back-off until then: "+d.Reason)
	return most, nil
}

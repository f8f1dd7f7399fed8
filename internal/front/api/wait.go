package api

import (
	"fmt"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/port/store"
)

// SourceWait is why a source is not asked when it is due.
type SourceWait struct {
	Next   courant.Time `json:"next"` // asked then at the earliest; empty for as soon as may be
	Reason string       `json:"reason"`
}

// waits tells of sources what they wait for.
type waits struct {
	now   time.Time
	host  func(origin string) (Host, error) // NotFound for one that nothing is known of
	robot func(part int) (bool, error)      // one runs for the hosts of a part
}

// oneWait looks up what one source needs.
func (a *API) oneWait(q store.Reader) *waits {
	w := &waits{now: a.Store.Now()}
	w.host = func(origin string) (h Host, err error) {
		err = h.scan(q.Row(readHost, origin))
		a.settle(&h)
		return h, err
	}
	w.robot = func(part int) (bool, error) {
		var owner string
		err := q.Row(readRobot, fmt.Sprint("robot/", part), w.now.UnixMilli()).Scan(&owner)
		if store.NoRow(err) {
			return false, nil
		}
		return err == nil, err
	}
	return w
}

// allWaits reads at once what a list of sources needs.
func (a *API) allWaits(q store.Reader) (*waits, error) {
	w := &waits{now: a.Store.Now()}
	hosts, parts := map[string]Host{}, map[string]bool{}
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
			return h, courant.Errorf(courant.NotFound, "%s does not rest", origin)
		}
		return h, nil
	}
	w.robot = func(part int) (bool, error) { return parts[fmt.Sprint("robot/", part)], nil }
	return w, q.Rows(func(rows store.Rows) error {
		var name string
		err := rows.Scan(&name)
		parts[name] = true
		return err
	}, robotParts, w.now.UnixMilli())
}

// shortWait is a wait that is not worth telling: a pace.
const shortWait = 2 * time.Second

// of says what a source waits for, nil for nothing beyond its interval.
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
	runs, err := w.robot(s.part)
	switch {
	case err != nil:
		return nil, err
	case !runs:
		return &SourceWait{Reason: "no robot runs: courant run"}, nil
	case s.asking:
		return &SourceWait{Reason: "it waits for its turn at " + link.Origin(s.asked()) + ", or at a host that it is redirected to"}, nil
	case s.Checked.IsZero():
		return &SourceWait{Reason: "it was not asked yet, and is about to be"}, nil
	}
	return nil, nil
}

// longest is the longest wait of the hosts that the source's address and its redirects
// lead to.
func (w *waits) longest(s *SourceState) (SourceWait, error) {
	own := link.Origin(s.asked())
	most, err := w.at(own, s.Robots)
	for _, address := range []string{s.led, s.moved, s.final} {
		origin := link.Origin(address)
		if err != nil || origin == "" || origin == own {
			continue
		}
		var there SourceWait
		if there, err = w.at(origin, true); there.Next.After(most.Next.Time) {
			most = SourceWait{Next: there.Next, Reason: "it is redirected to " + origin + ", and " + there.Reason}
		}
	}
	return most, err
}

// asked is the address that is asked.
func (s *SourceState) asked() string {
	if s.Asks != "" {
		return s.Asks
	}
	return s.URL
}

// at is how long an origin is not asked: by its own wait, that of its domain, or for
// lack of its robots.txt.
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
	more(h.Next, origin+" is left alone until then: "+h.Reason)
	if robots && h.Robots.Status == 503 {
		more(h.Robots.Until, "robots.txt of "+origin+" cannot be had, so that nothing may be fetched; it is asked for again then")
	}
	domain := link.Domain(link.Host(origin))
	d, err := w.host("*." + domain)
	if err != nil && !store.NoRow(err) {
		return most, err
	}
	whom := "all hosts of " + domain + " are"
	if isAddress(domain) {
		whom = domain + " is"
	}
	more(d.Next, whom+" left alone until then: "+d.Reason)
	return most, nil
}

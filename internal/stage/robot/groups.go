package robot

import (
	"net/netip"
	"time"

	"github.com/courant-platform/courant/internal/kit/link"
)

// groups are sets of hosts that may share a limit: the hosts of one registrable
// domain, and those at one IP address. If members fail, the robot backs off from all
// of them, and for a while afterwards they share the pace of one host.
type groups struct {
	gap       time.Duration
	domains   map[string]*group
	addresses map[netip.Addr]*group
}

const (
	groupMemory = 10 * time.Minute // how long a member's failure counts, and how long the members share a pace
	groupMost   = time.Hour        // longest time for which one member alone can block the others
	fewSiblings = 2                // failing hosts of a domain before the domain is taken to be the cause
	fewDomains  = 3                // failing domains at an address, if they are at least half of those seen there
)

type group struct {
	until   time.Time // no request before
	shared  time.Time // until then the members share a pace
	slot    time.Time // time of the next free request slot
	failing members
	seen    members // at an address: domains that answered or failed since the first failure
}

// turn returns the earliest time of a host's next request by its groups: now or later.
func (s *groups) turn(h *host, now time.Time) time.Time {
	if len(s.domains) == 0 && len(s.addresses) == 0 {
		return now
	}
	at, shared := now, false
	both := [2]*group{s.domains[h.domain()], s.addresses[h.address]}
	for _, g := range both {
		if g != nil {
			at = later(at, g.until)
			shared = shared || now.Before(g.shared)
		}
	}
	if !shared || h.turn && at.Equal(now) {
		h.turn = false
		return at
	}
	for _, g := range both {
		if g != nil {
			at = later(at, g.slot)
		}
	}
	for _, g := range both {
		if g != nil {
			g.slot = at.Add(s.gap)
		}
	}
	h.turn = at.After(now) // the slot is its own when the time comes
	return at
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// failed notes a failure of a host and its back-off of length wait. It returns the end
// of the back-off from the whole domain, zero if the domain is not taken to be the
// cause. A limit (429) is taken to be the whole domain's at once.
func (s *groups) failed(h *host, now time.Time, wait time.Duration, limit bool) (until time.Time) {
	domain := h.domain()
	g := s.domain(domain)
	switch siblings := g.failing.note(h.origin, now); {
	case siblings >= fewSiblings:
		until = now.Add(wait)
	case limit:
		until = now.Add(min(wait, groupMost))
	}
	g.block(until)
	if a := s.address(h.address); a != nil {
		a.seen.note(domain, now)
		if failing := a.failing.note(domain, now); failing >= fewDomains && 2*failing >= len(a.seen) {
			a.block(now.Add(wait))
		}
	}
	return until
}

// block backs off from all hosts of a host's domain.
func (s *groups) block(h *host, until time.Time) { s.domain(h.domain()).block(until) }

func (s *groups) domain(name string) *group {
	g := s.domains[name]
	if g == nil {
		if s.domains == nil {
			s.domains = map[string]*group{}
		}
		g = &group{}
		s.domains[name] = g
	}
	return g
}

// address is the group of an IP address at which a host failed; nil if the address is
// unknown.
func (s *groups) address(a netip.Addr) *group {
	if !a.IsValid() {
		return nil
	}
	g := s.addresses[a]
	if g == nil {
		if s.addresses == nil {
			s.addresses = map[netip.Addr]*group{}
		}
		g = &group{}
		s.addresses[a] = g
	}
	return g
}

// answered notes a good response of a host.
func (s *groups) answered(h *host, now time.Time) {
	if g := s.domains[h.domain()]; g != nil {
		delete(g.failing, h.origin)
	}
	if g := s.addresses[h.address]; g != nil {
		delete(g.failing, h.domain())
		g.seen.note(h.domain(), now)
	}
}

// block backs off from all members until a time.
func (g *group) block(until time.Time) {
	g.until = later(g.until, until)
	if !until.IsZero() {
		g.shared = later(g.shared, until.Add(groupMemory))
		g.slot = later(g.slot, until)
	}
}

// members maps names to the time of their last event.
type members map[string]time.Time

// note records an event and returns the number of members with recent events.
func (m *members) note(name string, now time.Time) int {
	if *m == nil {
		*m = members{}
	}
	(*m)[name] = now
	return len(*m)
}

func (m members) forget(now time.Time) {
	for name, at := range m {
		if now.Sub(at) > groupMemory {
			delete(m, name)
		}
	}
}

// forget drops groups that block no host.
func (s *groups) forget(now time.Time) {
	for name, g := range s.domains {
		if g.idle(now) {
			delete(s.domains, name)
		}
	}
	for address, g := range s.addresses {
		if g.idle(now) {
			delete(s.addresses, address)
		}
	}
}

func (g *group) idle(now time.Time) bool {
	g.failing.forget(now)
	g.seen.forget(now)
	return len(g.failing) == 0 && !now.Before(g.until) && !now.Before(g.shared)
}

// domain is the registrable domain of the host.
func (h *host) domain() string { return link.Domain(link.Host(h.origin)) }

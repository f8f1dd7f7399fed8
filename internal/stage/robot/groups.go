package robot

import (
	"net/netip"
	"time"

	"github.com/courant-platform/courant/internal/kit/link"
)

// groups are hosts that may share a limit: those of one registrable domain, and
// those at one address. While members fail, all are left alone, and for a while
// after that they are asked at the pace of one host, in turns.
type groups struct {
	gap       time.Duration
	domains   map[string]*group
	addresses map[netip.Addr]*group
}

const (
	groupMemory = 10 * time.Minute // how long a failure of a member counts, and turns are kept up
	groupMost   = time.Hour        // that one member alone can block the others
	fewSiblings = 2                // hosts of a domain that fail before it is taken for the cause
	fewDomains  = 3                // domains at an address, if they are half of those seen there
)

type group struct {
	until   time.Time // nobody is asked before
	shared  time.Time // until then members take turns
	slot    time.Time // the next free turn
	failing members
	seen    members // at an address: those that answered or failed since the first failure
}

// turn says when a host may be asked, now or later.
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
	h.turn = at.After(now) // when it comes, it counts
	return at
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// failed notes that a host could not answer and is not asked for a time. It says
// until when its domain is not asked either, zero if that is not held to be the
// cause. A limit (429) is taken to be the domain's at once.
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

// block leaves the hosts of a host's domain alone.
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

// address is the group of an address at which somebody failed; nil where addresses
// are not known.
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

// answered notes that a host answers again.
func (s *groups) answered(h *host, now time.Time) {
	if g := s.domains[h.domain()]; g != nil {
		delete(g.failing, h.origin)
	}
	if g := s.addresses[h.address]; g != nil {
		delete(g.failing, h.domain())
		g.seen.note(h.domain(), now)
	}
}

// block leaves all members alone until a time.
func (g *group) block(until time.Time) {
	g.until = later(g.until, until)
	if !until.IsZero() {
		g.shared = later(g.shared, until.Add(groupMemory))
		g.slot = later(g.slot, until)
	}
}

// members were noted at a time.
type members map[string]time.Time

// note says how many members were noted of late, with this one.
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

// forget lets go of groups that block nobody.
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

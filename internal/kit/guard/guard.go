// Package guard protects against server-side request forgery (SSRF). It refuses
// addresses that are not public, in every spelling, both in the URL and after name
// resolution at the dial, except those that the operator allows.
package guard

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
)

// Guard decides which addresses may be fetched: by the URL for every redirect, and by
// the resolved address for every dial.
type Guard struct {
	Allow []Exempt                // exemptions by the operator
	Ports []int                   // 80, 443, 8080 and 8443 unless set
	Own   func() []netip.AddrPort // listeners of this server, always refused
	// Proxied says that a proxy resolves names, so Control does not see their addresses.
	Proxied bool
}

// Exempt is an address or a prefix that is allowed although it is not public, on one
// port or, if Port is 0, on all.
type Exempt struct {
	Prefix netip.Prefix
	Port   int
}

// ParseExempt reads IP[:port] or prefix[:port]; IPv6 with a port has brackets.
func ParseExempt(s string) (Exempt, error) {
	host, port := s, ""
	if i := strings.LastIndexByte(s, ':'); i >= 0 && (strings.Count(s, ":") == 1 || s[i-1] == ']' || strings.Contains(s[:i], "]/")) {
		host, port = s[:i], s[i+1:]
	}
	host = strings.NewReplacer("[", "", "]", "").Replace(host)
	var e Exempt
	var err error
	if strings.Contains(host, "/") {
		e.Prefix, err = netip.ParsePrefix(host)
	} else {
		var a netip.Addr
		a, err = netip.ParseAddr(host)
		if a = a.Unmap(); err == nil {
			e.Prefix, err = a.Prefix(a.BitLen())
		}
	}
	if err == nil && port != "" {
		e.Port, err = strconv.Atoi(port)
	}
	if err != nil || e.Port < 0 || e.Port > 65535 {
		return e, courant.Errorf(courant.Invalid, "%q is not an address: write 192.0.2.7, 10.0.0.0/8 or [fd00::1]:8080", s)
	}
	return e, nil
}

// Exempts reports whether the operator allows the address.
func (g *Guard) Exempts(a netip.AddrPort) bool {
	for _, e := range g.Allow {
		if e.Prefix.Contains(a.Addr().Unmap()) && (e.Port == 0 || e.Port == int(a.Port())) {
			return true
		}
	}
	return false
}

// URL checks the scheme, the port and the host of a URL before name resolution. Errors
// are of kind courant.Forbidden.
func (g *Guard) URL(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return forbidden("%s: only http and https are fetched", u.Redacted())
	}
	if u.User != nil {
		return forbidden("%s: an address with a password in it is not fetched", u.Redacted())
	}
	canonical, err := link.Canonical(u.String()) // converts digits of other scripts
	if err != nil {
		return forbidden("%s: %v", u.Redacted(), err)
	}
	port := Port(u)
	host := strings.TrimSuffix(link.Host(canonical), ".")
	if a, ok := Literal(host); ok {
		return g.address(netip.AddrPortFrom(a, uint16(port)))
	}
	local := host == "localhost" || strings.HasSuffix(host, ".localhost") || !strings.Contains(host, ".")
	if local && (len(g.Allow) == 0 || g.Proxied) {
		return forbidden("%s: the host name %q is not public", u.Redacted(), host)
	}
	if local {
		return nil // the dial decides
	}
	return g.port(port)
}

func (g *Guard) port(port int) error {
	allowed := g.Ports
	if len(allowed) == 0 {
		allowed = []int{80, 443, 8080, 8443}
	}
	for _, p := range allowed {
		if p == port {
			return nil
		}
	}
	return forbidden("port %d is not one of the allowed ports %v", port, allowed)
}

// address checks a resolved or literal address.
func (g *Guard) address(a netip.AddrPort) error {
	a = netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
	if g.Own != nil {
		for _, own := range g.Own() {
			if own.Port() == a.Port() && (own.Addr().Unmap() == a.Addr() || own.Addr().IsUnspecified()) {
				return forbidden("address %s belongs to this server", a)
			}
		}
	}
	if g.Exempts(a) {
		return nil
	}
	network := "tcp6"
	if a.Addr().Is4() {
		network = "tcp4"
	}
	if err := ssrf.New(ssrf.WithAnyPort()).Safe(network, a.String(), nil); err != nil {
		return forbidden("address %s is not a public one (robot.allow_addresses can allow it)", a.Addr())
	}
	return g.port(int(a.Port()))
}

// Control is for net.Dialer. It checks the address that is dialled, so a name that
// resolves differently after the check (DNS rebinding) is refused too.
func (g *Guard) Control(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return forbidden("%q is not an IP address and port", address)
	}
	return g.address(a)
}

func forbidden(format string, args ...any) error {
	return courant.Errorf(courant.Forbidden, "not allowed: %s", fmt.Sprintf(format, args...))
}

// Port returns the port of a URL, or the default port of its scheme.
func Port(u *url.URL) int {
	if p, err := strconv.Atoi(u.Port()); err == nil {
		return p
	}
	if u.Scheme == "https" {
		return 443
	}
	return 80
}

// Literal parses an IP address in every spelling that resolvers accept, such as
// 127.1, 0x7f.1, 017700000001 and 2130706433.
func Literal(host string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return a.WithZone(""), true
	}
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(octal(p), 0, 32)
		last := i == len(parts)-1
		if err != nil || !last && n > 255 || last && n >= 1<<(8*(5-len(parts))) {
			return netip.Addr{}, false
		}
		if last {
			sum = sum<<(8*(5-len(parts))) | n
		} else {
			sum = sum<<8 | n
		}
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

// octal refuses the spellings 0_1, 0b1 and 0o1, which strconv would accept.
func octal(s string) string {
	if strings.ContainsAny(s, "_boBO") || s == "" {
		return "x"
	}
	return s
}

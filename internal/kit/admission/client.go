package admission

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Client is who asks: an IPv4 address, an IPv6 network of 64 bits, which one person
// usually has, or the holders of a token.
type Client string

// Holders are all clients with a valid token.
const Holders Client = "holders of a token"

// ClientOf is the client of a request. X-Forwarded-For counts if the request comes from a
// proxy of ours: then it is the last address in it that is not one of them.
func ClientOf(r *http.Request, proxies []netip.Prefix) Client {
	addr := addressOf(r.RemoteAddr)
	if ours(addr, proxies) {
		list := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		for _, text := range slices.Backward(list) {
			before := addressOf(strings.TrimSpace(text))
			if !before.IsValid() {
				break
			}
			if addr = before; !ours(addr, proxies) {
				break
			}
		}
	}
	return network(addr)
}

// addressOf parses an address with or without a port.
func addressOf(text string) netip.Addr {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}

func ours(a netip.Addr, proxies []netip.Prefix) bool {
	return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

func network(a netip.Addr) Client {
	if !a.IsValid() {
		return "" // a test, or a socket without addresses
	}
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return Client(p.String())
		}
	}
	return Client(a.String())
}

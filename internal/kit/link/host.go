package link

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/courant-platform/courant"
)

// maxRawHost is the limit of a host before IDNA, which takes quadratic time.
const maxRawHost = 1024

// canonicalHost returns the canonical form of a host and port.
func canonicalHost(scheme, hostport string) (string, error) {
	host, port, err := cutPort(scheme, hostport)
	if err != nil {
		return "", err
	}
	switch {
	case host == "":
		return "", courant.Errorf(courant.Invalid, "the URL has no host")
	case host[0] == '[':
		host, err = ipv6(host)
	default:
		host, err = name(host)
	}
	if err != nil {
		return "", err
	}
	return host + port, nil
}

// cutPort splits off the port. It returns the port with its colon, or "" for the default
// port of the scheme.
func cutPort(scheme, hostport string) (host, port string, err error) {
	i := strings.LastIndexByte(hostport, ':')
	if i < 0 || strings.IndexByte(hostport[i:], ']') >= 0 {
		return hostport, "", nil
	}
	host, digits := hostport[:i], hostport[i+1:]
	if digits == "" {
		return host, "", nil
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return "", "", courant.Errorf(courant.Invalid, "the port %.20q is not a number from 0 to 65535", digits)
	}
	if scheme == "http" && n == 80 || scheme == "https" && n == 443 {
		return host, "", nil
	}
	return host, ":" + strconv.FormatUint(n, 10), nil
}

func ipv6(host string) (string, error) {
	a, err := netip.ParseAddr(strings.TrimSuffix(host[1:], "]"))
	if err != nil || !a.Is6() || a.Zone() != "" || !strings.HasSuffix(host, "]") {
		return "", courant.Errorf(courant.Invalid, "the host %.60q is not an IPv6 address", host)
	}
	return "[" + a.String() + "]", nil
}

// name returns the canonical form of a domain name or IPv4 address.
func name(host string) (string, error) {
	if len(host) > maxRawHost {
		return "", badName(host)
	}
	host = unescapeAll(host)
	if !utf8.ValidString(host) {
		return "", badName(host)
	}
	ascii := strings.ToLower(host)
	if !isASCII(host) || strings.Contains(ascii, "xn--") {
		var err error
		// The options of the URL standard: underscores and odd hyphens occur.
		p := idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false),
			idna.CheckHyphens(false), idna.CheckJoiners(true), idna.BidiRule(), idna.VerifyDNSLength(false))
		if ascii, err = p.ToASCII(host); err != nil {
			return "", badName(host)
		}
	}
	ascii = strings.TrimSuffix(ascii, ".")
	if len(ascii) > 253 || !validName(ascii) {
		return "", badName(host)
	}
	if !isNumeric(ascii) {
		return ascii, nil
	}
	a, ok := ipv4(ascii)
	if !ok {
		return "", badName(host)
	}
	return a.String(), nil
}

func badName(host string) error {
	return courant.Errorf(courant.Invalid, "the host %.60q is not a valid host name", host)
}

func unescapeAll(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if c, ok := unescape(s, i); ok {
			b = append(b, c)
			i += 2
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// validName checks characters and the length of labels.
func validName(s string) bool {
	label := 0
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '.':
			if label == 0 {
				return false
			}
			label = 0
			continue
		case c <= ' ' || c >= 0x7f || c >= 'A' && c <= 'Z' || strings.IndexByte("#/<>?@[\\]^|%:\"`{}", c) >= 0:
			return false
		}
		if label++; label > 63 {
			return false
		}
	}
	return label > 0
}

// isNumeric reports whether the standard parses a host as an IPv4 address: its last
// label is a number.
func isNumeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" {
		return false
	}
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// ipv4 parses an address in any of the old spellings: 127.1, 0x7f000001, 0177.0.0.1.
func ipv4(host string) (netip.Addr, bool) {
	labels := strings.Split(host, ".")
	if len(labels) > 4 {
		return netip.Addr{}, false
	}
	var v uint64
	for i, l := range labels {
		n, ok := number(l)
		last := i == len(labels)-1
		if !ok || !last && n > 255 || last && n >= 1<<(8*(5-len(labels))) {
			return netip.Addr{}, false
		}
		if last {
			v |= n
		} else {
			v |= n << (8 * (3 - i))
		}
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), true
}

func number(s string) (uint64, bool) {
	base := 10
	switch {
	case strings.HasPrefix(s, "0x"):
		s, base = s[2:], 16
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	if s == "" {
		return 0, base == 16
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil && s[0] != '+'
}

package guard_test

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/guard"
)

// notPublic holds addresses of every kind that is not public.
var notPublic = []string{
	"127.0.0.1", "127.255.255.254", "0.0.0.0", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "169.254.169.254",
	"fd00:ec2::254", "100.64.0.1", "10.0.0.1", "172.16.0.1", "172.31.255.254", "192.168.1.1", "192.0.0.192", "192.0.2.1",
	"198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "64:ff9b::7f00:1",
	"64:ff9b:1::7f00:1", "2002:7f00:1::", "2001::1", "fec0::1", "fe80::1", "::7f00:1", "5f00::1", "3fff::1", "2001:db8::1", "ff02::1",
}

func TestAddressesThatAreNotPublicAreRefused(t *testing.T) {
	g := &guard.Guard{}
	for _, a := range notPublic {
		hostport := net.JoinHostPort(a, "80")
		if err := g.Control("tcp", hostport, nil); !errors.Is(err, courant.Forbidden) {
			t.Errorf("dialling %s: %v", a, err)
		}
		u := &url.URL{Scheme: "http", Host: hostport}
		if err := g.URL(u); !errors.Is(err, courant.Forbidden) {
			t.Errorf("%s: %v", u, err)
		}
	}
	zoned, err := url.Parse("http://[fe80::1%25lo]/")
	if err != nil {
		t.Fatal(err)
	}
	if err := g.URL(zoned); !errors.Is(err, courant.Forbidden) {
		t.Errorf("%s: %v", zoned, err)
	}
}

func TestPublicAddressesAreAllowed(t *testing.T) {
	g := &guard.Guard{}
	for _, a := range []string{"93.184.216.34:80", "[2606:2800:220:1::1]:443", "8.8.8.8:8080", "1.1.1.1:8443"} {
		if err := g.Control("tcp", a, nil); err != nil {
			t.Errorf("dialling %s: %v", a, err)
		}
		if err := g.URL(&url.URL{Scheme: "http", Host: a}); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	}
}

func TestOnlyHTTPOnItsPortsIsFetched(t *testing.T) {
	g := &guard.Guard{}
	for _, address := range []string{
		"ftp://site.example/", "file:///etc/passwd", "gopher://site.example/", "javascript:alert(1)", "data:text/plain,a", "//site.example/",
		"http://site.example:22/", "http://site.example:25/", "http://site.example:6379/", "http://site.example:0/",
		"http://site.example:65536/", "http://site.example:65616/", "http://user:secret@site.example/", "http://93.184.216.34:22/", "http://x#@y",
	} {
		u, err := url.Parse(address)
		if err != nil {
			continue // never gets as far as the guard
		}
		err = g.URL(u)
		if !errors.Is(err, courant.Forbidden) {
			t.Errorf("%s: %v", address, err)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error tells the password: %v", address, err)
		}
	}
}

func TestAnExemptionHoldsForItsAddressAndPortOnly(t *testing.T) {
	g := &guard.Guard{}
	for _, s := range []string{"192.168.1.7", "10.0.0.0/8:8000", "[fd00::1]:9000", "fd01::/16"} {
		e, err := guard.ParseExempt(s)
		if err != nil {
			t.Fatal(err)
		}
		g.Allow = append(g.Allow, e)
	}
	for address, allowed := range map[string]bool{
		"192.168.1.7:80": true, "192.168.1.7:12345": true, "192.168.1.8:80": false, "[::ffff:192.168.1.7]:80": true,
		"10.9.9.9:8000": true, "10.9.9.9:80": false, "[fd00::1]:9000": true, "[fd00::1]:80": false, "[fd00::2]:9000": false,
		"[fd01::5]:1": true, "127.0.0.1:80": false,
	} {
		err := g.Control("tcp", address, nil)
		if (err == nil) != allowed {
			t.Errorf("dialling %s: %v", address, err)
		}
		if err := g.URL(&url.URL{Scheme: "http", Host: address}); (err == nil) != allowed {
			t.Errorf("http://%s: %v", address, err)
		}
	}
}

func TestOurOwnListenersAreNeverReached(t *testing.T) {
	all, err := guard.ParseExempt("0.0.0.0/0")
	if err != nil {
		t.Fatal(err)
	}
	g := &guard.Guard{Allow: []guard.Exempt{all}, Own: func() []netip.AddrPort {
		return []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:8080"), netip.MustParseAddrPort("0.0.0.0:9090")}
	}}
	for address, allowed := range map[string]bool{
		"127.0.0.1:8080": false, "[::ffff:127.0.0.1]:8080": false, "192.168.1.7:9090": false, "127.0.0.1:8081": true,
	} {
		if err := g.Control("tcp", address, nil); (err == nil) != allowed {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestExemptionsAreWrittenAsAddressesAndPrefixes(t *testing.T) {
	for s, want := range map[string]string{
		"192.0.2.7": "192.0.2.7/32 0", "192.0.2.7:80": "192.0.2.7/32 80", "10.0.0.0/8": "10.0.0.0/8 0", "10.0.0.0/8:81": "10.0.0.0/8 81",
		"fd00::1": "fd00::1/128 0", "[fd00::1]": "fd00::1/128 0", "[fd00::1]:82": "fd00::1/128 82", "fd00::/8": "fd00::/8 0", "[fd00::]/8:83": "fd00::/8 83",
	} {
		e, err := guard.ParseExempt(s)
		if got := e.Prefix.String() + " " + strconv.Itoa(e.Port); err != nil || got != want {
			t.Errorf("%q: got %s, %v", s, got, err)
		}
	}
	for _, s := range []string{"", ":", "a", "localhost", "10.0.0.0/33", "10.0.0.1:x", "10.0.0.1:65536", "10.0.0.1:-1", "1.2.3", "*"} {
		if e, err := guard.ParseExempt(s); !errors.Is(err, courant.Invalid) {
			t.Errorf("%q: got %+v, %v", s, e, err)
		}
	}
}

func FuzzParseExempt(f *testing.F) {
	for _, s := range []string{"192.0.2.7:80", "10.0.0.0/8", "[fd00::1]:8080", "[fd00::]/8:83", ":", "]:", "::1%lo", "/:", "]/:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := guard.ParseExempt(s)
		if err != nil {
			if !errors.Is(err, courant.Invalid) {
				t.Errorf("%q: %v", s, err)
			}
			return
		}
		if !e.Prefix.IsValid() || e.Port < 0 || e.Port > 65535 {
			t.Fatalf("%q: %+v", s, e)
		}
		again, err := guard.ParseExempt("[" + e.Prefix.Addr().String() + "]/" + strconv.Itoa(e.Prefix.Bits()) + ":" + strconv.Itoa(e.Port))
		if err != nil || again != e {
			t.Errorf("%q is %+v, written anew %+v, %v", s, e, again, err)
		}
		g := guard.Guard{Allow: []guard.Exempt{e}}
		if port := max(e.Port, 1); !e.Prefix.Addr().Is4In6() && !g.Exempts(netip.AddrPortFrom(e.Prefix.Addr(), uint16(port))) {
			t.Errorf("%q does not exempt its own address", s)
		}
	})
}

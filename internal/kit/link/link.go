// Package link normalizes web addresses. It implements the parts of the WHATWG URL
// standard that http and https need, refuses other schemes, never panics and does
// no I/O.
package link

import (
	"crypto/sha256"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/courant-platform/courant"
)

// MaxLength is the longest canonical URL, in bytes.
const MaxLength = 2048

// Canonical returns the canonical form of an absolute http or https URL: host in lower
// case and punycode, no default port, no dot segments, no fragment, no parameters for
// tracking or sessions, escapes only where needed and in upper case. The order of the
// other parameters stays. Canonical is idempotent. Errors are of kind courant.Invalid.
func Canonical(raw string) (string, error) {
	if isCanonical(raw) {
		return raw, nil
	}
	p, err := parse(raw, nil)
	if err != nil {
		return "", err
	}
	if p.userinfo {
		return "", courant.Errorf(courant.Invalid, "the URL holds a user name or password")
	}
	p.path = dropSession(removeDots(normalEscapes(p.path, pathByte)))
	p.query = dropTracking(normalEscapes(p.query, queryByte))
	p.hasFragment = false
	p.hasQuery = p.query != ""
	out := p.String()
	if len(out) > MaxLength {
		return "", courant.Errorf(courant.Invalid, "the URL is longer than %d bytes", MaxLength)
	}
	return out, nil
}

// Host returns the host of an absolute URL in lower case, without the port and the
// brackets of an IPv6 address, or "".
func Host(url string) string {
	h := Authority(url)
	if strings.HasPrefix(h, "[") {
		return strings.TrimPrefix(h[:max(strings.IndexByte(h, ']'), 0)], "[")
	}
	h, _, _ = strings.Cut(h, ":")
	return h
}

// Authority returns host and port of an absolute URL in lower case and otherwise as
// written; the port is there only if the URL contains it.
func Authority(url string) string {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, `/?#\`); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	return strings.ToLower(rest)
}

// Domain returns the registrable domain of a host (example.co.uk of
// a.b.example.co.uk), or the host itself if it has none, such as IP addresses and
// public suffixes.
func Domain(host string) string {
	if isNumeric(host) || strings.Contains(host, ":") {
		return host
	}
	d, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return host
	}
	return d
}

// Digest returns the key of a canonical URL: 4 bytes of the SHA-256 of its host, then
// 12 bytes of the SHA-256 of the URL. Pages of one host are therefore adjacent in an
// index, and writing a thousand of them touches few pages of it.
func Digest(canonical string) (key [16]byte) {
	host, own := sha256.Sum256([]byte(Host(canonical))), sha256.Sum256([]byte(canonical))
	copy(key[:4], host[:])
	copy(key[4:], own[:])
	return key
}

// Resolve resolves ref against base to an absolute http or https URL, or returns "" if
// the result is not one. Fragment, tracking parameters and escapes stay.
func Resolve(base, ref string) string {
	if IsPlain(ref) {
		return ref
	}
	b := ParseBase(base)
	return b.Resolve(ref)
}

// Base is a parsed base URL, for many references against one base. The zero
// Base resolves absolute references only.
type Base struct {
	parts parts
	ok    bool
}

// ParseBase parses an absolute http or https URL; any other string gives the
// zero Base.
func ParseBase(url string) Base {
	p, err := parse(url, nil)
	return Base{parts: p, ok: err == nil && !p.userinfo}
}

// Resolve is like the function Resolve.
func (b *Base) Resolve(ref string) string {
	if IsPlain(ref) {
		return ref
	}
	var base *parts
	if b.ok {
		base = &b.parts
	}
	p, err := parse(ref, base)
	if err != nil || p.userinfo {
		return ""
	}
	if out := p.String(); len(out) <= MaxLength {
		return out
	}
	return ""
}

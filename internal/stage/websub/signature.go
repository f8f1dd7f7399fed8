package websub

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"strings"
	"time"
)

// methods are the signature methods of W3C WebSub section 7.1.1.
var methods = map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New}

// signature is a parsed X-Hub-Signature: the hash function and the sum.
type signature struct {
	hash func() hash.Hash
	sum  []byte
}

// parseSignature reads method=hexadecimal. Anything else gives a signature without hash.
func parseSignature(header string) (s signature) {
	method, digits, _ := strings.Cut(strings.TrimSpace(header), "=")
	h := methods[strings.ToLower(method)]
	if h == nil || len(digits) != 2*h().Size() {
		return signature{}
	}
	sum, err := hex.DecodeString(digits)
	if err != nil {
		return signature{}
	}
	return signature{h, sum}
}

// of reports whether the body was signed with one of the secrets.
func (s signature) of(body []byte, secrets []string) bool {
	if s.hash == nil {
		return false
	}
	good := false
	for _, secret := range secrets {
		mac := hmac.New(s.hash, []byte(secret))
		mac.Write(body)
		good = hmac.Equal(mac.Sum(nil), s.sum) || good
	}
	return good
}

// secrets are those with which the hub may sign now: the newest, and the previous one
// until the hub has verified the newest and its earlier deliveries have arrived.
func (s *subscription) secrets(now time.Time) []string {
	if s.previous != "" && (s.verified.Before(s.asked) || now.Sub(s.verified) < inFlight) {
		return []string{s.secret, s.previous}
	}
	return []string{s.secret}
}

package client

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MostFresh bounds how long an answer is taken to be fresh.
const MostFresh = 7 * 24 * time.Hour

// fresh is how long an answer need not be asked for again, by RFC 9111 section
// 4.2.1: max-age, less what it has spent in caches, else Expires. The section's
// guesses for answers that say nothing are not made.
func fresh(h http.Header, now time.Time) time.Duration {
	age := int64(-1)
	for directive := range strings.SplitSeq(strings.ToLower(strings.Join(h.Values("Cache-Control"), ",")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.TrimSpace(name) {
		case "no-cache", "no-store":
			return 0
		case "max-age":
			n, err := strconv.ParseInt(strings.Trim(strings.TrimSpace(value), `"`), 10, 64)
			if err == nil {
				age = max(n, 0)
			}
		}
	}
	most := int64(MostFresh / time.Second)
	if age >= 0 {
		spent, err := strconv.ParseInt(strings.TrimSpace(h.Get("Age")), 10, 64)
		if err != nil || spent < 0 {
			spent = 0
		}
		return time.Duration(max(min(age, most)-spent, 0)) * time.Second
	}
	expires, err := http.ParseTime(h.Get("Expires"))
	if err != nil {
		return 0
	}
	return min(max(expires.Sub(now), 0), MostFresh)
}

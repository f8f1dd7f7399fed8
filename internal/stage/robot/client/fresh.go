package client

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MostFresh is the longest freshness that is taken from a header.
const MostFresh = 7 * 24 * time.Hour

// fresh is how long a response stays fresh by RFC 9111 section 4.2.1: max-age less
// Age, else Expires. There is no heuristic for responses without either.
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

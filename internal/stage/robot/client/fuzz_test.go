package client

import (
	"net/http"
	"testing"
	"time"
)

func FuzzFresh(f *testing.F) {
	f.Add("max-age=60, no-cache", "Fri, 02 Jan 2026 13:00:00 GMT", "5")
	f.Add(`public, max-age="9223372036854775807"`, "0", "-9223372036854775808")
	f.Add("max-age=\x00,,=;", "", "")
	f.Fuzz(func(t *testing.T, cache, expires, age string) {
		h := http.Header{"Cache-Control": {cache}, "Expires": {expires}, "Age": {age}}
		if d := fresh(h, time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)); d < 0 || d > MostFresh {
			t.Errorf("fresh for %v", d)
		}
		if d := RetryAfter(age, time.Now()); d < 0 || d > MostRetryAfter {
			t.Errorf("retry after %v", d)
		}
	})
}

package search_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/front/search"
)

// signed is the identifier of an answer that was given at a time.
func (w *world) signed(at time.Time) string {
	w.t.Helper()
	key, err := w.store.Secret(w.t.Context(), "search")
	if err != nil {
		w.t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"i": []byte("0123456789abcdef"), "t": at.UnixMilli(), "p": "", "q": "", "s": make([]byte, 8*48)})
	if err != nil {
		w.t.Fatal(err)
	}
	h := hmac.New(sha256.New, key)
	h.Write(text)
	return base64.RawURLEncoding.EncodeToString(append(h.Sum(nil)[:16], text...))
}

func TestClicksOfAnOldAnswerAndTooManyOfOneAreRefused(t *testing.T) {
	w := open(t, search.Defaults())
	now := w.store.Now()
	if r := w.post(t, "/api/v1/clicks", search.Clicked{Query: w.signed(now.Add(-23 * time.Hour)), Clicked: []int{0, 1}}); r.StatusCode != http.StatusNoContent {
		t.Errorf("of yesterday: %s", r.Status)
	}
	if r := w.post(t, "/api/v1/clicks", search.Clicked{Query: w.signed(now.Add(-25 * time.Hour)), Clicked: []int{0}}); r.StatusCode != http.StatusBadRequest {
		t.Errorf("of the day before: %s", r.Status)
	}
	all := make([]int, 21)
	for i := range all {
		all[i] = i
	}
	if r := w.post(t, "/api/v1/clicks", search.Clicked{Query: w.signed(now), Clicked: all}); r.StatusCode != http.StatusBadRequest {
		t.Errorf("21 at once: %s", r.Status)
	}
	if r := w.post(t, "/api/v1/clicks", search.Clicked{Query: w.signed(now), Clicked: all[:20]}); r.StatusCode != http.StatusNoContent {
		t.Errorf("20: %s", r.Status)
	}
	if r := w.post(t, "/api/v1/clicks", search.Clicked{Query: w.signed(now), Clicked: all[20:]}); r.StatusCode != http.StatusBadRequest {
		t.Errorf("one more: %s", r.Status)
	}
}

func TestANetworkReportsALimitedNumberOfClicks(t *testing.T) {
	w := open(t, search.Defaults())
	var got []int
	for range 105 {
		r := w.post(t, "/api/v1/clicks", search.Clicked{Query: w.signed(w.store.Now()), Clicked: []int{0}})
		got = append(got, r.StatusCode)
		if r.StatusCode == http.StatusTooManyRequests && r.Header.Get("Retry-After") == "" {
			t.Error("a refusal without Retry-After")
		}
	}
	if n := slices.Index(got, http.StatusTooManyRequests); n != 100 {
		t.Errorf("the first refused one is number %d", n)
	}
}

func TestPagesOfOtherOriginsReportNoClicks(t *testing.T) {
	w := open(t, search.Defaults())
	for origin, want := range map[string]int{"": http.StatusNoContent, "http://courant.example": http.StatusNoContent, "https://evil.example": http.StatusForbidden, "null": http.StatusForbidden} {
		body, err := json.Marshal(search.Clicked{Query: w.signed(w.store.Now()), Clicked: []int{0}})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://courant.example/api/v1/clicks", strings.NewReader(string(body)))
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		out := httptest.NewRecorder()
		w.mux.ServeHTTP(out, r)
		if out.Code != want {
			t.Errorf("from %q: %d, want %d", origin, out.Code, want)
		}
	}
}

package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/desk"
	"github.com/courant-platform/courant/internal/front/api"
)

func TestSourcesAreListedInParts(t *testing.T) {
	w := open(t)
	var many []desk.NewSource
	var want []string
	for i := range 25 {
		name := fmt.Sprintf("s %02d", i)
		many, want = append(many, desk.NewSource{URL: fmt.Sprintf("http://%d.example/feed", i), Name: name}), append(want, name)
	}
	if _, err := w.api.Desk.Add(t.Context(), courant.Visitor{Account: "local", Role: courant.RoleOperator}, many); err != nil {
		t.Fatal(err)
	}
	var got []string
	path := "/api/v1/sources?limit=10"
	for range 3 {
		var part []api.SourceState
		r := w.do(http.MethodGet, path, "", &part)
		for _, s := range part {
			got = append(got, s.Name)
		}
		path = ""
		if link := r.Header.Get("Link"); link != "" {
			path = link[1 : len(link)-len(`>; rel="next"`)]
		}
	}
	if !slices.Equal(got, want) || path != "" {
		t.Errorf("listed %q, then %q", got, path)
	}
	for _, limit := range []string{"0", "-1", "1001", "x"} {
		if r := w.do(http.MethodGet, "/api/v1/sources?limit="+limit, "", nil); r.StatusCode != http.StatusBadRequest {
			t.Errorf("limit=%s: status %d", limit, r.StatusCode)
		}
	}
}

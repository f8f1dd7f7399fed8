package search_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/courant-platform/courant/internal/front/search"
)

func (w *world) post(t *testing.T, path string, body any) *http.Response {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRecorder()
	w.mux.ServeHTTP(r, httptest.NewRequest(http.MethodPost, path, bytes.NewReader(text)))
	return r.Result()
}

// outcomes asks for the report until the queries are counted.
func (w *world) outcomes(queries int64) (out search.Outcomes) {
	w.t.Helper()
	for range 300 {
		if err := json.NewDecoder(w.get("/api/v1/experiments").Body).Decode(&out); err != nil {
			w.t.Fatal(err)
		}
		if len(out.Experiments) == 1 && out.Experiments[0].Cut.Queries+out.Experiments[0].Control.Queries == queries {
			return out
		}
		wait(w.t)
	}
	w.t.Fatalf("got %+v", out)
	return out
}

func TestAnExperimentComparesAsManyUsersAsItCuts(t *testing.T) {
	c := search.Defaults()
	c.Experiments = []string{"half users=0.3 share=0.5"}
	w := open(t, c)
	for i := range 5 {
		w.put(int64(i+1), offer(i+1, "Kettle", "100"))
	}
	w.find("text=kettle", 5)
	arms, queries, first := map[string]int{}, int64(0), map[string]string{}
	for i := range 300 {
		user := fmt.Sprint(i % 100)
		f := w.find("text=kettle&user="+user, 5)
		arms[f.Experiment]++
		if first[user] == "" {
			first[user] = f.Experiment
		}
		if f.Experiment != first[user] || f.Query == "" {
			t.Fatalf("user %s is in %q, then in %q", user, first[user], f.Experiment)
		}
		if f.Experiment == "" {
			continue
		}
		queries++
		if strings.HasSuffix(f.Experiment, "control") && i%2 == 0 {
			for range 2 { // the second time changes nothing
				if r := w.post(t, "/api/v1/clicks", search.Clicked{Query: f.Query, Clicked: []int{0, 3}, Ordered: []int{3}}); r.StatusCode != http.StatusNoContent {
					text, _ := io.ReadAll(r.Body)
					t.Fatalf("%s %s", r.Status, text)
				}
			}
		}
	}
	if arms["half:cut"] < 50 || arms["half:control"] < 50 || arms[""] < 70 || len(arms) != 3 {
		t.Errorf("arms %v", arms)
	}
	o := w.outcomes(queries).Experiments[0]
	if o.Share != 0.5 || o.Cut.Clicks != 0 || o.Control.Clicks < 50 || o.Control.Orders*2 != o.Control.Clicks || o.Clicks.Lost != 1 ||
		math.Abs(o.Control.ClicksPerQuery-1) > 0.4 || o.Clicks.Low > 1 || o.Clicks.High < 1 {
		t.Errorf("got %+v", o)
	}
}

func TestTheLargestCutWithinTheBudgetIsSaid(t *testing.T) {
	c := search.Defaults()
	c.Experiments = []string{"a users=0.1 share=0.7", "b users=0.1 share=0.5", "c users=0.1 share=0.3"}
	w := open(t, c)
	for name, clicks := range map[string]int{"a": 1000, "b": 995, "c": 900} { // of each million queries, thousands of clicks
		w.exec(`INSERT INTO exposures (experiment, arm, day, queries) VALUES ($1, 'cut', 1, 1000000), ($1, 'control', 1, 1000000)`, name)
		for arm, n := range map[string]int{"cut": clicks, "control": 1000} {
			w.exec(`INSERT INTO clicks (query, at, experiment, arm, person, asked, shown, clicked, ordered, clicks, orders) VALUES ($1, 1, $2, $3, '', '', $1, '', '', $4, 0)`,
				[]byte(name+arm), name, arm, n*100)
		}
	}
	// one row that holds all clicks has a square that is far too large: the interval is wide, and nothing is certain
	var out search.Outcomes
	if err := json.NewDecoder(w.get("/api/v1/experiments").Body).Decode(&out); err != nil || out.LargestCut != 1 || len(out.Experiments) != 3 || out.Budget != 0.01 {
		t.Errorf("got %+v, %v", out, err)
	}
	if err := json.NewDecoder(w.get("/api/v1/experiments?budget=1").Body).Decode(&out); err != nil || out.Budget != 1 {
		t.Errorf("got %+v, %v", out, err)
	}
	if r := w.get("/api/v1/experiments?budget=x"); r.StatusCode != http.StatusBadRequest {
		t.Errorf("a budget of x: %s", r.Status)
	}
}

func TestClicksOfNoAnswerAreRefused(t *testing.T) {
	w := open(t, search.Defaults())
	w.put(1, offer(1, "Kettle", "100"))
	f := w.find("text=kettle&user=u", 1)
	forged := f.Query[:len(f.Query)-4] + "AAAA"
	for name, c := range map[string]search.Clicked{"forged": {Query: forged, Clicked: []int{0}}, "none": {}, "no place": {Query: f.Query, Clicked: []int{1}},
		"before": {Query: f.Query, Ordered: []int{-1}}} {
		if r := w.post(t, "/api/v1/clicks", c); r.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", name, r.Status)
		}
	}
	if r := w.post(t, "/api/v1/clicks", map[string]any{"query": strings.Repeat("x", 20<<10)}); r.StatusCode != http.StatusBadRequest {
		t.Errorf("a large one: %s", r.Status)
	}
}

func TestExperimentsAreCheckedAtTheStart(t *testing.T) {
	for _, line := range []string{"", "x", "users=0.1", "x users=0.9", "x users=0.1 share=0", "x users=0.1 color=1", "x users=a"} {
		c := search.Defaults()
		c.Experiments = []string{line}
		s := &search.Search{Config: c}
		if err := s.Open(); err == nil || !strings.Contains(err.Error(), "search.experiments") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

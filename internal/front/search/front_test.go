package search

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/search/index"
	"github.com/courant-platform/courant/internal/search/shard"
)

// front is a search over some kettles of different prices.
func front(t *testing.T, c Config, titles ...string) *Search {
	t.Helper()
	x := &index.Index{Config: index.Defaults(), Metrics: obs.New()}
	if c.Reranker != "" {
		x.Config.Model = "none" // the order is the reranker's alone
	}
	s := &Search{Config: c, Index: x.Config, Backend: x, Metrics: obs.New()}
	if err := errors.Join(x.Open(), s.Open()); err != nil {
		t.Fatal(err)
	}
	var docs []shard.Doc
	for i, title := range titles {
		docs = append(docs, shard.Doc{ID: int64(i + 1), Offer: fmt.Sprint(i), Title: title, Words: title, URL: "http://a.example/" + fmt.Sprint(i),
			Price: int64(i+1) * 1000_00, Available: true, Category: []string{"1"}, CategoryNames: []string{"Kitchen"}})
	}
	x.Put(docs, nil, 1)
	x.Sort()
	return s
}

func ask(s *Search, text string) *request {
	q := &request{K: 48, Page: 1}
	q.Query = shard.Query{Words: s.wordsOf(text), Top: 48, Share: 1, Person: shard.Nobody()}
	return q
}

func TestWhatIsTypedIsCompletedByWhatIsFoundTogether(t *testing.T) {
	s := front(t, Defaults(), "Red kettle", "Red kettle steel", "Red kennel", "Blue keyboard", "Чайник красный")
	for text, want := range map[string]string{
		"ke": "kettle 2, kennel 1, keyboard 1", "red ke": "red kettle 2, red kennel 1", "Red KET": "Red kettle 2", "blue ket": "", "red ": "", "": "",
		"steel red k": "steel red kettle 1", "чай": "чайник 1", "...": "", "xyz": "",
	} {
		got, err := s.complete(t.Context(), text, 8)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, g := range got {
			all = append(all, fmt.Sprint(g.Text, " ", g.Count))
		}
		if joined := strings.Join(all, ", "); joined != want {
			t.Errorf("%q is completed to %s, not %s", text, joined, want)
		}
	}
}

// cheapest is a model of one split: what costs more than 2,500 comes last.
const cheapest = `{"features_info":{"float_features":[{"feature_index":0,"flat_feature_index":0,"feature_id":"price","borders":[2500],"has_nans":false,"nan_value_treatment":"AsIs"}]},
"oblivious_trees":[{"splits":[{"float_feature_index":0,"border":2500,"split_type":"FloatFeature","split_index":0}],"leaf_values":[1,0],"leaf_weights":[1,1]}],"scale_and_bias":[1,[0]]}`

func modelFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestARerankerRanksTheBestAgain(t *testing.T) {
	dear := strings.Replace(cheapest, "[1,0]", "[0,1]", 1)
	c := Defaults()
	c.Reranker = modelFile(t, cheapest)
	c.Experiments = []string{"dear users=0.5 reranker=" + modelFile(t, dear)}
	s := front(t, c, "Kettle a", "Kettle b", "Kettle c", "Kettle d")
	first := func(q *request) (ids string) {
		r, err := s.Find(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range r.Hits {
			ids += fmt.Sprint(h.ID, " ")
			if h.Features != nil {
				t.Error("the features were not asked for")
			}
		}
		return ids
	}
	if got := first(ask(s, "kettle")); !strings.HasPrefix(got, "1 2 ") && !strings.HasPrefix(got, "2 1 ") {
		t.Errorf("the reranker prefers what is cheap, and %s came", got)
	}
	q := ask(s, "kettle")
	if q.reranker = s.experiments[0].reranker; q.reranker == nil {
		t.Fatal("the experiment has no model")
	}
	if got := first(q); !strings.HasPrefix(got, "3 4 ") && !strings.HasPrefix(got, "4 3 ") {
		t.Errorf("the experiment's model prefers what is dear, and %s came", got)
	}
	q = ask(s, "kettle")
	q.Sort = shard.Dearest
	if got := first(q); got != "4 3 2 1 " {
		t.Errorf("sorted by price, %s came", got)
	}
}

func TestARerankerThatDoesNotFitIsRefused(t *testing.T) {
	for _, text := range []string{"{}", strings.Replace(cheapest, `"price"`, `"colour"`, 1)} {
		c := Defaults()
		c.Reranker = modelFile(t, text)
		if err := (&Search{Config: c}).Open(); err == nil || !strings.Contains(err.Error(), "search.reranker") {
			t.Errorf("%.40s: %v", text, err)
		}
		c.Experiments, c.Reranker = []string{"a users=0.1 second=" + c.Reranker}, ""
		if err := (&Search{Config: c}).Open(); err == nil || !strings.Contains(err.Error(), "search.experiments") {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

func TestAnAnswerOfAMinuteAgoIsGivenWhenAlmostNothingIsRanked(t *testing.T) {
	s := front(t, Defaults(), "Kettle")
	q, r := ask(s, "kettle"), Result{}
	r.Total = 7
	s.stale.put(keyOf(q), &r, time.Now().Add(-10*time.Second))
	if _, ok := s.old(q, 0.2); ok {
		t.Error("an old answer at a share of 0.2")
	}
	if got, ok := s.old(q, 0.1); !ok || got.Total != 7 || got.Age < 10*time.Second {
		t.Errorf("%+v %v", got, ok)
	}
	if _, ok := s.old(ask(s, "pan"), 0.1); ok {
		t.Error("the answer to another query")
	}
	s.stale.put(keyOf(q), &r, time.Now().Add(-61*time.Second))
	if _, ok := s.old(q, 0.1); ok {
		t.Error("an answer that is too old")
	}
	for i := range 3 * mostStale {
		s.stale.put(fmt.Sprint(i), &r, time.Now())
	}
	if len(s.stale.by) > mostStale {
		t.Errorf("%d answers are remembered", len(s.stale.by))
	}
}

func TestBotsAreProgramsAndBrowsersAreNot(t *testing.T) {
	for agent, want := range map[string]bool{
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)": true, "YandexBot/3.0": true, "Baiduspider": true,
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36": false, "": false,
	} {
		r := httptest.NewRequest("GET", "/search?text=a", nil)
		r.Header.Set("User-Agent", agent)
		if isProgram(r) != want {
			t.Errorf("%q is a program: %v", agent, !want)
		}
	}
	if !isProgram(httptest.NewRequest("GET", "/search?bot=true", nil)) {
		t.Error("one that says so is a program")
	}
}

func TestWhileTheIndexIsBuiltAnswersSaySo(t *testing.T) {
	s := front(t, Defaults(), "Red kettle", "Blue kettle", "Spoon")
	s.Store = storetest.Memory(t)
	for _, query := range []string{"text=kettle", "q=kettle"} {
		api := httptest.NewRecorder()
		s.api(api, httptest.NewRequest("GET", "/api/v1/search?"+query, nil))
		var found Found
		if err := json.Unmarshal(api.Body.Bytes(), &found); err != nil || found.Total != 2 || !found.Coverage.Building {
			t.Errorf("%s: %v, got %s", query, err, api.Body)
		}
		page := httptest.NewRecorder()
		s.page(page, httptest.NewRequest("GET", "/search?"+query, nil))
		if text := page.Body.String(); !strings.Contains(text, "2 found so far; the index is still being built") || !strings.Contains(text, `name="text" value="kettle"`) ||
			strings.Contains(text, `name="q"`) {
			t.Errorf("%s: the page is %s", query, text)
		}
	}
}

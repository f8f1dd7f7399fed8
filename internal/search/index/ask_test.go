package index_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/search/degrade"
	"github.com/courant-platform/courant/internal/search/index"
	"github.com/courant-platform/courant/internal/search/shard"
)

// part is what one shard found: a hit for each score.
func part(n, total int, share float64, scores ...float64) index.Part {
	p := index.Part{Total: total, Share: share, CPU: time.Millisecond, Shards: []index.Report{{Shard: n, Matched: total, ShareUsed: share, Reason: degrade.None}},
		Facets: shard.Facets{Vendors: map[string]int{"Acme": total}, Categories: map[string]int{"11": total}, Names: map[string]string{"11": "Kettles"}}}
	for i, s := range scores {
		p.Hits = append(p.Hits, shard.Hit{ID: int64(100*n + i), Score: s})
	}
	return p
}

func ids(hits []shard.Hit) (all []int64) {
	for _, h := range hits {
		all = append(all, h.ID)
	}
	return all
}

func TestMergeTakesTheBestOfEachPart(t *testing.T) {
	for what, c := range map[string]struct {
		top   int
		parts []index.Part
		want  []int64
	}{
		"in the order of scores":   {4, []index.Part{part(1, 3, 1, 9, 5, 1), part(2, 2, 1, 7, 5)}, []int64{100, 200, 101, 201}},
		"all where there are few":  {10, []index.Part{part(1, 1, 1, 1), part(2, 1, 1, 2)}, []int64{200, 100}},
		"equals by number":         {3, []index.Part{part(2, 2, 1, 5, 5), part(1, 1, 1, 5)}, []int64{100, 200, 201}},
		"none where none is asked": {0, []index.Part{part(1, 1, 1, 1)}, nil},
		"none of none":             {5, nil, nil},
	} {
		if got := ids(index.Merge(c.top, c.parts...).Hits); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
	relaxed := part(1, 0, 1, 9)
	relaxed.Hits[0].Relaxed = true
	if got := ids(index.Merge(2, relaxed, part(2, 1, 1, 1)).Hits); !slices.Equal(got, []int64{200, 100}) {
		t.Errorf("other forms go before the words as they are: %v", got)
	}
}

func TestMergeAddsUpWhatIsCounted(t *testing.T) {
	a, b := part(2, 30, 0.5, 2), part(1, 10, 1, 1)
	a.Conflicts = []shard.Conflict{{ID: "11", Name: "Kettles", Other: "Pots"}}
	b.Conflicts = slices.Clone(a.Conflicts)
	m := index.Merge(10, a, b)
	if m.Total != 40 || m.Share != 0.625 || m.CPU != 2*time.Millisecond || len(m.Conflicts) != 1 || m.Shards[0].Shard != 1 || m.Shards[1].Shard != 2 {
		t.Errorf("%+v", m)
	}
	if f := m.Facets; f.Vendors["Acme"] != 40 || f.Categories["11"] != 40 || f.Names["11"] != "Kettles" {
		t.Errorf("facets %+v", f)
	}
	if m := index.Merge(10, part(1, 0, 1), part(2, 0, 1)); m.Share != 1 || m.Total != 0 {
		t.Errorf("nothing is a share of %v", m.Share)
	}
}

func TestFacetsAreOfOtherFormsWhereNothingMatchesAsItIs(t *testing.T) {
	relaxed := part(1, 0, 1)
	relaxed.Relaxed, relaxed.Facets.Vendors = 5, map[string]int{"Acme": 5}
	if m := index.Merge(10, relaxed, part(2, 0, 1)); m.Relaxed != 5 || m.Facets.Vendors["Acme"] != 5 {
		t.Errorf("without a match: %+v", m)
	}
	if m := index.Merge(10, relaxed, part(2, 3, 1)); m.Relaxed != 5 || m.Facets.Vendors["Acme"] != 3 {
		t.Errorf("beside matches: %+v", m.Facets)
	}
}

func TestAShardThatIsMissingTakesItsPartOfTheShare(t *testing.T) {
	m := index.Merge(10, part(0, 30, 1, 1), index.Missing(3, 1), part(2, 10, 1, 2))
	if m.Total != 40 || m.Share != 0.5 || len(m.Hits) != 2 || len(m.Shards) != 4 {
		t.Fatalf("%+v", m)
	}
	for n, want := range []degrade.Reason{degrade.None, degrade.Missing, degrade.None, degrade.Missing} {
		if r := m.Shards[n]; r.Shard != n || r.Reason != want {
			t.Errorf("shard %d: %+v, want %s", n, r, want)
		}
	}
	if m := index.Merge(10, index.Missing(0, 1)); m.Share != 0 || m.Total != 0 {
		t.Errorf("all are missing: share %v of %d", m.Share, m.Total)
	}
}

func TestAQueryThatAsksForLessRanksLessAndSaysSo(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.put(offers(1, 1000)...)
		x := w.open(func(x *index.Index) { x.Config.Shards = 1 })
		w.run(x)
		x.Sort()
		a := asking("kettle")
		a.Query.Share = 0.5
		p, err := x.Ask(t.Context(), a)
		if err != nil || p.Total != 1000 || len(p.Hits) != 500 || p.Share != 0.5 || p.Facets.Vendors["Acme"] != 1000 {
			t.Fatalf("%d found, %d ranked, share %v, %v", p.Total, len(p.Hits), p.Share, err)
		}
		want := index.Report{Matched: 1000, Considered: 500, Scored: p.Shards[0].Scored, ShareAsked: 0.5, ShareUsed: 0.5, Reason: index.Asked}
		if !reflect.DeepEqual(p.Shards, []index.Report{want}) {
			t.Errorf("%+v, want %+v", p.Shards, want)
		}
		a.Reason, a.Query.Share = degrade.Load, 0
		if p, err = x.Ask(t.Context(), a); err != nil || p.Shards[0].Reason != degrade.Load || p.Share < 0.1 || p.Share > 0.2 {
			t.Errorf("no share at all: %v, %+v, %v", p.Share, p.Shards, err)
		}
	})
}

func TestSuggestionsAreTheMostFrequentOfAllShards(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		for i, title := range []string{"Red kettle", "Red kettle", "Blue kettle", "Red kennel", "Blue keyboard", "Kelp"} {
			w.put(article(i+1, title, ""))
		}
		x := w.open()
		w.run(x)
		x.Sort()
		red := []shard.Word{{Text: "red"}}
		for want, b := range map[string]*index.Begin{
			"[{kettle 3} {kelp 1}]":            {Word: "ke", Most: 2},
			"[{kettle 2} {kennel 1}]":          {Before: red, Word: "ke", Most: 10},
			"[]":                               {Word: "xyz", Most: 10},
			"[{kettle 3}]":                     {Word: "kett", Most: 10},
			"[{blue 2}]":                       {Word: "bl", Most: 10, Shards: []int{0, 1, 2, 3, 99}},
			"[{kettle 3} {kelp 1} {kennel 1}]": {Word: "ke", Most: 3},
		} {
			got, err := x.Suggest(t.Context(), b)
			if err != nil || fmt.Sprint(got) != want {
				t.Errorf("%+v: %v, %v; want %s", b, got, err, want)
			}
		}
		if got, err := x.Suggest(t.Context(), &index.Begin{Word: "ke", Most: 10, Shards: []int{99}}); err != nil || len(got) != 0 {
			t.Errorf("a shard that is not held: %v, %v", got, err)
		}
	})
}

func TestTogetherAddsUpSuggestions(t *testing.T) {
	a := []shard.Suggestion{{Word: "kettle", Count: 2}, {Word: "kelp", Count: 1}}
	b := []shard.Suggestion{{Word: "kennel", Count: 2}, {Word: "kelp", Count: 2}}
	if got := fmt.Sprint(index.Together(2, a, nil, b)); got != "[{kelp 3} {kennel 2}]" {
		t.Error(got)
	}
	if got := index.Together(5); len(got) != 0 {
		t.Errorf("of nobody: %v", got)
	}
}

package index_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/bus/membus"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/search/index"
	"github.com/courant-platform/courant/internal/search/shard"
)

func TestTheIndexFollowsTheChangeFeed(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.put(offer(1, "Red kettle", ""), offer(2, "Blue kettle", ""), article(3, "Flood", "<p>The river <b>floods</b> a kettle.</p>"))
		x := w.open()
		if !x.Building() {
			t.Error("it is whole before it has run")
		}
		w.run(x)
		if x.Building() {
			t.Error("it has caught up and does not say so")
		}
		w.finds(x, "kettle", 1, 2, 3)
		w.put(offer(2, "Blue teapot", ""))
		look()
		w.finds(x, "kettle", 1, 3)
		w.finds(x, "teapot", 2)
		w.put(withdrawn(offer(1, "", "")), withdrawn(article(3, "", "")))
		look()
		w.finds(x, "kettle")
		if x.Docs() != 1 || x.Texts() == 0 || x.Status().Version != w.change {
			t.Errorf("%d documents with %d bytes, %+v", x.Docs(), x.Texts(), x.Status())
		}
		w.put(offer(1, "Red kettle", ""))
		look()
		w.finds(x, "kettle", 1)
	})
}

func TestADocumentIsNoNewerThanItsDiscovery(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		for i, seconds := range []int64{3, 0, 4070908800} { // found after five
			d := article(i+1, "Flood", "")
			if seconds > 0 {
				d.Item.Published.Time = time.Unix(seconds, 0)
			}
			w.put(d)
		}
		x := w.open()
		w.run(x)
		found, err := x.Ask(t.Context(), asking("flood"))
		if err != nil || len(found.Hits) != 3 {
			t.Fatalf("%+v, %v", found, err)
		}
		for _, h := range found.Hits {
			if want := map[int64]int64{1: 3, 2: 5, 3: 5}[h.ID]; h.Published.Unix() != want {
				t.Errorf("document %d is of %v", h.ID, h.Published)
			}
		}
	})
}

func TestABellHasTheIndexLookAtOnce(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		x := w.open()
		w.run(x)
		b := &bus.Bus{Driver: &membus.Driver{}, Log: slog.New(slog.DiscardHandler)}
		ctx, end := context.WithCancel(t.Context())
		var ringing sync.WaitGroup
		ringing.Go(func() { b.Run(ctx, x.Handlers()...) })
		defer ringing.Wait()
		defer end()
		synctest.Wait()
		w.put(offer(1, "Kettle", ""))
		topic, facts := flow.PageChanged.Encode(flow.Changes{Newest: w.change})
		if err := b.Publish(t.Context(), topic, facts); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.finds(x, "kettle", 1)
	})
}

func TestMoreChangesThanAreReadAtOnceAreAllFollowed(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.put(offers(1, 2345)...)
		x := w.open(func(x *index.Index) { x.Dir = "" })
		w.run(x)
		if x.Docs() != 2345 || x.Status().Version != w.change {
			t.Errorf("%d documents, %+v", x.Docs(), x.Status())
		}
	})
}

func TestAStoreThatIsAwayIsToldAndFollowedLater(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		s, faults := storetest.Faulty(t)
		w.another(s)
		x := w.open()
		w.run(x)
		w.put(offer(1, "Kettle", ""))
		faults.Blind(true)
		look()
		w.finds(x, "kettle")
		if w.log.count("change feed not read") == 0 {
			t.Error("it does not say that it is behind")
		}
		faults.Blind(false)
		look()
		w.finds(x, "kettle", 1)
	})
}

func TestADocumentThatCannotBeReadIsSkippedAndTold(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.put(offers(1, 5)...)
		x := w.open()
		w.run(x)
		w.put(offers(1, 5)...)
		w.exec(`UPDATE bodies SET document = $1 WHERE page = 3`, []byte{1})
		w.exec(`DELETE FROM bodies WHERE page = 4`)
		look()
		w.finds(x, "kettle", 1, 2, 5) // nor are the versions before found
		if n := w.log.count("page not indexed"); n != 2 || w.log.count("url=http://a.example/offer/3") != 1 {
			t.Errorf("it says %d times:\n%s", n, w.log.text.String())
		}
	})
}

func TestOffersOfOneModelAreInOneShard(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var docs []courant.Document
		for i := range 40 {
			docs = append(docs, offer(i+1, "Kettle", fmt.Sprint("model ", i%4)))
		}
		w.put(docs...)
		x := w.open()
		w.run(x)
		w.oneShardEach(x, map[string]int{"model 0": 10, "model 1": 10, "model 2": 10, "model 3": 10})
		w.put(offer(1, "Kettle", "model 1"), offer(2, "Kettle", "model 2")) // they move
		look()
		w.oneShardEach(x, map[string]int{"model 0": 9, "model 1": 10, "model 2": 11, "model 3": 10})
	})
}

// oneShardEach checks that each model has so many offers, and all of them in one shard.
func (w *world) oneShardEach(x *index.Index, want map[string]int) {
	w.t.Helper()
	keys := map[uint64]string{}
	for model := range want {
		keys[shard.GroupKey(&shard.Doc{Offer: "1", Group: model, Vendor: "Acme", Category: []string{"1", "11"}})] = model
	}
	got, at := map[string]int{}, map[string]int{}
	for n := range 4 {
		a := asking("kettle")
		a.Shards = []int{n}
		p, err := x.Ask(w.t.Context(), a)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, h := range p.Hits {
			model := keys[h.Group]
			if got[model]++; got[model] > 1 && at[model] != n {
				w.t.Errorf("%s is in the shards %d and %d", model, at[model], n)
			}
			at[model] = n
		}
	}
	for model, n := range want {
		if got[model] != n {
			w.t.Errorf("%s has %d offers, want %d", model, got[model], n)
		}
	}
}

func TestIndexesThatHoldPartsFindTogetherWhatOneFinds(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.put(offers(1, 100)...)
		hold := func(shards ...string) *index.Index {
			x := w.open(func(x *index.Index) { x.Config.Hold, x.Dir = shards, "" })
			w.run(x)
			x.Sort()
			return x
		}
		whole, low, high := hold(), hold("1", "0-1"), hold("2-3")
		if !slices.Equal(low.Status().Held, []int{0, 1}) || low.Status().Engine != whole.Status().Engine || low.Docs()+high.Docs() != 100 || low.Docs() == 0 || high.Docs() == 0 {
			t.Errorf("%+v has %d, the other %d", low.Status(), low.Docs(), high.Docs())
		}
		both := index.Merge(2000, w.ask(low, "kettle"), w.ask(high, "kettle"))
		want := w.ask(whole, "kettle")
		if both.Total != 100 || both.Share != 1 || len(both.Shards) != 4 || fmt.Sprint(both.Facets) != fmt.Sprint(want.Facets) {
			t.Errorf("%d found, share %v, %+v", both.Total, both.Share, both.Shards)
		}
		for i := range both.Hits {
			if both.Hits[i].ID != want.Hits[i].ID {
				t.Fatalf("hit %d is %d, not %d", i, both.Hits[i].ID, want.Hits[i].ID)
			}
		}
		a := asking("kettle")
		a.Shards = []int{0, 2, 77}
		p, err := low.Ask(t.Context(), a)
		if err != nil || len(p.Shards) != 3 || p.Shards[0].Reason != "none" || p.Shards[1].Reason != "missing" || p.Shards[2].Reason != "missing" {
			t.Errorf("shards that it does not hold: %+v, %v", p.Shards, err)
		}
	})
}

func TestAnOfferIsFoundByWhatItHas(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.put(offer(1, "Kettle", "", courant.Param{Name: "Color", Value: "Red"}, courant.Param{Name: "Regions", Value: "5-21"}, courant.Param{Name: "Rating", Value: "4,5"}),
			offer(2, "Kettle", "", courant.Param{Name: "Color", Value: "Blue"}), article(3, "Kettle", ""))
		x := w.open()
		w.run(x)
		for what, c := range map[string]struct {
			narrow func(*shard.Query)
			want   []int64
		}{
			"a colour":       {func(q *shard.Query) { q.Params = []shard.Filter{{Name: "color", Values: []shard.Value{{Text: "red"}}}} }, []int64{1}},
			"a region":       {func(q *shard.Query) { q.Region = 21 }, []int64{1}},
			"another region": {func(q *shard.Query) { q.Region = 22 }, nil},
			"a signal": {func(q *shard.Query) {
				q.Params = []shard.Filter{{Name: "rating", Values: []shard.Value{{Text: "4,5"}}}}
			}, nil},
			"offers":           {func(q *shard.Query) { q.Kind = shard.Offers }, []int64{1, 2}},
			"pages":            {func(q *shard.Query) { q.Kind = shard.Pages }, []int64{3}},
			"a price":          {func(q *shard.Query) { q.PriceMin, q.PriceMax = 100_50, 100_50 }, []int64{1, 2}},
			"a higher price":   {func(q *shard.Query) { q.PriceMin = 100_51 }, nil},
			"a category":       {func(q *shard.Query) { q.Category = "1" }, []int64{1, 2}},
			"another category": {func(q *shard.Query) { q.Category = "2" }, nil},
		} {
			a := asking("kettle")
			c.narrow(&a.Query)
			p, err := x.Ask(t.Context(), a)
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for _, h := range p.Hits {
				got = append(got, h.ID)
			}
			if slices.Sort(got); !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", what, got, c.want)
			}
		}
	})
}

func TestAConfigurationThatCannotBeIsRefusedByItsKey(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for key, configs := range map[string][]index.Config{
		"index.policy":     {{Policy: "murphy"}},
		"index.floor":      {{Floor: -0.1}, {Floor: 1.1}},
		"index.hold":       {{Shards: 4, Hold: []string{"0", "4"}}, {Shards: 4, Hold: []string{"-1"}}},
		"index.model":      {{Model: none}, {Model: bad}},
		"index.categories": {{Categories: none}, {Categories: bad}},
	} {
		for _, c := range configs {
			if err := (&index.Index{Config: c}).Open(); !errors.Is(err, courant.Invalid) || !strings.HasPrefix(err.Error(), key) {
				t.Errorf("%+v: %v", c, err)
			}
		}
	}
	for _, policy := range []string{"", "feed-forward", "linear", "off"} {
		if err := (&index.Index{Config: index.Config{Policy: policy, Model: "none"}}).Open(); err != nil {
			t.Errorf("policy %q: %v", policy, err)
		}
	}
}

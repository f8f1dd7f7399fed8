package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/search/fleet"
	"github.com/courant-platform/courant/internal/search/fleet/wire"
	"github.com/courant-platform/courant/internal/search/index"
	"github.com/courant-platform/courant/internal/search/shard"
)

func begin(word string) *index.Begin { return &index.Begin{Word: word, Most: 3} }

// suggest has a front complete the beginning of kettle, and returns how many documents
// have that word; 0 if it is not suggested.
func (w *world) suggest(f *fleet.Fleet) int {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
	defer cancel()
	all, err := f.Suggest(ctx, begin("ket"))
	if err != nil {
		w.t.Fatal(err)
	}
	if len(all) == 0 {
		return 0
	}
	if len(all) > 1 || all[0].Word != "kettle" {
		w.t.Fatalf("suggested %v", all)
	}
	return all[0].Count
}

func TestSuggestionsOfReplicasAreAddedUp(t *testing.T) {
	w := newWorld(t)
	whole := w.index()
	w.replica("a1", "a", w.index(0, 1))
	w.replica("a2", "a", w.index(2, 3))
	f := w.front("a", 2)
	if n := w.suggest(f); n != offers {
		t.Errorf("kettle is in %d documents, not %d", n, offers)
	}
	for _, b := range []*index.Begin{begin("1"), begin("kettles"), {Word: "3", Before: []shard.Word{{Text: "kettle"}}, Most: 10}, {Word: "4", Before: []shard.Word{{Text: "teapot"}}, Most: 10}} {
		want, err := whole.Suggest(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Suggest(t.Context(), b)
		if err != nil || len(got) != len(want) || len(got) > 0 && got[0].Word != want[0].Word {
			t.Errorf("%+v: %v, %v; one index suggests %v", b, got, err, want)
		}
	}
}

func TestSuggestionsOfAReplicaThatIsGoneAreLeftOut(t *testing.T) {
	w := newWorld(t)
	low := w.index(0, 1)
	w.replica("a1", "a", low)
	_, stop := w.replica("a2", "a", w.index(2, 3))
	f := w.front("a", 2)
	stop()
	want, err := low.Suggest(t.Context(), begin("ket"))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if n := w.suggest(f); n != want[0].Count || n == offers {
			t.Fatalf("kettle is in %d documents, not %d", n, want[0].Count)
		}
	}
}

func TestAnotherReplicaSuggestsInPlaceOfOneThatIsGone(t *testing.T) {
	w := newWorld(t)
	_, stop := w.replica("a1", "a", w.index())
	w.replica("b1", "b", w.index())
	f := w.front("a", 2)
	stop()
	for range 15 { // so often others are asked, though the front may not have noticed yet
		if n := w.suggest(f); n != offers {
			t.Fatalf("kettle is in %d documents", n)
		}
	}
}

func TestWithoutAReplicaNothingIsSuggested(t *testing.T) {
	w := newWorld(t)
	f := &fleet.Fleet{Store: w.store, Zone: "a", Shards: shards, Log: w.log}
	if all, err := f.Suggest(t.Context(), begin("ket")); !errors.Is(err, courant.Busy) || all != nil {
		t.Errorf("before it has looked: %v, %v", all, err)
	}
	w.runs(f.Run)
	w.until("it has looked", func() bool { _, err := f.Zones(t.Context()); return err == nil })
	if all, err := f.Suggest(t.Context(), begin("ket")); !errors.Is(err, courant.Busy) || all != nil {
		t.Errorf("where there is none: %v, %v", all, err)
	}
}

func TestWhereNoReplicaAnswersSuggestionsAreBusy(t *testing.T) {
	w := newWorld(t)
	_, stop := w.replica("a1", "a", w.index())
	f := w.front("a", 1)
	stop()
	if all, err := f.Suggest(t.Context(), begin("ket")); !errors.Is(err, courant.Busy) || all != nil {
		t.Errorf("got %v, %v", all, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if all, err := f.Suggest(ctx, begin("ket")); err == nil {
		t.Errorf("whom nobody waits for is told %v", all)
	}
}

func TestTheReplicaOfTheSameProcessIsAskedWithoutACall(t *testing.T) {
	w := newWorld(t)
	x := w.index()
	w.exec(`INSERT INTO nodes (name, zone, address, seen) VALUES ('own', 'a', '127.0.0.1:1', $1)`, w.store.Now().UnixMilli()) // nobody listens there
	f := &fleet.Fleet{Store: w.store, Zone: "a", Own: "own", Index: x, Shards: shards, Log: w.log}
	w.runs(f.Run)
	w.until("it is known", func() bool { return w.ready(f) == 1 })
	if n := w.suggest(f); n != offers {
		t.Errorf("kettle is in %d documents", n)
	}
	if p := w.find(f); p.Total != offers || f.Docs() != offers || f.Share() != 1 || f.Building() {
		t.Errorf("%d found, %d documents, share %v", p.Total, f.Docs(), f.Share())
	}
	if err := f.Ready(t.Context()); err != nil {
		t.Errorf("it is not ready: %v", err)
	}
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	if err := w.store.Write(w.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) count(query string) (n int) {
	w.t.Helper()
	if err := w.store.Read(w.t.Context(), func(r store.Reader) error { return r.Row(query).Scan(&n) }); err != nil {
		w.t.Fatal(err)
	}
	return n
}

func TestAReplicaIsInTheStoreAsLongAsItServes(t *testing.T) {
	w := newWorld(t)
	now := w.store.Now()
	w.exec(`INSERT INTO nodes (name, zone, address, seen) VALUES ('dead', 'a', '10.0.0.1:1', $1), ('quiet', 'a', '10.0.0.2:1', $2)`,
		now.Add(-time.Hour).UnixMilli(), now.Add(-time.Minute).UnixMilli())
	address, stop := w.replica("a1", "a", w.index())
	w.until("it is announced", func() bool {
		return w.count(`SELECT COUNT(*) FROM nodes WHERE name = 'a1' AND address = '`+address+`'`) == 1
	})
	if n := w.count(`SELECT COUNT(*) FROM nodes WHERE name IN ('dead', 'quiet')`); n != 1 {
		t.Errorf("of a row that is too old and one that is not %d are left", n)
	}
	stop()
	if n := w.count(`SELECT COUNT(*) FROM nodes WHERE name = 'a1'`); n != 0 {
		t.Error("its row outlives it")
	}
}

func TestZonesTellOfTheirReplicas(t *testing.T) {
	w := newWorld(t)
	w.replica("a2", "a", w.index(2, 3))
	w.replica("a1", "a", w.index(0, 1))
	_, stop := w.replica("b1", "b", w.index())
	w.exec(`INSERT INTO zones (name, off, switched) VALUES ('c', TRUE, 1)`)
	f := w.front("a", 3)
	zones, err := f.Zones(t.Context())
	if err != nil || len(zones) != 3 || zones[0].Name != "a" || zones[1].Name != "b" || zones[2].On || len(zones[2].Replicas) != 0 {
		t.Fatalf("got %+v, %v", zones, err)
	}
	first := zones[0].Replicas[0]
	if first.Name != "a1" || first.State != "ready" || fmt.Sprint(first.Shards) != "[0 1]" || first.Version != 1 || first.Share != 1 || first.Address == "" {
		t.Errorf("got %+v", first)
	}
	w.exec(`INSERT INTO nodes (name, zone, address, seen) VALUES ('b2', 'b', '127.0.0.1:1', $1)`, w.store.Now().UnixMilli())
	if zones, err = f.Zones(t.Context()); err != nil || len(zones[1].Replicas) != 2 || zones[1].Replicas[1].State != "silent" {
		t.Errorf("a replica that nobody has heard: %+v, %v", zones, err)
	}
	stop()
	w.until("who has left is forgotten", func() bool {
		zones, err := f.Zones(t.Context())
		return err == nil && len(zones[1].Replicas) == 1
	})
}

func TestAReplicaFarBehindIsNotAsked(t *testing.T) {
	w := newWorld(t)
	far, near := w.index(), w.index()
	near.Put(w.docs[:1], nil, 30_000)
	w.replica("a1", "a", far)
	w.replica("b1", "b", near)
	f := w.front("b", 1)
	w.until("who is behind is known", func() bool {
		zones, err := f.Zones(t.Context())
		return err == nil && len(zones) == 2 && zones[0].Replicas[0].State == "behind" && zones[1].Replicas[0].State == "ready"
	})
	far.Put(w.docs[:1], nil, 29_000)
	w.until("it has caught up", func() bool { return w.ready(f) == 2 })
}

func TestACallThatAsksForNothingOrTooMuchIsRefused(t *testing.T) {
	w := newWorld(t)
	s := &fleet.Server{Store: w.store, Index: w.index(), Log: w.log}
	for what, err := range map[string]error{
		"a query of no shard":      call(s.Find(t.Context(), &wire.Ask{})),
		"a beginning of no shard":  call(s.Suggest(t.Context(), wire.FromBegin(begin("ket")))),
		"no suggestion":            call(s.Suggest(t.Context(), wire.FromBegin(&index.Begin{Shards: []int{0}}))),
		"more than are ever shown": call(s.Suggest(t.Context(), wire.FromBegin(&index.Begin{Shards: []int{0}, Most: 1001}))),
	} {
		if status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: %v", what, err)
		}
	}
	r, err := s.State(t.Context(), nil)
	if err != nil || r.GetDocs() != offers || !r.Status().Ready {
		t.Errorf("its state is %+v, %v", r, err)
	}
}

// call is the error of a call.
func call[T any](_ T, err error) error { return err }

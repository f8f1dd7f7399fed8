package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/search/degrade"
	"github.com/courant-platform/courant/internal/search/fleet"
	"github.com/courant-platform/courant/internal/search/fleet/wire"
	"github.com/courant-platform/courant/internal/search/index"
	"github.com/courant-platform/courant/internal/search/shard"
)

const shards, offers = 4, 400

// world is replicas in zones over a store in memory.
type world struct {
	t     *testing.T
	store *store.Store
	log   *slog.Logger
	docs  []shard.Doc
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, store: storetest.Memory(t), log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	for i := range offers {
		w.docs = append(w.docs, shard.Doc{ID: int64(i + 1), Offer: fmt.Sprint(i), Source: "shop", Title: fmt.Sprint("kettle ", i), Words: fmt.Sprint("kettle ", i),
			URL: fmt.Sprint("http://a.example/", i), Price: int64(i+1) * 100, Category: []string{"1"}, CategoryNames: []string{"Kettles"}, Available: true})
	}
	return w
}

// index is one with the documents of some shards.
func (w *world) index(hold ...int) *index.Index {
	w.t.Helper()
	x := &index.Index{Store: w.store, Config: index.Config{Shards: shards}, Log: w.log}
	for _, n := range hold {
		x.Config.Hold = append(x.Config.Hold, strconv.Itoa(n))
	}
	if err := x.Open(); err != nil {
		w.t.Fatal(err)
	}
	stop := w.runs(x.Run)
	w.until("the index follows the feed", func() bool { return x.Status().Ready })
	stop() // so that nothing else changes it
	x.Put(w.docs, nil, 1)
	x.Sort()
	return x
}

// runs runs something until the test or what comes back ends it.
func (w *world) runs(run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	}
	w.t.Cleanup(stop)
	return stop
}

// replica lets fronts ask an index.
func (w *world) replica(name, zone string, x *index.Index) (address string, stop func()) {
	w.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	s := &fleet.Server{Store: w.store, Index: x, Name: name, Zone: zone, Log: w.log}
	return l.Addr().String(), w.runs(func(ctx context.Context) error { return s.Serve(ctx, l) })
}

// front is one that knows so many ready replicas.
func (w *world) front(zone string, replicas int) *fleet.Fleet {
	w.t.Helper()
	f := &fleet.Fleet{Store: w.store, Zone: zone, Shards: shards, Log: w.log}
	w.runs(f.Run)
	w.until("replicas are known", func() bool { return w.ready(f) == replicas })
	return f
}

func (w *world) ready(f *fleet.Fleet) (n int) {
	zones, err := f.Zones(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, z := range zones {
		for _, r := range z.Replicas {
			if r.State == "ready" {
				n++
			}
		}
	}
	return n
}

func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	for range 1500 {
		if holds() {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	w.t.Fatalf("not so: %s", what)
}

func query() *index.Ask {
	return &index.Ask{Query: shard.Query{Category: "1", Top: 48, Share: 1, Person: shard.Nobody()}}
}

func (w *world) find(f *fleet.Fleet) index.Part {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
	defer cancel()
	p, err := f.Ask(ctx, query())
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func TestReplicasFindWhatOneIndexFinds(t *testing.T) {
	w := newWorld(t)
	whole := w.index()
	want, err := whole.Ask(t.Context(), query())
	if err != nil {
		t.Fatal(err)
	}
	w.replica("a1", "a", w.index(0, 1))
	w.replica("a2", "a", w.index(2, 3))
	w.replica("b1", "b", whole)
	got := w.find(w.front("a", 3))
	if got.Total != offers || len(got.Hits) != 48 || got.Share != 1 || len(got.Shards) != shards {
		t.Fatalf("%d found, %d hits, share %v, reports %+v", got.Total, len(got.Hits), got.Share, got.Shards)
	}
	for i, h := range got.Hits {
		if h.ID != want.Hits[i].ID || h.Title != want.Hits[i].Title || h.Price != want.Hits[i].Price {
			t.Fatalf("hit %d is %+v, not %+v", i, h, want.Hits[i])
		}
	}
}

func TestALostReplicaCostsNoAnswer(t *testing.T) {
	w := newWorld(t)
	_, stop := w.replica("a1", "a", w.index())
	w.replica("b1", "b", w.index())
	f := w.front("a", 2)
	stop()
	for range 50 {
		if p := w.find(f); p.Total != offers {
			t.Fatalf("%d found", p.Total)
		}
	}
}

func TestShardsWithoutAReplicaAreSaidToBeMissing(t *testing.T) {
	w := newWorld(t)
	w.replica("a1", "a", w.index(0, 1, 2))
	f := w.front("a", 1)
	p := w.find(f)
	if p.Total == 0 || p.Total == offers || p.Share != 0.75 || len(p.Shards) != shards || p.Shards[3].Reason != degrade.Missing {
		t.Errorf("%d found, share %v, %+v", p.Total, p.Share, p.Shards)
	}
	if err := f.Ready(t.Context()); !errors.Is(err, courant.Busy) {
		t.Errorf("readers may be sent here: %v", err)
	}
}

// turn switches a zone, if the fleet says that it may be.
func (w *world) turn(f *fleet.Fleet, zone string, on bool) error {
	if err := f.MaySwitch(w.t.Context(), zone, on); err != nil {
		return err
	}
	return w.store.Write(w.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO zones (name, off, switched) VALUES ($1, $2, 1) ON CONFLICT (name) DO UPDATE SET off = excluded.off`, zone, !on)
		return err
	})
}

func TestAZoneThatIsOffIsNotAsked(t *testing.T) {
	w := newWorld(t)
	a := w.index()
	w.replica("a1", "a", a)
	w.replica("b1", "b", w.index())
	f := w.front("a", 2)
	if err := w.turn(f, "c", false); !errors.Is(err, courant.NotFound) {
		t.Errorf("a zone that there is not: %v", err)
	}
	if err := w.turn(f, "a", false); err != nil {
		t.Fatal(err)
	}
	w.until("the front knows", func() bool { return f.Ready(t.Context()) != nil })
	if err := w.turn(f, "b", false); !errors.Is(err, courant.Conflict) {
		t.Errorf("the last zone was switched off: %v", err)
	}
	w.find(f)
	if err := w.turn(f, "a", true); err != nil {
		t.Fatal(err)
	}
	w.until("the front knows", func() bool { return f.Ready(t.Context()) == nil })
}

func TestAnswersOfDifferentEnginesDoNotMix(t *testing.T) {
	w := newWorld(t)
	w.replica("a1", "a", w.index())
	w.replica("b1", "b", w.index())
	other := &index.Index{Store: w.store, Config: index.Config{Shards: shards, Model: "none"}, Log: w.log}
	if err := other.Open(); err != nil {
		t.Fatal(err)
	}
	w.runs(other.Run)
	w.replica("c1", "c", other)
	f := w.front("c", 2)
	zones, err := f.Zones(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := zones[2].Replicas[0].State; got != "of another engine" && got != "silent" && got != "behind" {
		t.Errorf("the replica without a model is %s", got)
	}
	if p := w.find(f); p.Total != offers {
		t.Errorf("%d found", p.Total)
	}
}

func TestWhoHasNoTokenIsRefused(t *testing.T) {
	w := newWorld(t)
	address, _ := w.replica("a1", "a", w.index())
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for name, call := range map[string]func(context.Context) error{
		"find": func(ctx context.Context) error {
			_, err := wire.NewShardsClient(conn).Find(ctx, wire.FromAsk(query()))
			return err
		},
		"state": func(ctx context.Context) error {
			_, err := wire.NewShardsClient(conn).State(ctx, &wire.StateRequest{})
			return err
		},
	} {
		if err := call(t.Context()); status.Code(err) != codes.Unauthenticated {
			t.Errorf("%s: %v", name, err)
		}
	}
}

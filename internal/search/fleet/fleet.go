// Package fleet queries the replicas of shards in other processes of all zones, and
// serves the shards of this process to others. It finds replicas in the store, polls
// their state, and continues with the last known ones while the store is unavailable.
package fleet

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/search/degrade"
	"github.com/courant-platform/courant/internal/search/index"
)

// Fleet is all replicas, as a front knows them. Its mutex is taken before those of the
// pickers and of the metrics.
type Fleet struct {
	Store   *store.Store
	Zone    string
	Own     string       // name of the replica in this process, if there is one
	Index   *index.Index // its shards, which are queried without a call
	Shards  int          // number of shards
	Metrics *obs.Set
	Log     *slog.Logger

	// mu guards the fields below except view and share.
	mu      sync.Mutex
	nodes   map[string]*node
	off     map[string]bool // zones that are switched off
	pickers map[string]*degrade.Picker
	engine  string
	missed  int // refreshes in a row with shards without a replica

	view  atomic.Pointer[view]
	share atomic.Uint64 // of the last query, bits of a float64
}

// view is what a query sees. It is not changed after it is published.
type view struct {
	groups  []group
	missing []int // shards that no replica holds
	nodes   map[string]*node
	docs    int
}

// group is shards that the same replicas hold. They are queried together.
type group struct {
	shards []int
	picker *degrade.Picker
}

const (
	refreshEvery = time.Second
	stateTime    = 700 * time.Millisecond // timeout of a call of State
	silences     = 2                      // timeouts in a row after which a replica is not queried
	behind       = 20_000                 // most changes that a replica may be behind the newest one
)

// Run keeps the view until ctx ends.
func (f *Fleet) Run(ctx context.Context) error {
	defer f.close()
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	for {
		f.refresh(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// refresh reads the list of replicas, polls their state, and publishes a new view.
func (f *Fleet) refresh(ctx context.Context) {
	if err := f.read(ctx); err != nil && ctx.Err() == nil {
		f.Log.Warn("replica list not read; using the last one", "error", err)
	}
	f.mu.Lock()
	nodes := slices.Collect(maps.Values(f.nodes))
	f.mu.Unlock()
	said := make([]seen, len(nodes)) // polled without the lock, so that a silent one blocks nobody
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() { said[i] = n.look(ctx) })
	}
	all.Wait()
	if ctx.Err() != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, n := range nodes {
		n.take(said[i])
	}
	f.look(time.Now())
}

// look publishes the view of the usable replicas.
func (f *Fleet) look(now time.Time) {
	usable := f.usable()
	holders := make([][]string, f.Shards)
	v := &view{nodes: map[string]*node{}}
	for _, n := range usable {
		v.nodes[n.name] = n
		for _, s := range n.state.Held {
			if s < len(holders) {
				holders[s] = append(holders[s], n.name)
			}
		}
	}
	byHolders := map[string][]int{}
	for s, names := range holders {
		key := strings.Join(names, " ")
		if byHolders[key] = append(byHolders[key], s); key == "" {
			v.missing = append(v.missing, s)
		}
	}
	for key, shards := range byHolders {
		if key != "" {
			v.groups = append(v.groups, group{shards, f.picker(now, shards, strings.Fields(key))})
		}
	}
	if len(v.groups) == 0 && f.view.Load() != nil && len(f.nodes) > 0 {
		return // when all are silent, the fault may be on this side
	}
	for _, n := range usable {
		v.docs += n.docs * f.Shards / max(len(n.state.Held), 1)
	}
	v.docs /= max(len(usable), 1)
	f.view.Store(v)
	f.tell(v)
}

// usable are the replicas that answer, have caught up, and have the engine that covers
// most shards, sorted by name. Answers of different engines cannot be merged.
func (f *Fleet) usable() (all []*node) {
	newest := int64(0)
	for _, n := range f.nodes {
		if n.well() {
			all = append(all, n)
			newest = max(newest, n.state.Version)
		}
	}
	type cover struct{ shards, nodes int }
	covers := map[string]cover{}
	for _, n := range all {
		c := covers[n.state.Engine]
		covers[n.state.Engine] = cover{max(c.shards, f.covered(all, n.state.Engine)), c.nodes + 1}
	}
	best := f.engine
	for e, c := range covers {
		b := covers[best]
		if c.shards > b.shards || c.shards == b.shards && (c.nodes > b.nodes || c.nodes == b.nodes && e < best && best != f.engine) {
			best = e
		}
	}
	if f.engine = best; len(covers) > 1 {
		f.Log.Warn("replicas differ in version or configuration; using the set that covers the most shards", "engine", best, "engines", len(covers))
	}
	all = slices.DeleteFunc(all, func(n *node) bool { return n.state.Engine != best || n.state.Version < newest-behind })
	slices.SortFunc(all, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	return all
}

// covered is the number of shards that the replicas of an engine hold together.
func (f *Fleet) covered(all []*node, engine string) int {
	held := map[int]bool{}
	for _, n := range all {
		for _, s := range n.state.Held {
			if n.state.Engine == engine {
				held[s] = true
			}
		}
	}
	return len(held)
}

// picker is the one for some shards, with the replicas that hold them.
func (f *Fleet) picker(now time.Time, shards []int, names []string) *degrade.Picker {
	key := keyOf(shards)
	p := f.pickers[key]
	if p == nil {
		if f.pickers == nil {
			f.pickers = map[string]*degrade.Picker{}
		}
		p = &degrade.Picker{Zone: f.Zone, Rand: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
		f.pickers[key] = p
	}
	var replicas []degrade.Replica
	for _, name := range names {
		replicas = append(replicas, degrade.Replica{Name: name, Zone: f.nodes[name].zone})
	}
	p.Set(now, replicas)
	for _, n := range f.nodes {
		p.Switch(now, n.zone, !f.off[n.zone])
	}
	for _, name := range names {
		p.Hear(now, name, f.nodes[name].state.Report)
	}
	return p
}

func keyOf(shards []int) string {
	var b strings.Builder
	for _, s := range shards {
		b.WriteByte(byte(s))
		b.WriteByte(byte(s >> 8))
	}
	return b.String()
}

// tell exports the metrics of the zones, and logs shards without a replica.
func (f *Fleet) tell(v *view) {
	type sum struct{ share, inFlight, replicas float64 }
	zones := map[string]sum{}
	for _, n := range f.nodes {
		zones[n.zone] = sum{} // also a zone without usable replicas
	}
	for _, n := range f.nodes {
		if asked := n.asked.Swap(0); asked > 0 {
			f.Metrics.Add("courant_search_asked_total", float64(asked), "zone", n.zone)
		}
	}
	for _, n := range v.nodes {
		z, r := zones[n.zone], n.state.Report
		zones[n.zone] = sum{z.share + r.Share, z.inFlight + float64(r.InFlight+r.Waiting), z.replicas + 1}
	}
	for name, z := range zones {
		f.Metrics.Gauge("courant_search_zone_share", z.share/max(z.replicas, 1), "zone", name)
		f.Metrics.Gauge("courant_search_zone_queries", z.inFlight, "zone", name)
		f.Metrics.Gauge("courant_search_zone_replicas", z.replicas, "zone", name)
	}
	switch {
	case len(v.missing) > 0:
		if f.missed++; f.missed == sayMissed {
			f.Log.Error("shards have no replica; results lack their documents", "shards", v.missing)
		}
	case f.missed >= sayMissed:
		f.Log.Info("all shards have a replica again")
		fallthrough
	default:
		f.missed = 0
	}
}

// sayMissed is how many refreshes shards may be without a replica before that is logged:
// at the start they are.
const sayMissed = 10

// Share is the share of the last query.
func (f *Fleet) Share() float64 {
	if share := math.Float64frombits(f.share.Load()); share > 0 {
		return share
	}
	return 1
}

// Docs is an estimate of the number of documents in all shards.
func (f *Fleet) Docs() int {
	if v := f.view.Load(); v != nil {
		return v.docs
	}
	return 0
}

// Building is always false: replicas that have not caught up are not queried.
func (f *Fleet) Building() bool { return false }

// close ends all connections.
func (f *Fleet) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.nodes {
		if err := n.close(); err != nil {
			f.Log.Debug("connection closed", "error", err)
		}
	}
}

// errNobody is the error of a query while no replica is known.
var errNobody = courant.Errorf(courant.Busy, "no replica of the index is ready; run the role index, with index.listen set if it is another process")

func busy(err error) bool { return errors.Is(err, courant.Busy) }

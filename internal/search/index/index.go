// Package index holds shards of the search in memory. It follows the change feed,
// keeps snapshots, and under load ranks less, and says so, but never filters or
// counts less.
package index

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/bell"
	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/search/category"
	"github.com/courant-platform/courant/internal/search/degrade"
	"github.com/courant-platform/courant/internal/search/shard"
)

// Config is the section of the index.
type Config struct {
	Shards     int      `toml:"shards" comment:"number of shards of the index; a query asks all of them at once"`
	Signals    []string `toml:"signals" comment:"names of numeric params of offers that are features of the ranking"`
	Model      string   `toml:"model" comment:"file of the ranking model (CatBoost JSON); the built-in one if empty, none to rank without a model"`
	Categories string   `toml:"categories" comment:"file of your own category tree and the mapping of sources' categories to it; see docs/search.md"`
	Policy     string   `toml:"policy" comment:"policy that turns load into the share of candidates to rank: feed-forward, linear or off"`
	Floor      float64  `toml:"floor" comment:"least share of the matching candidates that is ranked under any load, from 0 to 1"`
	Listen     string   `toml:"listen" comment:"address on which other processes query the shards of this one, such as 10.0.0.5:7400; use a private network"`
	Address    string   `toml:"address" comment:"address by which other processes reach it, if not that of listen"`
	Hold       []string `toml:"hold" comment:"shards that this process holds, such as 0-3; all if empty"`
}

// Defaults are the working values.
func Defaults() Config {
	return Config{Shards: 8, Signals: []string{"Rating", "Reviews", "Orders", "Shop rating", "Delivery"}, Policy: "feed-forward", Floor: 0.05}
}

// MaxShards bounds the number of shards.
const MaxShards = 1024

// Held reads the ranges of Hold, such as 0-3, into the numbers of shards, sorted; all
// if there is none.
func (c Config) Held() (held []int, err error) {
	n := max(c.Shards, 1)
	if len(c.Hold) == 0 {
		for i := range n {
			held = append(held, i)
		}
		return held, nil
	}
	for _, r := range c.Hold {
		from, to, isRange := strings.Cut(r, "-")
		lo, err := strconv.Atoi(strings.TrimSpace(from))
		hi := lo
		if err == nil && isRange {
			hi, err = strconv.Atoi(strings.TrimSpace(to))
		}
		if err != nil || lo < 0 || hi < lo || hi > MaxShards {
			return nil, courant.Errorf(courant.Invalid, "index.hold: %q is not a range of shards: write 0-3", r)
		}
		if hi >= n {
			return nil, courant.Errorf(courant.Invalid, "index.hold: shard %d does not exist; the shards are 0 to %d", hi, n-1)
		}
		for i := lo; i <= hi; i++ {
			held = append(held, i)
		}
	}
	slices.Sort(held)
	return slices.Compact(held), nil
}

// Index is the shards that a process holds. Its methods may be called by several
// goroutines at once, save Run.
type Index struct {
	Store       *store.Store
	Config      Config
	RegionParam string // the param of an offer that holds its regions
	Metrics     *obs.Set
	Log         *slog.Logger
	Dir         string // for snapshots; "" keeps none

	shards     []*shard.Shard // by number; nil for those that are not held
	held       []int
	categories *category.Map
	engine     string
	changed    bell.Bell
	follower   follower
	load       control
	ready      atomic.Bool
	version    atomic.Int64
}

// Open reads the model.
func (x *Index) Open() error {
	text, err := modelText(x.Config.Model)
	if err != nil {
		return err
	}
	model, err := openModel(x.Config, text)
	if err != nil {
		return err
	}
	if x.categories, err = category.Open(x.Config.Categories); err != nil {
		return fmt.Errorf("index.categories: %w", err)
	}
	if err := x.load.start(x.Config); err != nil {
		return err
	}
	if x.held, err = x.Config.Held(); err != nil {
		return err
	}
	n := max(x.Config.Shards, 1)
	x.engine = engine(n, x.Config.Signals, text, x.categories.Digest())
	x.shards = make([]*shard.Shard, n)
	for _, i := range x.held {
		x.shards[i] = shard.New(shard.Config{Signals: x.Config.Signals, Model: model, Now: time.Now, Made: x.engine})
	}
	return nil
}

// Share is what a query would rank now.
func (x *Index) Share() float64 { return x.load.gate.Report().Share }

// Docs is how many documents there are.
func (x *Index) Docs() (docs int) {
	for _, n := range x.held {
		d, _ := x.shards[n].Size()
		docs += d
	}
	return docs
}

// Building says that the index has not caught up with the change feed yet.
func (x *Index) Building() bool { return !x.ready.Load() }

// Texts is how many bytes the texts of documents take.
func (x *Index) Texts() (size int) {
	for _, n := range x.held {
		size += x.shards[n].Texts()
	}
	return size
}

// Sort brings the documents of all shards into their order.
func (x *Index) Sort() { x.each(func(_ int, s *shard.Shard) { s.Sort() }) }

// Handlers are what the index wants to hear.
func (x *Index) Handlers() []bus.Handler {
	return []bus.Handler{flow.PageChanged.Listen(func(context.Context, flow.Changes) error {
		x.changed.Ring()
		return nil
	})}
}

// Status is what an index says of itself.
type Status struct {
	Engine  string // answers of one query have to come from one
	Held    []int
	Ready   bool  // it has caught up with the change feed once
	Version int64 // the change that it has followed the feed to
	Report  degrade.Report
}

// Status is what it says now.
func (x *Index) Status() Status {
	return Status{Engine: x.engine, Held: x.held, Ready: x.ready.Load(), Version: x.version.Load(), Report: x.load.gate.Report()}
}

const (
	lookEvery = time.Second // for changes that no bell announced
	keepEvery = 10 * time.Minute
)

// Run follows the change feed until ctx ends.
func (x *Index) Run(ctx context.Context) error {
	var all sync.WaitGroup
	all.Go(func() { x.control(ctx) })
	defer all.Wait()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for kept := time.Now(); ; {
		heard := x.changed.Heard()
		if err := x.catchUp(ctx); err != nil && ctx.Err() == nil {
			x.Log.Warn("change feed not read; the index is behind it", "error", err)
		}
		x.tidy()
		if time.Since(kept) > keepEvery {
			x.keepIfWorth(1)
			kept = time.Now()
		}
		select {
		case <-ctx.Done():
			x.keepIfWorth(keepAfter)
			return nil
		case <-heard:
		case <-tick.C:
		}
	}
}

// tidy sorts one shard at a time, while nothing is cut.
func (x *Index) tidy() {
	if x.Share() < 1 {
		return
	}
	for _, n := range x.held {
		if x.shards[n].Tidy() {
			return
		}
	}
}

// keepIfWorth writes snapshots if there are some changes that they lack.
func (x *Index) keepIfWorth(changes int64) {
	if x.Dir == "" || x.follower.after-x.follower.kept < changes {
		return
	}
	if err := x.keep(); err != nil {
		x.Log.Warn("snapshot of the index not written; a restart builds it anew", "error", err)
	}
}

// shard is the one of a number; nil if it is not held, or there is none.
func (x *Index) shard(n int) *shard.Shard {
	if n < 0 || n >= len(x.shards) {
		return nil
	}
	return x.shards[n]
}

// each calls f for every shard that is held, for all at once.
func (x *Index) each(f func(n int, s *shard.Shard)) {
	var all sync.WaitGroup
	for _, n := range x.held {
		all.Go(func() { f(n, x.shards[n]) })
	}
	all.Wait()
}

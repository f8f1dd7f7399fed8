// Package index holds shards of the search index in memory. It follows the change feed
// and writes snapshots. Under load it ranks a smaller share of the matching documents and
// says so in the answer, but still filters and counts all of them.
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

// Config is the section index of the configuration.
type Config struct {
	Shards     int      `toml:"shards" comment:"number of shards of the index; a query asks all of them at once"`
	Signals    []string `toml:"signals" comment:"names of numeric params of offers that are features of the ranking"`
	Model      string   `toml:"model" comment:"file of the ranking model (CatBoost JSON); the built-in one if empty, none to rank without a model"`
	Categories string   `toml:"categories" comment:"file of your own category tree and the mapping of sources' categories to it; see docs/search.md"`
	Policy     string   `toml:"policy" comment:"policy that turns load into the share of candidates to rank: feed-forward, linear or off"`
	Floor      float64  `toml:"floor" comment:"minimum share of the matching candidates that is ranked under any load, from 0 to 1"`
	Listen     string   `toml:"listen" comment:"address on which other processes query the shards of this one, such as 10.0.0.5:7400; use a private network"`
	Address    string   `toml:"address" comment:"address at which other processes reach this one, if it is not that of listen"`
	Hold       []string `toml:"hold" comment:"shards that this process holds, such as 0-3; all if empty"`
}

// Defaults are the working values.
func Defaults() Config {
	return Config{Shards: 8, Signals: []string{"Rating", "Reviews", "Orders", "Shop rating", "Delivery"}, Policy: "feed-forward", Floor: 0.05}
}

// MaxShards bounds the number of shards.
const MaxShards = 1024

// Held is the sorted numbers of the shards in Hold, which has ranges such as 0-3; all
// shards if Hold is empty.
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
			return nil, courant.Errorf(courant.Invalid, "index.hold must list shards or ranges of shards, such as 0-3, not %q", r)
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

// Index is the shards that a process holds. All methods but Run, Put and Open may be
// called by several goroutines at once.
type Index struct {
	Store       *store.Store
	Config      Config
	RegionParam string // the param of an offer that holds its regions
	Metrics     *obs.Set
	Log         *slog.Logger
	Dir         string // of the snapshots; "" for none

	shards     []*shard.Shard // by number; nil if not held
	held       []int
	categories *category.Map
	engine     string
	changed    bell.Bell
	follower   follower
	load       control
	ready      atomic.Bool
	version    atomic.Int64
}

// Open reads the model and the categories, and creates the shards. It must be called
// first. Fails with Invalid if a setting or a file is wrong.
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

// Share is the share that a query would rank now.
func (x *Index) Share() float64 { return x.load.gate.Report().Share }

// Docs is the number of documents.
func (x *Index) Docs() (docs int) {
	for _, n := range x.held {
		d, _ := x.shards[n].Size()
		docs += d
	}
	return docs
}

// Building reports whether the index has not caught up with the change feed yet.
func (x *Index) Building() bool { return !x.ready.Load() }

// Texts is the size of the documents' texts in bytes.
func (x *Index) Texts() (size int) {
	for _, n := range x.held {
		size += x.shards[n].Texts()
	}
	return size
}

// Sort sorts the documents of all shards.
func (x *Index) Sort() { x.each(func(_ int, s *shard.Shard) { s.Sort() }) }

// Handlers are the notifications that the index subscribes to.
func (x *Index) Handlers() []bus.Handler {
	return []bus.Handler{flow.PageChanged.Listen(func(context.Context, flow.Changes) error {
		x.changed.Ring()
		return nil
	})}
}

// Status is the state of an index.
type Status struct {
	Engine  string // answers of different engines must not be merged
	Held    []int
	Ready   bool  // it has caught up with the change feed once
	Version int64 // change that it has followed the feed to
	Report  degrade.Report
}

// Status is the current state.
func (x *Index) Status() Status {
	return Status{Engine: x.engine, Held: x.held, Ready: x.ready.Load(), Version: x.version.Load(), Report: x.load.gate.Report()}
}

const (
	lookEvery = time.Second      // for changes without a notification
	keepEvery = 10 * time.Minute // between snapshots
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
			x.Log.Warn("change feed not read; retrying", "error", err)
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

// tidy sorts one shard at a time, while everything is ranked.
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

// keepIfWorth writes snapshots if the last ones lack at least so many changes.
func (x *Index) keepIfWorth(changes int64) {
	if x.Dir == "" || x.follower.after-x.follower.kept < changes {
		return
	}
	if err := x.keep(); err != nil {
		x.Log.Warn("index snapshot not written; a restart may have to rebuild the index", "error", err)
	}
}

// shard is a shard by number; nil if it is not held or does not exist.
func (x *Index) shard(n int) *shard.Shard {
	if n < 0 || n >= len(x.shards) {
		return nil
	}
	return x.shards[n]
}

// each calls f for every shard that is held, concurrently.
func (x *Index) each(f func(n int, s *shard.Shard)) {
	var all sync.WaitGroup
	for _, n := range x.held {
		all.Go(func() { f(n, x.shards[n]) })
	}
	all.Wait()
}

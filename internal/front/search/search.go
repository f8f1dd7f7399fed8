// Package search answers what readers look for: pages and product offers, from an
// index in memory that follows the change feed. A query goes to all shards at once;
// under load it ranks less, and says so, but never filters or counts less.
package search

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/front/search/shard"
	"github.com/courant-platform/courant/internal/front/search/words"
	"github.com/courant-platform/courant/internal/kit/bell"
	"github.com/courant-platform/courant/internal/kit/flags"
	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/store"
)

// Config is the front's section.
type Config struct {
	Shards      int              `toml:"shards" comment:"parts of the index, which a query asks at once"`
	Signals     []string         `toml:"signals" comment:"names of params that rank offers, as numbers"`
	Synonyms    string           `toml:"synonyms" comment:"file of words that mean the same: a group each line, commas between; a line that begins with stop: has words that ask for nothing"`
	Experiments []string         `toml:"experiments" comment:"such as 'cut users=0.02 share=0.7': a part of the users gets a share, as many are compared with them"`
	Flags       string           `toml:"flags" comment:"file of values that are read again every ten seconds; see docs/search.md"`
	Law         string           `toml:"law" comment:"how load becomes a share: feed-forward, linear, or off"`
	Floor       float64          `toml:"floor" comment:"the least part of what matches that is ranked, however busy"`
	Deadline    setting.Duration `toml:"deadline" comment:"after which nobody waits for an answer any more"`
	Model       string           `toml:"model" comment:"ranking model, JSON of CatBoost; the built-in one unless set, none to go without"`
}

// Defaults are the working values.
func Defaults() Config {
	return Config{Shards: 8, Signals: []string{"Rating", "Reviews", "Orders", "Shop rating", "Delivery"},
		Law: "feed-forward", Floor: 0.05, Deadline: setting.Duration(500 * time.Millisecond)}
}

// Search is the front.
type Search struct {
	Store       *store.Store
	Config      Config
	RegionParam string // the param of an offer that holds its regions
	Metrics     *obs.Set
	Log         *slog.Logger
	Dir         string // for snapshots of the index; "" keeps none
	// Guard lets administrators through.
	Guard func(http.Handler) http.HandlerFunc

	shards   []*shard.Shard
	synonyms words.Synonyms
	changed  bell.Bell
	follower follower

	experiments []experiment
	exposed     exposed
	secret      secret
	load        control
	flags       flags.Flags
}

// Open reads the model and the synonyms.
func (s *Search) Open() error {
	model, err := openModel(s.Config)
	if err != nil {
		return err
	}
	if s.synonyms, err = openSynonyms(s.Config.Synonyms); err != nil {
		return err
	}
	if err := s.load.start(s.Config); err != nil {
		return err
	}
	host, _ := os.Hostname()
	s.flags.Path, s.flags.Log = s.Config.Flags, s.Log
	s.flags.Known, s.flags.Where = []string{flagShare, flagNear}, map[string]string{"host": host}
	if err := s.flags.Read(); err != nil {
		return err
	}
	if s.experiments, err = parseExperiments(s.Config.Experiments); err != nil {
		return err
	}
	for range max(s.Config.Shards, 1) {
		s.shards = append(s.shards, shard.New(shard.Config{Signals: s.Config.Signals, Model: model, Now: time.Now}))
	}
	return nil
}

// Handlers are what the front wants to hear.
func (s *Search) Handlers() []bus.Handler {
	return []bus.Handler{flow.PageChanged.Listen(func(context.Context, flow.Changes) error {
		s.changed.Ring()
		return nil
	})}
}

// Register adds the front's addresses.
func (s *Search) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v1/search", s.api)
	mux.HandleFunc("GET /search", s.page)
	mux.HandleFunc("POST /api/v1/clicks", s.click)
	mux.HandleFunc("GET /api/v1/experiments", s.Guard(http.HandlerFunc(s.report)))
}

const (
	lookEvery = time.Second // for changes that no bell announced
	keepEvery = 10 * time.Minute
)

// Run follows the change feed until ctx ends.
func (s *Search) Run(ctx context.Context) error {
	var all sync.WaitGroup
	all.Go(func() { s.control(ctx) })
	all.Go(func() { s.flags.Run(ctx) })
	defer all.Wait()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for kept := time.Now(); ; {
		heard := s.changed.Heard()
		if err := s.catchUp(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("the index is behind the change feed", "error", err)
		}
		if err := s.count(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("queries of experiments are counted later", "error", err)
		}
		if time.Since(kept) > keepEvery {
			s.keepIfWorth(1)
			kept = time.Now()
		}
		select {
		case <-ctx.Done():
			s.keepIfWorth(keepAfter)
			return s.count(context.WithoutCancel(ctx))
		case <-heard:
		case <-tick.C:
		}
	}
}

// keepIfWorth writes snapshots if there are some changes that they lack.
func (s *Search) keepIfWorth(changes int64) {
	if s.Dir == "" || s.follower.after-s.follower.kept < changes {
		return
	}
	if err := s.keep(); err != nil {
		s.Log.Warn("the index is not kept and will be built anew after a restart", "error", err)
	}
}

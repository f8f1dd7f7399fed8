// Package search answers what readers look for: pages and product offers, from an
// index in memory that follows the change feed. A query goes to all shards at once;
// under load it ranks less, and says so, but never filters or counts less.
package search

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/courant-platform/courant/internal/desk"
	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/search/category"
	"github.com/courant-platform/courant/internal/search/flags"
	"github.com/courant-platform/courant/internal/search/fleet"
	"github.com/courant-platform/courant/internal/search/index"
	"github.com/courant-platform/courant/internal/search/words"
)

// Config is the front's section.
type Config struct {
	Shards      int              `toml:"shards" comment:"parts of the index, which a query asks at once"`
	Signals     []string         `toml:"signals" comment:"names of params that rank offers, as numbers"`
	Synonyms    string           `toml:"synonyms" comment:"file of words that mean the same: a group each line, commas between; a line that begins with stop: has words that ask for nothing"`
	Experiments []string         `toml:"experiments" comment:"such as 'cut users=0.02 share=0.7': a part of the users gets a share or, by second=FILE, another second model, as many are compared with them"`
	Flags       string           `toml:"flags" comment:"file of values that are read again every ten seconds; see docs/search.md"`
	Law         string           `toml:"law" comment:"how load becomes a share: feed-forward, linear, or off"`
	Floor       float64          `toml:"floor" comment:"the least part of what matches that is ranked, however busy"`
	Listen      string           `toml:"listen" comment:"where processes of other machines ask the shards of this one, such as 10.0.0.5:7400; in a private network"`
	Address     string           `toml:"address" comment:"by which they reach it, if that is another"`
	Hold        []string         `toml:"hold" comment:"shards that this process holds, such as 0-3; all unless set"`
	Deadline    setting.Duration `toml:"deadline" comment:"after which nobody waits for an answer any more"`
	Model       string           `toml:"model" comment:"ranking model, JSON of CatBoost; the built-in one unless set, none to go without"`
	Categories  string           `toml:"categories" comment:"file of your own tree of categories, and which categories of sources belong where; see docs/search.md"`
	Second      string           `toml:"second" comment:"model, JSON of CatBoost, by which the best 384 of all shards are ranked once more"`
}

// Index is the part of the configuration that an index needs.
func (c Config) Index() index.Config {
	return index.Config{Shards: c.Shards, Signals: c.Signals, Model: c.Model, Categories: c.Categories, Law: c.Law, Floor: c.Floor}
}

// Defaults are the working values.
func Defaults() Config {
	return Config{Shards: 8, Signals: []string{"Rating", "Reviews", "Orders", "Shop rating", "Delivery"},
		Law: "feed-forward", Floor: 0.05, Deadline: setting.Duration(500 * time.Millisecond)}
}

// Search is the front.
type Search struct {
	Store   *store.Store
	Config  Config
	Backend Backend
	Fleet   *fleet.Fleet // that is the Backend, if there are replicas in other processes
	Zone    string       // of this process, for conditions of flags
	Metrics *obs.Set
	Log     *slog.Logger
	// Admit lets administrators in.
	Admit web.Admit
	Desk  *desk.Desk

	synonyms    words.Synonyms
	categories  *category.Map
	second      *second // nil ranks nothing again
	experiments []experiment
	exposed     exposed
	stale       stale
	flags       flags.Flags
}

// Open reads the synonyms, the flags and the experiments.
func (s *Search) Open() error {
	var err error
	if s.categories, err = category.Open(s.Config.Categories); err != nil {
		return fmt.Errorf("search.categories: %w", err)
	}
	if s.synonyms, err = openSynonyms(s.Config.Synonyms); err != nil {
		return err
	}
	host, _ := os.Hostname()
	s.flags.Path, s.flags.Log = s.Config.Flags, s.Log
	s.flags.Known, s.flags.Where = []string{flagShare, flagNear}, map[string]string{"host": host, "zone": s.Zone}
	if err := s.flags.Read(); err != nil {
		return fmt.Errorf("search.flags: %w", err)
	}
	if s.second, err = openSecond(s.Config.Second, s.Config.Signals); err != nil {
		return fmt.Errorf("search.second: %w", err)
	}
	s.experiments, err = parseExperiments(s.Config.Experiments, s.Config.Signals)
	return err
}

// Register adds the front's addresses.
func (s *Search) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v1/search", s.api)
	mux.HandleFunc("GET /api/v1/suggest", s.suggest)
	mux.HandleFunc("GET /search", s.page)
	mux.HandleFunc("POST /api/v1/clicks", s.click)
	mux.HandleFunc("GET /api/v1/zones", s.Admit(web.Plain(http.HandlerFunc(s.zones))))
	mux.HandleFunc("PUT /api/v1/zones/{name}", s.Admit(s.switchZone))
	mux.HandleFunc("GET /api/v1/experiments", s.Admit(web.Plain(http.HandlerFunc(s.report))))
}

// countEvery is how often queries of experiments are written down.
const countEvery = time.Second

// Run keeps flags and counts until ctx ends.
func (s *Search) Run(ctx context.Context) error {
	var all sync.WaitGroup
	all.Go(func() { s.flags.Run(ctx) })
	defer all.Wait()
	tick := time.NewTicker(countEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return s.count(context.WithoutCancel(ctx))
		case <-tick.C:
		}
		if err := s.count(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("queries of experiments are counted later", "error", err)
		}
	}
}

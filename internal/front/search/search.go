// Package search serves searches for pages and product offers, in an index in memory that
// follows the change feed. A query goes to all shards at once. Under load it ranks a
// smaller share of the matches and says so, but still filters and counts all of them.
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
	"github.com/courant-platform/courant/internal/kit/admission"
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

// Config is the section search of the configuration.
type Config struct {
	Synonyms    string           `toml:"synonyms" comment:"file of synonyms: one group per line, separated by commas; a line that begins with stop: lists stop words"`
	Experiments []string         `toml:"experiments" comment:"A/B tests such as 'cut users=0.02 share=0.7': that fraction of users gets this share or, with reranker=FILE, another reranker; a control group of the same size is compared"`
	Flags       string           `toml:"flags" comment:"file of flags, reread every ten seconds; see docs/search.md"`
	Deadline    setting.Duration `toml:"deadline" comment:"how long a query may take; after that it fails"`
	Reranker    string           `toml:"reranker" comment:"file of a CatBoost model (JSON) that reranks the best 384 hits of all shards"`
}

// Defaults are the working values.
func Defaults() Config {
	return Config{Deadline: setting.Duration(500 * time.Millisecond)}
}

// Search is the front.
type Search struct {
	Store   *store.Store
	Config  Config
	Index   index.Config // of the shards that it queries
	Backend Backend
	Fleet   *fleet.Fleet // the Backend, if replicas run in other processes; else nil
	Zone    string       // of this process, for conditions of flags
	Metrics *obs.Set
	Log     *slog.Logger
	// Admit lets only administrators in.
	Admit web.Admit
	Desk  *desk.Desk

	synonyms    words.Synonyms
	categories  *category.Map
	reranker    *reranker // nil for none
	experiments []experiment
	exposed     exposed
	clicks      admission.Rate // of reports of clicks
	stale       stale
	flags       flags.Flags
}

// Open reads the files of the configuration. It must be called first. Fails with Invalid
// if a setting or a file is wrong.
func (s *Search) Open() error {
	s.clicks.Burst, s.clicks.Every = 100, 30*time.Second
	var err error
	if s.categories, err = category.Open(s.Index.Categories); err != nil {
		return fmt.Errorf("index.categories: %w", err)
	}
	if s.synonyms, err = openSynonyms(s.Config.Synonyms); err != nil {
		return err
	}
	host, _ := os.Hostname()
	s.flags.Path, s.flags.Log = s.Config.Flags, s.Log
	s.flags.Known, s.flags.Old = []string{flagShare, flagFuzzy}, map[string]string{"search.near": flagFuzzy}
	s.flags.Where = map[string]string{"host": host, "zone": s.Zone}
	if err := s.flags.Read(); err != nil {
		return fmt.Errorf("search.flags: %w", err)
	}
	if s.reranker, err = openReranker(s.Config.Reranker, s.Index.Signals); err != nil {
		return fmt.Errorf("search.reranker: %w", err)
	}
	s.experiments, err = parseExperiments(s.Config.Experiments, s.Index.Signals)
	return err
}

// Register adds the routes.
func (s *Search) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v1/search", s.api)
	mux.HandleFunc("GET /api/v1/suggest", s.suggest)
	mux.HandleFunc("GET /search", s.page)
	mux.HandleFunc("POST /api/v1/clicks", s.click)
	mux.HandleFunc("GET /api/v1/zones", s.Admit(web.Plain(http.HandlerFunc(s.zones))))
	mux.HandleFunc("PUT /api/v1/zones/{name}", s.Admit(s.switchZone))
	mux.HandleFunc("GET /api/v1/experiments", s.Admit(web.Plain(http.HandlerFunc(s.report))))
}

// countEvery is the interval at which the counts of experiments are stored.
const countEvery = time.Second

// Run rereads the flags and stores the counts of experiments until ctx ends.
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
			s.Log.Warn("experiment counts not written; retrying", "error", err)
		}
	}
}

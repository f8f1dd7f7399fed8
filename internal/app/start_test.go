package app

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
)

// quiet is a configuration with a free port that logs only errors.
func quiet() Config {
	c := Defaults()
	c.HTTP.Listen, c.Log.Level = "127.0.0.1:0", "error"
	return c
}

// witness is a role that reads the store until it is told to stop.
type witness struct {
	started, ended atomic.Bool
	running        chan struct{} // closed once it has started
}

func (w *witness) role() Role {
	w.running = make(chan struct{})
	return Role{Name: "witness", build: func(p *Platform) (unit, error) {
		return unit{runs: runs{func(ctx context.Context) error {
			w.started.Store(true)
			close(w.running)
			<-ctx.Done()
			err := p.Store.Read(context.WithoutCancel(ctx), func(store.Reader) error { return nil }) // the store is open still
			w.ended.Store(true)
			return err
		}}}, nil
	}}
}

func TestIfOneRoleCannotBeBuiltNoneStarts(t *testing.T) {
	dir := t.TempDir()
	c := quiet()
	c.Index.Model = filepath.Join(dir, "none.json")
	var out bytes.Buffer
	for range 40 {
		var w witness
		err := run(t.Context(), c, Options{Data: dir, Out: &out}, append([]Role{w.role()}, Roles()...))
		if !errors.Is(err, courant.Invalid) || !strings.Contains(err.Error(), "index.model") {
			t.Fatalf("got %v", err)
		}
		if w.started.Load() {
			t.Fatal("a role has started")
		}
	}
	if out.Len() > 0 {
		t.Errorf("it said %q", out.String())
	}
	if _, err := os.Stat(filepath.Join(dir, "run.json")); err == nil {
		t.Error("it left a session for commands")
	}
	ctx, cancel := context.WithCancel(t.Context())
	var w witness
	alone := []Role{w.role()}
	done := make(chan error, 1)
	go func() { done <- run(ctx, c, Options{Data: dir, Out: &out}, alone) }()
	select {
	case <-w.running:
	case err := <-done:
		t.Fatalf("without these roles it does not start: %v", err)
	}
	cancel()
	if err := <-done; err != nil || !strings.Contains(out.String(), "courant_") || !w.ended.Load() {
		t.Errorf("the first start that succeeds shows the token: %v, %q", err, out.String())
	}
}

func TestWhenOneRoleFailsTheOthersAreStoppedAndWaitedFor(t *testing.T) {
	var w witness
	fails := errors.New("fails")
	roles := []Role{w.role(), {Name: "broken", build: func(*Platform) (unit, error) {
		return unit{runs: runs{func(context.Context) error { <-w.running; return fails }}}, nil
	}}}
	err := run(t.Context(), quiet(), Options{Data: t.TempDir(), Out: &bytes.Buffer{}}, roles)
	if !errors.Is(err, fails) || !strings.HasPrefix(err.Error(), "broken: ") || !w.ended.Load() {
		t.Errorf("got %v, the other role has ended: %v", err, w.ended.Load())
	}
}

func TestAnUnusableFileIsReportedByItsKeyBeforeAnythingIsOpened(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("nonsense, \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		key, role string
		set       func(*Config)
	}{
		{"index.model", "index", func(c *Config) { c.Index.Model = none }},
		{"index.model", "index", func(c *Config) { c.Index.Model = bad }},
		{"index.categories", "index", func(c *Config) { c.Index.Categories = none }},
		{"index.categories", "search", func(c *Config) { c.Index.Categories = bad }},
		{"search.reranker", "search", func(c *Config) { c.Search.Reranker = none }},
		{"search.reranker", "search", func(c *Config) { c.Search.Reranker = bad }},
		{"search.synonyms", "search", func(c *Config) { c.Search.Synonyms = none }},
		{"search.flags", "search", func(c *Config) { c.Search.Flags = bad }},
		{"search.flags", "search", func(c *Config) { c.Search.Flags = filepath.Dir(bad) }},
		{"search.experiments", "search", func(c *Config) { c.Search.Experiments = []string{"a users=0.1 reranker=" + none} }},
		{"search.experiments", "search", func(c *Config) { c.Search.Experiments = []string{"a users=2"} }},
		{"index.policy", "index", func(c *Config) { c.Index.Policy = "murphy" }},
		{"index.hold", "index", func(c *Config) { c.Index.Hold = []string{"8"} }},
	} {
		config := quiet()
		c.set(&config)
		dir := filepath.Join(t.TempDir(), "data")
		for what, err := range map[string]error{
			"check": config.CheckFiles(), "run": Run(t.Context(), config, Options{Data: dir}), c.role: Run(t.Context(), config, Options{Data: dir, Roles: []string{c.role}}),
		} {
			if !errors.Is(err, courant.Invalid) || !strings.HasPrefix(err.Error(), c.key) {
				t.Errorf("%s of a wrong %s: %v", what, c.key, err)
			}
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: there is a data folder", c.key)
		}
		if err := config.CheckFiles("robot", "api"); err != nil {
			t.Errorf("roles that do without %s: %v", c.key, err)
		}
	}
	if err := quiet().CheckFiles(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
}

func TestRolesOfACommandStartTogetherOrNotAtAll(t *testing.T) {
	c := quiet()
	c.Index.Model = filepath.Join(t.TempDir(), "none.json")
	r, err := Connect(t.Context(), "", "", t.TempDir(), c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := r.Work(ctx, "schedule", "robot", "parse", "index"); !errors.Is(err, courant.Invalid) {
		t.Errorf("got %v", err)
	}
	if err := r.Do(t.Context(), http.MethodGet, "/api/v1/sources", nil, nil); err != nil {
		t.Errorf("the folder is still there for the command: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

package app

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/api"
	"github.com/courant-platform/courant/internal/front/search"
	"github.com/courant-platform/courant/internal/front/search/index"
	"github.com/courant-platform/courant/internal/front/serve"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/stage/media"
	"github.com/courant-platform/courant/internal/stage/pages"
	"github.com/courant-platform/courant/internal/stage/parse"
	"github.com/courant-platform/courant/internal/stage/robot"
	"github.com/courant-platform/courant/internal/stage/schedule"
)

// Role is a row of the role table. A process runs all of them or those named.
type Role struct {
	Name  string
	Does  string
	build func(*Platform) (unit, error)
}

// unit is a role at work: what it wants to hear, what it runs, what it answers.
type unit struct {
	handlers []bus.Handler
	runs     runs
	register func(*http.ServeMux)
}

// runs is what runs until its context ends, each beside the others.
type runs []func(context.Context) error

// Roles is the role table, in the order in which data moves.
func Roles() []Role {
	return []Role{
		{"schedule", "finds the sources that are due", scheduleRole},
		{"robot", "downloads, at the pace that each host can bear", robotRole},
		{"parse", "reads downloads into documents, changed ones only", parseRole},
		{"media", "keeps pictures; documents wait here for theirs", mediaRole},
		{"pages", "prints the light pages", pagesRole},
		{"serve", "answers readers: pages, pictures, the list of the newest", serveRole},
		{"search", "finds pages and offers, and ranks less rather than fail", searchRole},
		{"api", "answers developers and the command line", apiRole},
	}
}

// Named picks rows of the table, all if no name is given.
func Named(names []string) ([]Role, error) {
	all := Roles()
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	byName := map[string]Role{}
	for _, r := range all {
		known = append(known, r.Name)
		byName[r.Name] = r
	}
	var out []Role
	for _, n := range names {
		r, ok := byName[n]
		if !ok {
			return nil, courant.Errorf(courant.Invalid, "there is no role %q; did you mean %s? `courant roles` shows all", n, nearest(n, known))
		}
		delete(byName, n)
		out = append(out, r)
	}
	return out, nil
}

func scheduleRole(p *Platform) (unit, error) {
	s := &schedule.Schedule{Store: p.Store, Config: p.Config.Schedule, Log: p.log("schedule")}
	return unit{handlers: s.Handlers(), runs: runs{s.Run}}, nil
}

func robotRole(p *Platform) (unit, error) {
	c, err := p.client()
	if err != nil {
		return unit{}, err
	}
	r := &robot.Robot{Store: p.Store, Blobs: p.Blobs, Client: c, Config: p.Config.Robot, Owner: p.Owner,
		Metrics: p.Metrics, Log: p.log("robot")}
	return unit{handlers: r.Handlers(), runs: runs{r.Run}}, nil
}

func parseRole(p *Platform) (unit, error) {
	s := &parse.Parse{Store: p.Store, Blobs: p.Blobs, Config: p.Config.Parse, Pictures: p.Config.Media.Pictures, Owner: p.Owner,
		Metrics: p.Metrics, Log: p.log("parse")}
	return unit{handlers: s.Handlers(), runs: runs{s.Run}}, nil
}

func mediaRole(p *Platform) (unit, error) {
	m := &media.Media{Store: p.Store, Blobs: p.Blobs, Config: p.Config.Media, Metrics: p.Metrics, Log: p.log("media")}
	return unit{handlers: m.Handlers(), runs: runs{m.Run}}, nil
}

func pagesRole(p *Platform) (unit, error) {
	s := &pages.Pages{Store: p.Store, Config: p.Config.Pages, Owner: p.Owner, Pictures: p.Config.Media.Pictures, Metrics: p.Metrics, Log: p.log("pages")}
	return unit{handlers: s.Handlers(), runs: runs{s.Run}}, nil
}

func serveRole(p *Platform) (unit, error) {
	s := &serve.Serve{Store: p.Store, Blobs: p.Blobs, Config: p.Config.Serve, Metrics: p.Metrics, Log: p.log("serve")}
	return unit{register: s.Register}, nil
}

func searchRole(p *Platform) (unit, error) {
	x := &index.Index{Store: p.Store, Config: p.Config.Search.Index(), RegionParam: p.Config.Catalog.RegionParam, Metrics: p.Metrics, Log: p.log("search"),
		Dir: filepath.Join(p.dir, "search")}
	s := &search.Search{Store: p.Store, Config: p.Config.Search, Backend: x, Metrics: p.Metrics, Log: p.log("search"), Guard: p.api().Guard}
	return unit{handlers: x.Handlers(), runs: runs{x.Run, s.Run}, register: s.Register}, errors.Join(x.Open(), s.Open())
}

func apiRole(p *Platform) (unit, error) {
	a := p.api()
	return unit{handlers: a.Handlers(), runs: runs{a.Run}, register: a.Register}, nil
}

func (p *Platform) api() *api.API {
	return &api.API{Store: p.Store, Blobs: p.Blobs, Log: p.log("api"), Session: p.session.Token, Password: p.Config.HTTP.Password}
}

package app

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/serve"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/stage/media"
	"github.com/courant-platform/courant/internal/stage/pages"
	"github.com/courant-platform/courant/internal/stage/parse"
	"github.com/courant-platform/courant/internal/stage/retain"
	"github.com/courant-platform/courant/internal/stage/robot"
	"github.com/courant-platform/courant/internal/stage/robot/client"
	"github.com/courant-platform/courant/internal/stage/schedule"
	"github.com/courant-platform/courant/internal/stage/websub"
)

// Role is a row of the role table. A process runs all of them or those named.
type Role struct {
	Name  string
	Does  string
	build func(*Platform) (unit, error)
}

// unit is a role in a process: the messages that it handles, what it runs, and the
// HTTP handlers that it registers.
type unit struct {
	handlers []bus.Handler
	runs     runs
	register func(*http.ServeMux)
}

// runs are functions that run concurrently, each until its context ends.
type runs []func(context.Context) error

// Roles is the role table, in the order in which data moves.
func Roles() []Role {
	return []Role{
		{"schedule", "finds the sources that are due", scheduleRole},
		{"websub", "subscribes to the WebSub hubs of feeds, which push news as it is published", websubRole},
		{"robot", "downloads, at the pace that each host allows", robotRole},
		{"parse", "parses changed downloads into documents", parseRole},
		{"media", "stores pictures; documents wait here for theirs", mediaRole},
		{"pages", "renders the light pages", pagesRole},
		{"serve", "serves readers: pages, pictures, the list of the newest pages", serveRole},
		{"index", "holds the search index or some of its shards; under load it ranks less instead of failing", indexRole},
		{"search", "answers searches for pages and offers by querying the shards", searchRole},
		{"api", "serves the API to programs and the command line", apiRole},
		{"retain", "deletes what has been kept for long enough; one process does at a time", retainRole},
	}
}

// Named returns the roles with these names in the order of the table, or all roles if
// no name is given.
func Named(names []string) ([]Role, error) {
	all := Roles()
	if len(names) == 0 {
		return all, nil
	}
	names = slices.Clone(names)
	for i, n := range names {
		if to := renamedRoles[n]; to != "" {
			names[i] = to
		}
	}
	var known []string
	for _, r := range all {
		known = append(known, r.Name)
	}
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			return nil, courant.Errorf(courant.Invalid, "the role %s is named twice", n)
		}
		if !slices.Contains(known, n) {
			return nil, courant.Errorf(courant.Invalid, "there is no role %q; %s", n, meant(n, known, "`courant roles` shows all"))
		}
	}
	return slices.DeleteFunc(all, func(r Role) bool { return !slices.Contains(names, r.Name) }), nil
}

// namesOf are the names of roles; none if no role was asked for by name.
func namesOf(roles []Role, asked []string) (names []string) {
	for _, r := range roles {
		if len(asked) > 0 {
			names = append(names, r.Name)
		}
	}
	return names
}

func scheduleRole(p *Platform) (unit, error) {
	s := &schedule.Schedule{Store: p.Store, Config: p.Config.Schedule, Metrics: p.Metrics, Log: p.log("schedule")}
	return unit{handlers: s.Handlers(), runs: runs{s.Run, s.Watch}}, nil
}

func robotRole(p *Platform) (unit, error) {
	c, err := p.client("robot")
	if err != nil {
		return unit{}, err
	}
	r := &robot.Robot{Store: p.Store, Blobs: p.Blobs, Client: c, Config: p.Config.Robot, Owner: p.Owner,
		Metrics: p.Metrics, Log: p.log("robot")}
	return unit{handlers: r.Handlers(), runs: runs{r.Run}}, nil
}

func websubRole(p *Platform) (unit, error) {
	c, err := p.client("websub")
	if err != nil {
		return unit{}, err
	}
	s := &websub.WebSub{Store: p.Store, Blobs: p.Blobs, Config: p.Config.WebSub, Public: p.Config.HTTP.PublicURL, Local: p.session.Address,
		MaxFeed: int64(p.Config.Robot.MaxFeed), MinInterval: p.Config.Schedule.MinInterval.Or(time.Minute),
		Post: post(c), Near: c.Near, Metrics: p.Metrics, Log: p.log("websub")}
	return unit{handlers: s.Handlers(), runs: runs{s.Run}, register: s.Register}, nil
}

// post lets websub send requests to hubs with robot's client.
func post(c *client.Client) func(context.Context, string, url.Values) (websub.Reply, error) {
	return func(ctx context.Context, address string, form url.Values) (websub.Reply, error) {
		a, err := c.Post(ctx, address, form)
		if err != nil {
			return websub.Reply{}, err
		}
		return websub.Reply{Status: a.Status, Location: a.Location, RetryAfter: a.RetryAfter, Text: string(a.Body)}, nil
	}
}

func parseRole(p *Platform) (unit, error) {
	s := &parse.Parse{Store: p.Store, Blobs: p.Blobs, Config: p.Config.Parse, MaxFeed: int64(p.Config.Robot.MaxFeed), Pictures: p.Config.Media.Pictures, Owner: p.Owner,
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
	return unit{handlers: s.Handlers(), runs: runs{s.Run}, register: s.Register}, nil
}

func apiRole(p *Platform) (unit, error) {
	return unit{handlers: p.api.Handlers(), runs: runs{p.api.Run}, register: p.api.Register}, nil
}

func retainRole(p *Platform) (unit, error) {
	r := &retain.Retain{Store: p.Store, Blobs: p.Blobs, Config: p.Config.Retain, Owner: p.Owner, Metrics: p.Metrics, Log: p.log("retain")}
	return unit{runs: runs{r.Run}}, nil
}

package app

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/api"
	"github.com/courant-platform/courant/internal/stage/robot/explain"
)

// Fetched is what `courant fetch` shows.
type Fetched = explain.Fetched

// NewFetcher returns what explains how the robot of a configuration would fetch.
// running is the courant whose robot contacts the same hosts, nil if none is running.
func NewFetcher(c Config, running *Remote) (*explain.Fetcher, error) {
	down, g, err := c.client(nil)
	if err != nil {
		return nil, err
	}
	r := c.Robot
	f := &explain.Fetcher{Client: down, Guard: g, UserAgent: r.UserAgent, Gap: time.Duration(r.Gap), MaxFeed: r.MaxFeed, MaxPicture: r.MaxPicture}
	if running != nil {
		f.Known = running.hostState
	}
	return f, nil
}

// hostState is what the robot of a running courant knows about a host.
func (r *Remote) hostState(ctx context.Context, origin string) (explain.State, error) {
	var hosts []api.Host
	err := r.Do(ctx, http.MethodGet, "/api/v1/host?host="+url.QueryEscape(origin), nil, &hosts)
	if errors.Is(err, courant.NotFound) {
		return explain.State{}, nil
	}
	if err != nil || len(hosts) == 0 {
		return explain.State{}, err
	}
	h := hosts[0]
	s := explain.State{Host: explain.Rest{Until: h.Next.Time, Why: h.Reason}}
	if pace, err := time.ParseDuration(h.Pace); err == nil { // "" if no rate limit was learned
		s.Pace = pace
	}
	if d := h.Domain; d != nil {
		s.Domain = explain.Rest{Until: d.Next.Time, Why: d.Reason}
	}
	if h.Robots.Status == http.StatusServiceUnavailable {
		s.NoRobots = h.Robots.Until.Time
	}
	return s, nil
}

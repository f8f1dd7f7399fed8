package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/api"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/stage/robot/explain"
)

// Fetched is what `courant fetch` shows.
type Fetched = explain.Fetched

// NewFetcher returns what explains how a robot would fetch: that of running, by its
// settings, or of the configuration c if running is nil.
func NewFetcher(ctx context.Context, c Config, running *Remote) (*explain.Fetcher, error) {
	if running != nil {
		if err := running.settings(ctx, &c); err != nil {
			return nil, err
		}
	}
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

// settings replaces the robot's settings by those of a running courant, as far as it
// tells them: the password of a proxy stays secret, and then the proxy of c is used.
func (r *Remote) settings(ctx context.Context, c *Config) error {
	var text []byte
	err := r.Do(ctx, http.MethodGet, "/api/v1/config", nil, &text)
	if errors.Is(err, courant.NotFound) {
		return nil // an earlier version
	}
	if err != nil {
		return err
	}
	theirs := Defaults()
	if err := toml.Unmarshal(text, &theirs); err != nil { // keys that this version does not know are left out
		return fmt.Errorf("the configuration of the running courant: %w", err)
	}
	if link.Redact(c.Robot.Proxy) == theirs.Robot.Proxy {
		theirs.Robot.Proxy = c.Robot.Proxy
	} else if strings.Contains(theirs.Robot.Proxy, "@") {
		return courant.Errorf(courant.Forbidden, "the running courant uses the proxy %s, whose password it does not tell; set COURANT_ROBOT_PROXY for this command", theirs.Robot.Proxy)
	}
	c.Robot = theirs.Robot
	return nil
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

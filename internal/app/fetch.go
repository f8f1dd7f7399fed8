package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/charset"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/stage/robot/client"
	"github.com/courant-platform/courant/internal/stage/robot/rules"
)

// Fetched is what `courant fetch` saw, step by step.
type Fetched struct {
	URL      string   `json:"url"`
	Final    string   `json:"final"`
	Status   int      `json:"status"`
	Type     string   `json:"type"`
	Charset  string   `json:"charset"`
	Bytes    int      `json:"bytes"`
	ETag     string   `json:"etag"`
	Modified string   `json:"last_modified"`
	Took     float64  `json:"seconds"` // until the header of the last answer
	Steps    []string `json:"steps"`
	Error    string   `json:"error"`
}

func (f *Fetched) say(format string, args ...any) {
	f.Steps = append(f.Steps, fmt.Sprintf(format, args...))
}

const fetchHops = 10

// Fetch asks for an address by the robot's rules and explains what it decided.
// What the web answers is no error; only a mistake of ours is one.
func Fetch(ctx context.Context, c Config, address string) (Fetched, error) {
	p := &Platform{Config: c, Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	robot, err := p.client()
	if err != nil {
		return Fetched{}, err
	}
	defer robot.Close()
	f := Fetched{URL: address}
	canonical, err := link.Canonical(address)
	if err != nil {
		f.Error = err.Error()
		return f, nil
	}
	if canonical != address {
		f.say("the canonical form is %s", canonical)
	}
	if err := f.follow(ctx, robot, c, canonical); err != nil {
		f.Error = err.Error()
	}
	return f, nil
}

// follow asks, and goes on where redirects lead, each hop by its own host's rules.
func (f *Fetched) follow(ctx context.Context, robot *client.Client, c Config, address string) error {
	origin := ""
	for range fetchHops {
		if o := link.Origin(address); o != origin {
			origin = o
			if err := f.robots(ctx, robot, c, origin, address); err != nil {
				return err
			}
		}
		if err := pause(ctx, time.Duration(c.Robot.Gap)); err != nil {
			return err
		}
		a, err := robot.Get(ctx, client.Request{URL: address, Accept: "*/*", Max: int64(c.Robot.MaxPicture)})
		if err != nil {
			return err
		}
		f.Final, f.Status, f.Type, f.ETag, f.Modified, f.Took = address, a.Status, a.Type, a.ETag, a.Modified, a.Latency.Seconds()
		f.say("%s answered %d %s after %v", address, a.Status, http.StatusText(a.Status), a.Latency.Round(time.Millisecond))
		if a.RetryAfter > 0 {
			f.say("the host asks not to be asked again for %v", a.RetryAfter)
		}
		if a.Location == "" {
			f.body(a)
			return nil
		}
		f.say("it leads to %s", a.Location)
		address = a.Location
	}
	return fmt.Errorf("more than %d redirects", fetchHops)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// robots asks for robots.txt and says what it means for the address.
func (f *Fetched) robots(ctx context.Context, robot *client.Client, c Config, origin, address string) error {
	a, err := robot.Get(ctx, client.Request{URL: origin + "/robots.txt", Max: 4 * rules.MaxSize})
	switch {
	case errors.Is(err, courant.Forbidden), errors.Is(err, courant.NotFound):
		return err
	case err != nil:
		return fmt.Errorf("robots.txt cannot be had, so that nothing may be fetched: %w", err)
	case a.Status >= 500 || a.Status == http.StatusTooManyRequests:
		return fmt.Errorf("robots.txt answered %d, so that nothing may be fetched", a.Status)
	case a.Status != http.StatusOK:
		f.say("%s/robots.txt answered %d: nothing is forbidden", origin, a.Status)
		return nil
	}
	r := rules.Parse(a.Body, c.Robot.UserAgent)
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	if !r.Allowed(u.RequestURI()) {
		return courant.Errorf(courant.Forbidden, "robots.txt of %s forbids it to %s", origin, rules.Token(c.Robot.UserAgent))
	}
	f.say("robots.txt of %s allows it to %s; pace: one request in %v", origin, rules.Token(c.Robot.UserAgent), max(time.Duration(c.Robot.Gap), r.Delay))
	return nil
}

func (f *Fetched) body(a *client.Answer) {
	f.Bytes = len(a.Body)
	if a.Status != http.StatusOK {
		return
	}
	_, f.Charset, _ = charset.Decode(a.Body, a.Type)
	f.say("type %s, really in %s, %d bytes unpacked", a.Type, f.Charset, f.Bytes)
	if a.ETag != "" || a.Modified != "" {
		f.say("validators: ETag %s, Last-Modified %s", a.ETag, a.Modified)
	}
}

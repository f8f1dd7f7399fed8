package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
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
	origin, been := "", map[string]bool{}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
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
		a, err := robot.Get(ctx, client.Request{URL: address, Accept: "*/*", Max: int64(c.Robot.MaxPicture), Jar: jar})
		if err != nil {
			return err
		}
		f.Final, f.Status, f.Type, f.ETag, f.Modified, f.Took = address, a.Status, a.Type, a.ETag, a.Modified, a.Latency.Seconds()
		f.say("%s answered %d %s after %v", address, a.Status, http.StatusText(a.Status), a.Latency.Round(time.Millisecond))
		f.meaning(a)
		if a.Location == "" {
			f.body(a)
			return nil
		}
		if been[address] = true; been[a.Location] && len(a.Cookies) == 0 {
			return fmt.Errorf("redirect loop: %s leads back to itself", a.Location)
		}
		if u, err := url.Parse(address); err == nil && len(a.Cookies) > 0 {
			f.say("it sets %d cookies, which go along with this redirect only", len(a.Cookies))
			jar.SetCookies(u, a.Cookies)
		}
		address = a.Location
	}
	return fmt.Errorf("more than %d redirects", fetchHops)
}

// meaning says what the robot makes of an answer beside its body.
func (f *Fetched) meaning(a *client.Answer) {
	if a.RetryAfter > 0 {
		f.say("the host asks not to be asked again for %v", a.RetryAfter)
	}
	if a.Fresh > 0 {
		f.say("it stays fresh for %v by its header: a source is not asked more often", a.Fresh)
	}
	switch {
	case a.Wall != "":
		f.say("this is the bot wall of %s: the host is left alone for an hour at least, and a source says so", a.Wall)
	case a.Status == http.StatusTooManyRequests:
		f.say("a limit: the robot leaves all hosts of the domain alone for a while")
	case a.Status >= 500:
		f.say("the robot leaves the host alone for half a minute, and longer each time")
	case a.Status == http.StatusGone:
		f.say("a source that is gone is not asked any more")
	case a.Location != "" && (a.Status == http.StatusMovedPermanently || a.Status == http.StatusPermanentRedirect):
		f.say("it leads to %s for good: a source is asked there from the second time on", a.Location)
	case a.Location != "":
		f.say("it leads to %s", a.Location)
	}
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

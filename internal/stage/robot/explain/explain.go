// Package explain explains how the robot would fetch an address: it fetches it by the
// same rules and reports each decision. It stores nothing, and a running robot does not
// learn of its requests.
package explain

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/charset"
	"github.com/courant-platform/courant/internal/kit/guard"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/stage/robot/client"
)

// Fetched is the result of `courant fetch`, with its steps.
type Fetched struct {
	URL      string   `json:"url"`
	Final    string   `json:"final"`
	Status   int      `json:"status"`
	Type     string   `json:"type"`
	Charset  string   `json:"charset"`
	Bytes    int      `json:"bytes"`
	ETag     string   `json:"etag"`
	Modified string   `json:"last_modified"`
	Took     float64  `json:"seconds"` // until the header of the last response
	Steps    []string `json:"steps"`
	Error    string   `json:"error"`

	told string // the origin whose robots.txt was reported last
}

func (f *Fetched) say(format string, args ...any) {
	f.Steps = append(f.Steps, fmt.Sprintf(format, args...))
}

// Fetcher fetches addresses by the robot's rules and explains its decisions. What it
// learns about a host applies to the following addresses.
type Fetcher struct {
	Client     *client.Client
	Guard      *guard.Guard  // the client's
	UserAgent  string        // selects the group in robots.txt
	Gap        time.Duration // minimum time between two requests to a host
	MaxFeed    setting.Size
	MaxPicture setting.Size
	// Known returns a running robot's state of the host of an origin; nil if no robot runs.
	Known   func(ctx context.Context, origin string) (State, error)
	Now     bool                             // ignore back-offs and long waits
	Waiting func(format string, args ...any) // called before waits of 2 s or more

	hosts map[string]*host // by origin
}

// State is what a robot has learnt about a host. The zero value is no information.
type State struct {
	Pace     time.Duration // minimum time between two requests, learnt from 429 responses
	Host     Rest          // of the host
	Domain   Rest          // of all hosts of its registrable domain
	NoRobots time.Time     // until then nothing may be fetched because robots.txt is not available
}

// Rest is the end and the reason of a back-off.
type Rest struct {
	Until time.Time
	Why   string
}

// Close closes idle connections.
func (f *Fetcher) Close() { f.Client.Close() }

// Fetch fetches an address and follows redirects, each hop by the rules of its own
// host. A response of any status is no error.
func (f *Fetcher) Fetch(ctx context.Context, address string) *Fetched {
	out := &Fetched{URL: link.Redact(address)}
	canonical, err := link.Canonical(link.Feed(address))
	if err == nil {
		if canonical != address {
			out.say("the canonical form is %s", shortened(canonical))
		}
		err = f.follow(ctx, out, canonical)
	}
	if err != nil {
		out.Error = err.Error()
	}
	return out
}

// shortened is an address as a step shows it.
func shortened(address string) string {
	if len(address) > 300 {
		return strings.ToValidUTF8(address[:300], "") + "…"
	}
	return address
}

const mostHops = 10

func (f *Fetcher) follow(ctx context.Context, out *Fetched, address string) error {
	been := map[string]bool{}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	for range mostHops + 1 {
		a, err := f.hop(ctx, out, address, jar)
		if err != nil || a.Location == "" {
			return err
		}
		if been[address] = true; been[a.Location] && len(a.Cookies) == 0 {
			return fmt.Errorf("redirect loop: %s leads back to itself", link.Redact(a.Location))
		}
		if u, err := url.Parse(address); err == nil && len(a.Cookies) > 0 {
			out.say("it sets %d cookies, which are sent along this redirect chain only", len(a.Cookies))
			jar.SetCookies(u, a.Cookies)
		}
		address = a.Location
	}
	return fmt.Errorf("more than %d redirects", mostHops)
}

// hop fetches one address if the guard, the host's back-off and robots.txt allow it.
func (f *Fetcher) hop(ctx context.Context, out *Fetched, address string, jar http.CookieJar) (*client.Answer, error) {
	if err := f.guards(address); err != nil {
		return nil, err
	}
	h, err := f.host(ctx, out, address)
	if err != nil {
		return nil, err
	}
	if err := h.allows(out, address, f.UserAgent); err != nil {
		return nil, err
	}
	if err := f.wait(ctx, out, h); err != nil {
		return nil, err
	}
	a, err := f.Client.Get(ctx, client.Request{URL: address, Accept: "*/*", Max: int64(max(f.MaxFeed, f.MaxPicture)), Jar: jar})
	h.asked(a, err)
	if a != nil {
		out.Final, out.Status, out.Type, out.ETag, out.Modified, out.Took = address, a.Status, a.Type, a.ETag, a.Modified, a.Latency.Seconds()
		out.say("%s answered %s after %v", address, status(a.Status), a.Latency.Round(time.Millisecond))
	}
	if err != nil {
		return nil, plain(err)
	}
	out.meaning(a)
	if a.Location == "" {
		f.body(out, a)
	}
	return a, nil
}

// guards refuses addresses that the robot never fetches.
func (f *Fetcher) guards(address string) error {
	if shown := link.Redact(address); shown != address {
		return courant.Errorf(courant.Forbidden, "not allowed: %s: an address with a password in it is not fetched", shown)
	}
	u, err := url.Parse(address)
	if err != nil {
		return courant.Errorf(courant.Invalid, "%s is not a valid URL", address)
	}
	return f.Guard.URL(u)
}

// status is a status with its name, if it has one.
func status(code int) string {
	if text := http.StatusText(code); text != "" {
		return fmt.Sprint(code, " ", text)
	}
	return fmt.Sprint(code)
}

// meaning explains the effect of a response apart from its body.
func (out *Fetched) meaning(a *client.Answer) {
	if a.RetryAfter > 0 {
		out.say("the host asks for a wait of %v before the next request (Retry-After)", setting.Duration(a.RetryAfter))
	}
	if a.Fresh > 0 {
		out.say("the response stays fresh for %v by its header: a source is not polled more often", setting.Duration(a.Fresh))
	}
	switch {
	case a.Wall != "":
		out.say("this is the bot wall of %s: the robot backs off from the host for up to an hour, and longer after each failure", a.Wall)
	case a.Status == http.StatusTooManyRequests:
		out.say("rate limit: the robot backs off from all hosts of the domain")
	case a.Status >= 500 && a.RetryAfter > setback:
		out.say("the robot backs off from the host for that long")
	case a.Status >= 500:
		out.say("the robot backs off from the host for up to half a minute, and longer after each failure")
	case a.Status == http.StatusGone:
		out.say("a source that answers 410 is not polled any more")
	case a.Location != "" && (a.Status == http.StatusMovedPermanently || a.Status == http.StatusPermanentRedirect):
		out.say("permanent redirect to %s: a source that has redirected there twice is polled there directly", link.Redact(a.Location))
	case a.Location != "":
		out.say("redirect to %s", link.Redact(a.Location))
	case a.Status/100 == 3 && a.Status != http.StatusNotModified:
		out.say("a redirect without a valid Location header")
	}
}

// body explains what the robot would store of a response.
func (f *Fetcher) body(out *Fetched, a *client.Answer) {
	out.Bytes = len(a.Body)
	if !a.Complete() {
		return
	}
	_, out.Charset, _ = charset.Decode(a.Body, a.Type)
	kind := "no Content-Type"
	if a.Type != "" {
		kind = "Content-Type " + a.Type
	}
	out.say("%s, charset %s, %d bytes after unpacking", kind, out.Charset, out.Bytes)
	if int64(out.Bytes) > int64(f.MaxFeed) {
		text, _ := f.MaxFeed.MarshalText() // never fails
		out.say("a feed of this size would be refused: robot.max_feed is %s (catalogues and pictures have robot.max_catalog and robot.max_picture)", text)
	}
	switch {
	case a.ETag != "" && a.Modified != "":
		out.say("validators for the next request: ETag %s, Last-Modified %s", a.ETag, a.Modified)
	case a.ETag != "":
		out.say("validator for the next request: ETag %s", a.ETag)
	case a.Modified != "":
		out.say("validator for the next request: Last-Modified %s", a.Modified)
	default:
		out.say("no validators: the whole body is sent each time")
	}
}

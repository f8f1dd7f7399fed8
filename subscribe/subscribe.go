// Package subscribe gets every changed download of a Courant: feeds, catalogues and
// pictures, byte for byte as Courant's own parser gets them. The hosts are asked once
// however many subscribe.
//
// A subscription has a durable name. Its position is kept by the server and moves on
// when a download was handled, so that a service goes on after a restart where it was;
// what it had in hand comes again.
package subscribe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/courant-platform/courant"
)

// Client subscribes. Server and Name are needed, and Token where the server asks for
// one.
type Client struct {
	Server string   // such as http://127.0.0.1:8080
	Token  string   // that the first start of the server showed
	Name   string   // of the subscription: small letters, digits, dots, dashes and underscores
	Kinds  []string // feed, catalog, picture; feeds unless given
	// HTTP is the client to ask with; one without a time limit unless given, for the
	// server holds answers back until there is something.
	HTTP *http.Client
	// Lost hears how many downloads were deleted before they were handled, which the
	// server keeps for a bounded time. Run goes on with what is kept.
	Lost func(n int64)
	// Failed hears why the server could not be asked; it is asked again after a while.
	// Unless it is set nobody hears of it.
	Failed func(error)
}

// Download is a changed download.
type Download struct {
	Number    int64     `json:"number"`
	Kind      string    `json:"kind"`   // feed, catalog or picture
	Source    string    `json:"source"` // its name; "" for a picture
	URL       string    `json:"url"`    // after redirects
	Type      string    `json:"type"`   // Content-Type, as the host says
	ETag      string    `json:"etag"`
	Modified  string    `json:"last_modified"`
	FetchedAt time.Time `json:"fetched_at"`

	client *Client
}

const (
	longPoll  = "30s"
	firstWait = time.Second // after a failure, doubled up to
	mostWait  = time.Minute
)

// Run makes the subscription if there is none, which then begins with what comes from
// now on, and gives each download to handle, one after the other. A download that was
// handled is not given again, unless the process or the server ended before that was
// noted.
//
// Run ends with the error of handle, with that of ctx, and with what asking again does
// not mend: a wrong token (courant.Forbidden), a wrong name or kind (courant.Invalid), an
// address where no Courant is (courant.NotFound). After other failures it asks again.
func (c *Client) Run(ctx context.Context, handle func(context.Context, Download) error) error {
	if u, err := url.Parse(c.Server); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return courant.Errorf(courant.Invalid, "the server %q is no address: write http://127.0.0.1:8080", c.Server)
	}
	for wait := firstWait; ; wait = min(2*wait, mostWait) {
		err := c.subscribe(ctx)
		made := err == nil
		if made {
			err = c.follow(ctx, handle, func() { wait = firstWait })
		}
		var own handledError
		switch {
		case errors.As(err, &own):
			return own.error
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, courant.Invalid), errors.Is(err, courant.Forbidden):
			return err
		case errors.Is(err, courant.NotFound) && !made: // else somebody has ended it, and it is made again
			return err
		}
		if c.Failed != nil {
			c.Failed(err)
		}
		if !pause(ctx, wait/2+rand.N(wait/2)) {
			return ctx.Err()
		}
	}
}

// follow gives downloads to handle until something fails.
func (c *Client) follow(ctx context.Context, handle func(context.Context, Download) error, well func()) error {
	for {
		next, err := c.next(ctx)
		if err != nil {
			return err
		}
		well()
		for _, d := range next {
			if err := handle(ctx, d); err != nil {
				return handledError{err}
			}
			if err := c.acknowledge(ctx, d.Number, 0); err != nil {
				return err // the server gives it again
			}
		}
	}
}

// handledError is what handle has returned.
type handledError struct{ error }

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Body opens the bytes, unpacked from any transport coding. They are whatever the host
// sent. Close it. courant.NotFound is that they are not kept any more.
func (d Download) Body(ctx context.Context) (io.ReadCloser, error) {
	resp, err := d.client.ask(ctx, http.MethodGet, fmt.Sprintf("/api/v1/downloads/%d/body", d.Number), nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, problem(resp)
	}
	return resp.Body, nil
}

func (c *Client) path(rest string) string {
	return "/api/v1/subscriptions/" + url.PathEscape(c.Name) + rest
}

func (c *Client) subscribe(ctx context.Context) error {
	kinds := c.Kinds
	if len(kinds) == 0 {
		kinds = []string{"feed"}
	}
	return c.do(ctx, http.MethodPut, c.path(""), map[string]any{"kinds": kinds}, nil)
}

// next waits for the downloads that come next.
func (c *Client) next(ctx context.Context) ([]Download, error) {
	var got struct {
		Downloads []Download `json:"downloads"`
	}
	err := c.do(ctx, http.MethodGet, c.path("/downloads?wait="+longPoll), nil, &got)
	if gone := (*goneError)(nil); errors.As(err, &gone) {
		if c.Lost != nil {
			c.Lost(gone.Lost)
		}
		return nil, c.acknowledge(ctx, gone.Next, gone.Lost)
	}
	for i := range got.Downloads {
		got.Downloads[i].client = c
	}
	return got.Downloads, err
}

func (c *Client) acknowledge(ctx context.Context, number, lost int64) error {
	return c.do(ctx, http.MethodPost, c.path("/ack"), map[string]int64{"number": number, "lost": lost}, nil)
}

// goneError is the answer to who is too late.
type goneError struct {
	Detail string `json:"detail"`
	Lost   int64  `json:"lost"`
	Next   int64  `json:"next"`
}

func (e *goneError) Error() string { return e.Detail }

// do asks and reads a JSON answer.
func (c *Client) do(ctx context.Context, method, path string, in, out any) error {
	resp, err := c.ask(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return problem(resp)
	}
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("the answer of %s: %w", c.Server, err)
	}
	return nil
}

func (c *Client) ask(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.Server, "/")+path, body)
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "the server %q: %w", c.Server, err)
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	with := c.HTTP
	if with == nil {
		with = http.DefaultClient
	}
	return with.Do(req)
}

// problem is what the server complains of. Of the kinds of error only those are given
// that would come again.
func problem(resp *http.Response) error {
	p := goneError{}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(&p); err != nil || p.Detail == "" {
		p.Detail = "the server answered " + strings.TrimSpace(resp.Status)
	}
	switch status := resp.StatusCode; {
	case status == http.StatusGone && p.Lost > 0:
		return &p
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return courant.Errorf(courant.Forbidden, "%s", p.Detail)
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusMisdirectedRequest:
		return courant.Errorf(courant.NotFound, "%s", p.Detail)
	case status == http.StatusBadRequest:
		return courant.Errorf(courant.Invalid, "%s", p.Detail)
	}
	return errors.New(p.Detail)
}

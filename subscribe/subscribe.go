// Package subscribe receives every changed download of a Courant: feeds, catalogues and
// pictures, byte for byte as Courant's own parser gets them. However many clients
// subscribe, Courant fetches from each host only once.
//
// A subscription has a durable name. The server keeps its position, which advances when
// a download was handled. After a restart a service continues where it was; a download
// that it was handling is delivered again.
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

// Client is a subscriber. Server, Token and Name are required.
type Client struct {
	Server string   // such as http://127.0.0.1:8080
	Token  string   // as shown at the first start of the server
	Name   string   // of the subscription: lower-case letters, digits, dots, dashes and underscores
	Kinds  []string // feed, catalog, picture; only feed if empty
	// HTTP is the HTTP client, http.DefaultClient if nil. It must not time out before 30
	// seconds, because the server holds answers back until there is a download.
	HTTP *http.Client
	// Lost is called with the number of downloads that the server, which keeps them for a
	// limited time, deleted before they were handled. Run continues with the next one.
	Lost func(n int64)
	// Failed is called with the error of a request that is retried after a while. If it
	// is nil, such errors are dropped.
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

// Run creates the subscription if there is none, beginning with the next download, and
// calls handle for each download, one after the other. A download that was handled is
// not delivered again, unless the process or the server ends before it is acknowledged.
//
// Run returns the error of handle, that of ctx, and errors that a retry cannot fix: a
// wrong token (courant.Forbidden), a wrong name or kind (courant.Invalid), an address
// without a Courant (courant.NotFound). After other errors it retries.
func (c *Client) Run(ctx context.Context, handle func(context.Context, Download) error) error {
	if u, err := url.Parse(c.Server); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return courant.Errorf(courant.Invalid, "Server must be a URL such as http://127.0.0.1:8080, not %q", c.Server)
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
		case errors.Is(err, courant.NotFound) && !made: // else somebody has deleted the subscription, and it is created again
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

// follow calls handle for downloads until something fails, and well after each answer
// of the server.
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
				return err // the server delivers it again
			}
		}
	}
}

// handledError is an error that handle returned.
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

// Body opens the bytes that the host sent, without any transfer or content coding. The
// caller must close it. The error is courant.NotFound if they are no longer kept.
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

// next waits for the next downloads.
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

// goneError is the answer to a client that is too late.
type goneError struct {
	Detail string `json:"detail"`
	Lost   int64  `json:"lost"`
	Next   int64  `json:"next"`
}

func (e *goneError) Error() string { return e.Detail }

// do sends a request and reads a JSON answer.
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
		return fmt.Errorf("read the answer of %s: %w", c.Server, err)
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
		return nil, courant.Errorf(courant.Invalid, "request to %q: %w", c.Server, err)
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

// problem is the error in an answer. It has a kind only if a retry would give the same
// error.
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

package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/guard"
)

// keptReply is how much of the response to a form is kept, in bytes.
const keptReply = 1 << 10

// Post sends a form once, by the rules of Get. Whatever the status, the first 1024
// bytes of the body are kept, undecoded.
func (c *Client) Post(ctx context.Context, address string, form url.Values) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "address %q: %w", address, err)
	}
	req.Header.Set("User-Agent", c.config.UserAgent)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, a, err := c.send(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a.Body, err = io.ReadAll(io.LimitReader(resp.Body, keptReply))
	drain(resp)
	return a, explain(err)
}

// Near reports whether an address names this machine or one that the operator
// exempts: a server there can reach non-public addresses.
func (c *Client) Near(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	if a, ok := guard.Literal(u.Hostname()); ok {
		return a.Unmap().IsLoopback() || c.config.Guard.Exempts(addrPort(a, u))
	}
	return u.Hostname() == "localhost"
}

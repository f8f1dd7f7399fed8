package admission

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/courant-platform/courant/internal/kit/web"
)

// Rule is how requests of one kind are admitted. The zero Rule lets them through.
type Rule struct {
	Kind    string // of requests that cost alike; "" if they are not counted
	Outside bool   // they are counted, but need no slot: they have an admission of their own
}

// Door is a gate in front of an HTTP handler.
type Door struct {
	Gate *Gate
	Next http.Handler
	// Rule returns the rule for a request.
	Rule func(*http.Request) Rule
	// Client returns who asks.
	Client func(*http.Request) Client
}

// mostAhead is the largest body that is read before a request needs a slot. Larger ones are
// uploads, which wait for the network most of the time, and get none.
const mostAhead = 64 << 10

type turnKey struct{}

// TurnOf is the turn of the request that a context belongs to; nil if it needed none.
func TurnOf(ctx context.Context) *Turn {
	t, _ := ctx.Value(turnKey{}).(*Turn)
	return t
}

// ServeHTTP answers a request when it is its turn, or refuses it. The request has its slot
// until it sends the first byte: from then on it waits for the client.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rule := d.Rule(r)
	if rule.Kind == "" {
		d.Next.ServeHTTP(w, r)
		return
	}
	t, refused := d.Gate.come(d.Client(r), rule.Kind)
	if refused != nil {
		d.Gate.pause(r.Context(), refused)
		web.Refuse(w, refused)
		return
	}
	defer t.leave()
	small, err := readAhead(r)
	if err != nil {
		return // the client has gone
	}
	if small && !rule.Outside {
		if err := t.wait(r.Context()); err != nil {
			web.Fail(w, r, nil, err)
			return
		}
	}
	d.Next.ServeHTTP(&web.Writer{ResponseWriter: w, Begin: t.Stop}, r.WithContext(context.WithValue(r.Context(), turnKey{}, t)))
}

// readAhead reads a small body into memory, and reports whether there is nothing more to
// wait for.
func readAhead(r *http.Request) (small bool, err error) {
	if r.Body == nil || r.Body == http.NoBody {
		return true, nil
	}
	if r.ContentLength < 0 || r.ContentLength > mostAhead {
		return false, nil
	}
	body := make([]byte, r.ContentLength)
	if _, err := io.ReadFull(r.Body, body); err != nil {
		return false, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body)) // the server closes the other one
	return true, nil
}

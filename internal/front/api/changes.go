package api

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/admission"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// Change is the newest change of a page. Numbers grow; a page that changes again
// gets a new number instead of its old one, so that reading from 0 gives every
// page once.
type Change struct {
	Number      int64        `json:"number"`
	ID          int64        `json:"id,string"`
	URL         string       `json:"url"`
	Source      string       `json:"source"`
	Title       string       `json:"title"`
	Language    string       `json:"language"`
	PublishedAt courant.Time `json:"published_at"`
	StoredAt    courant.Time `json:"stored_at"`
	Revision    int          `json:"revision"`
	ContentHash string       `json:"content_hash"`
	Withdrawn   bool         `json:"withdrawn"`
}

// Changes is one batch of the change feed. Next is the value of after for the next
// request. A batch may end before the limit, but has at least one change if there is one.
type Changes struct {
	Changes []Change `json:"changes"`
	Next    int64    `json:"next"`
}

const (
	longestWait = time.Minute
	lookEvery   = 2 * time.Second  // for changes whose notification was lost
	beatEvery   = 15 * time.Second // a comment keeps proxies from closing a stream
)

// Handlers are the front's message handlers.
func (a *API) Handlers() []bus.Handler {
	return []bus.Handler{
		flow.PageChanged.Listen(func(context.Context, flow.Changes) error {
			a.changed.Ring()
			return nil
		}),
		flow.FeedFetched.Listen(func(context.Context, flow.Poll) error {
			a.fetched.Ring()
			return nil
		}),
		flow.PictureFetched.Listen(func(context.Context, flow.Fetch) error {
			a.fetched.Ring()
			return nil
		}),
	}
}

// Run cleans up after removed sources, and ends all waiting requests when ctx ends.
func (a *API) Run(ctx context.Context) error {
	a.Desk.Run(ctx, func(err error) { a.Log.Warn("items of removed sources not deleted; retrying", "error", err) })
	a.changed.Close()
	a.fetched.Close()
	return nil
}

// changesQuery is a query to the change feed.
type changesQuery struct {
	after int64
	limit int
	wait  time.Duration
}

func changesQueryOf(r *http.Request) (c changesQuery, err error) {
	q := r.URL.Query()
	if c.limit, _, err = bounds(q.Get("limit"), ""); err != nil {
		return c, err
	}
	after := q.Get("after")
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		after = id
	}
	if after != "" {
		if c.after, err = strconv.ParseInt(after, 10, 64); err != nil || c.after < 0 {
			return c, courant.Errorf(courant.Invalid, "after must be the number of a change, not %q", after)
		}
	}
	if wait := q.Get("wait"); wait != "" {
		if c.wait, err = waitOf(wait); err != nil {
			return c, courant.Errorf(courant.Invalid, "wait must be a duration from 0 to %s, such as 30s, not %q", longestWait, wait)
		}
	}
	return c, nil
}

// waitOf reads 30s, or 30 for seconds.
func waitOf(text string) (time.Duration, error) {
	if n, err := strconv.Atoi(text); err == nil {
		text = strconv.Itoa(n) + "s"
	}
	d, err := time.ParseDuration(text)
	if err == nil && (d < 0 || d > longestWait) {
		err = strconv.ErrRange
	}
	return d, err
}

// changes gives the changes after a number: as JSON, with wait when there are some,
// or as a stream of server-sent events.
func (a *API) changes(w http.ResponseWriter, r *http.Request) (int, any, error) {
	q, err := changesQueryOf(r)
	if err != nil {
		return 0, nil, err
	}
	stream := web.Prefers(r, "text/event-stream", "application/json")
	if stream || q.wait > 0 {
		err = admission.TurnOf(r.Context()).Sleep(r.Context())
	}
	if err == nil && stream {
		return a.stream(w, r, q)
	}
	if err != nil {
		return 0, nil, err
	}
	end, limit := time.Now().Add(q.wait), q.limit
	status, v, err := sendList(w, r, "changes", limit, func(n int) ([]Change, error) {
		q.limit = n
		out, err := a.awaitChanges(r, q, end)
		q.after, end = out.Next, time.Time{}
		return out.Changes, err
	}, func() any { return q.after })
	return goneIfOld(w, status, v, err)
}

// awaitChanges reads changes, and waits until there are some or until a time.
func (a *API) awaitChanges(r *http.Request, q changesQuery, end time.Time) (Changes, error) {
	for {
		heard := a.changed.Heard()
		out, err := a.readChanges(r.Context(), q)
		if err != nil || len(out.Changes) > 0 {
			return out, err
		}
		if left := time.Until(end); left <= 0 || a.changed.Closed() || !a.pause(r, heard, min(left, lookEvery)) {
			return out, err
		}
	}
}

// goneIfOld answers 410 to a number of which the changes are not known any more.
func goneIfOld(w http.ResponseWriter, status int, v any, err error) (int, any, error) {
	if errors.Is(err, errBeginAgain) {
		web.FailWith(w, http.StatusGone, err.Error())
		return 0, nil, nil
	}
	return status, v, err
}

// pause waits for a notification or for d. It returns false if the request ends first.
func (a *API) pause(r *http.Request, heard <-chan struct{}, d time.Duration) bool {
	admission.TurnOf(r.Context()).Stop()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-heard:
	case <-t.C:
	case <-r.Context().Done():
		return false
	}
	return true
}

// stream sends changes as they happen, until the client disconnects or the process
// stops.
func (a *API) stream(w http.ResponseWriter, r *http.Request, q changesQuery) (int, any, error) {
	heard := a.changed.Heard()
	out, err := a.readChanges(r.Context(), q)
	if err != nil {
		return goneIfOld(w, 0, nil, err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Accel-Buffering", "no")
	c := http.NewResponseController(w)
	said := time.Now()
	for first := true; err == nil; first = false {
		admission.TurnOf(r.Context()).Stop()
		if len(out.Changes) > 0 || first || time.Since(said) >= beatEvery {
			said = time.Now()
			if err := writeEvents(w, c, out.Changes); err != nil {
				return 0, nil, nil // the client has disconnected
			}
		}
		if len(out.Changes) < q.limit && (a.changed.Closed() || !a.pause(r, heard, lookEvery)) {
			break
		}
		q.after = out.Next
		heard = a.changed.Heard()
		out, err = a.readChanges(r.Context(), q)
	}
	return 0, nil, nil // after an error the client reconnects with the last number
}

// writeEvents writes changes, or a comment if there are none.
func writeEvents(w http.ResponseWriter, c *http.ResponseController, changes []Change) error {
	if len(changes) == 0 {
		if _, err := fmt.Fprint(w, ": still here\n\n"); err != nil {
			return err
		}
	}
	for i := range changes {
		text, err := json.Marshal(&changes[i])
		if err == nil {
			_, err = fmt.Fprintf(w, "id: %d\nevent: change\ndata: %s\n\n", changes[i].Number, text)
		}
		if err != nil {
			return err
		}
	}
	return c.Flush()
}

var errBeginAgain = courant.Errorf(courant.NotFound, "the number in after is too old or does not exist; start again with after=0")

// readChanges reads the changes after a number, when it is the request's turn.
func (a *API) readChanges(ctx context.Context, q changesQuery) (Changes, error) {
	out := Changes{Changes: []Change{}, Next: q.after}
	if err := admission.TurnOf(ctx).Wake(ctx); err != nil {
		return out, err
	}
	err := a.Store.Read(ctx, func(r store.Reader) error {
		if q.after > 0 {
			oldest, newest, err := table.ChangeBounds(r)
			if err != nil {
				return err
			}
			if q.after < oldest || q.after > newest {
				return errBeginAgain
			}
		}
		return table.Changes(r, q.after, q.limit, func(c table.Change) {
			out.Changes, out.Next = append(out.Changes, Change{Number: c.Number, ID: c.Page, URL: c.Address, Source: c.Source, Title: c.Title,
				Language: c.Language, PublishedAt: courant.Time{Time: store.Time(c.Published)}, StoredAt: courant.Time{Time: store.Time(c.Stored)},
				Revision: c.Revision, ContentHash: hex.EncodeToString(c.Hash), Withdrawn: c.Withdrawn}), c.Number
		})
	})
	return out, err
}

package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/admission"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// Subscription is a durable name under which a service gets downloads. Clients that
// use the same name share its position.
type Subscription struct {
	Name  string       `json:"name"`
	Kinds []string     `json:"kinds"` // feed, catalog, picture
	After int64        `json:"after"` // the highest acknowledged number
	Added courant.Time `json:"added"`
	Seen  courant.Time `json:"seen"` // when it last asked or acknowledged
	Lag   int          `json:"lag"`  // downloads that wait for it
	Lost  int64        `json:"lost"` // downloads that were deleted before it acknowledged them
}

// Download is a changed download, whose bytes are at /api/v1/downloads/NUMBER/body.
type Download struct {
	Number    int64        `json:"number"`
	Kind      string       `json:"kind"`
	Source    string       `json:"source"` // its name; "" for a picture
	URL       string       `json:"url"`    // after redirects
	Type      string       `json:"type"`   // Content-Type, as the host says
	ETag      string       `json:"etag"`
	Modified  string       `json:"last_modified"`
	FetchedAt courant.Time `json:"fetched_at"`
}

// Lost is the answer to a client that did not acknowledge downloads before their
// bodies were deleted.
type Lost struct {
	web.Problem
	Lost int64 `json:"lost"` // how many
	Next int64 `json:"next"` // to continue, acknowledge this number and how many were lost
}

var (
	kinds            = []string{"feed", "catalog", "picture"}
	subscriptionName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
)

func (a *API) registerSubscriptions(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v1/subscriptions", a.admin(a.subscriptions))
	mux.HandleFunc("PUT /api/v1/subscriptions/{name}", a.act(a.subscribe))
	mux.HandleFunc("DELETE /api/v1/subscriptions/{name}", a.act(a.unsubscribe))
	mux.HandleFunc("GET /api/v1/subscriptions/{name}/downloads", a.admin(a.downloads))
	mux.HandleFunc("POST /api/v1/subscriptions/{name}/ack", a.admin(a.acknowledge))
	mux.HandleFunc("GET /api/v1/downloads/{number}/body", a.Admit(web.Plain(http.HandlerFunc(a.downloadBody))))
}

// subscribe creates a subscription, which begins with the next download, or changes
// the kinds of an existing one.
func (a *API) subscribe(_ http.ResponseWriter, r *http.Request, who courant.Visitor) (int, any, error) {
	name := r.PathValue("name")
	if !subscriptionName.MatchString(name) {
		return 0, nil, courant.Errorf(courant.Invalid, "the name of a subscription must be up to 64 lower-case letters, digits, dots, dashes and underscores, not %q", name)
	}
	chosen, err := kindsOf(r)
	if err != nil {
		return 0, nil, err
	}
	if err := a.Desk.Subscribe(r.Context(), who, name, chosen); err != nil {
		return 0, nil, err
	}
	s, err := a.subscription(r.Context(), name)
	return http.StatusOK, s, err
}

// kindsOf are the kinds that a request names, without duplicates; feeds if it names none.
func kindsOf(r *http.Request) ([]string, error) {
	const example = `; send {"kinds":["feed"]}`
	var asked struct {
		Kinds *[]string `json:"kinds"`
	}
	if err := readObject(r.Body, &asked); err != nil && !errors.Is(err, errNoBody) {
		return nil, courant.Errorf(courant.Invalid, "subscription: %w%s", err, example)
	}
	if asked.Kinds == nil {
		return kinds[:1], nil
	}
	if len(*asked.Kinds) == 0 {
		return nil, courant.Errorf(courant.Invalid, "kinds must not be empty%s, or leave kinds out", example)
	}
	var chosen []string
	for _, k := range *asked.Kinds {
		if !slices.Contains(kinds, k) {
			return nil, courant.Errorf(courant.Invalid, "kinds must be among %s, not %q", strings.Join(kinds, ", "), k)
		}
		if !slices.Contains(chosen, k) {
			chosen = append(chosen, k)
		}
	}
	return chosen, nil
}

func (a *API) subscription(ctx context.Context, name string) (s Subscription, err error) {
	err = a.Store.Read(ctx, func(q store.Reader) error {
		s, err = subscription(q, name)
		return err
	})
	return s, err
}

func subscription(q store.Reader, name string) (s Subscription, err error) {
	err = s.scan(q.Row(readSubscription, name))
	if store.NoRow(err) {
		err = courant.Errorf(courant.NotFound, "there is no subscription %q; create it with PUT /api/v1/subscriptions/%s", name, name)
	}
	return s, err
}

func (s *Subscription) scan(rows interface{ Scan(...any) error }) error {
	var list string
	var added, seen int64
	err := rows.Scan(&s.Name, &list, &s.After, &added, &seen, &s.Lost, &s.Lag)
	s.Kinds, s.Added.Time, s.Seen.Time = strings.Split(list, ","), store.Time(added), store.Time(seen)
	return err
}

func (a *API) subscriptions(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	out := []Subscription{}
	err := a.Store.Rows(r.Context(), func(rows store.Rows) error {
		var s Subscription
		err := s.scan(rows)
		out = append(out, s)
		return err
	}, listSubscriptions)
	return http.StatusOK, out, err
}

func (a *API) unsubscribe(_ http.ResponseWriter, r *http.Request, who courant.Visitor) (int, any, error) {
	s, err := a.subscription(r.Context(), r.PathValue("name"))
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, s, a.Desk.Unsubscribe(r.Context(), who, s.Name)
}

// downloads lists the downloads after the acknowledged number. With wait, it waits
// until there are some.
func (a *API) downloads(w http.ResponseWriter, r *http.Request) (int, any, error) {
	q := r.URL.Query()
	limit, _, err := bounds(q.Get("limit"), "")
	if err != nil {
		return 0, nil, err
	}
	wait := time.Duration(0)
	if text := q.Get("wait"); text != "" {
		if wait, err = waitOf(text); err != nil {
			return 0, nil, courant.Errorf(courant.Invalid, "wait must be a duration from 0 to %s, such as 30s, not %q", longestWait, text)
		}
		err = admission.TurnOf(r.Context()).Sleep(r.Context())
	}
	out := []Download{}
	for end := time.Now().Add(wait); err == nil; {
		heard := a.fetched.Heard()
		if err = admission.TurnOf(r.Context()).Wake(r.Context()); err != nil {
			break
		}
		if out, err = a.nextDownloads(r.Context(), r.PathValue("name"), limit); err != nil || len(out) > 0 {
			break
		}
		if left := time.Until(end); left <= 0 || a.fetched.Closed() || !a.pause(r, heard, min(left, lookEvery)) {
			break
		}
	}
	if lost := (*lostError)(nil); errors.As(err, &lost) {
		w.Header().Set("Content-Type", "application/problem+json")
		return http.StatusGone, lost.answer(), nil
	}
	return http.StatusOK, struct {
		Downloads []Download `json:"downloads"`
	}{out}, err
}

// lostError says that downloads were deleted before they were acknowledged.
type lostError struct{ lost, next int64 }

func (l *lostError) Error() string {
	return fmt.Sprintf("%d downloads were deleted before they were acknowledged (limits: robot.keep_bodies and robot.keep_bodies_size); to continue, acknowledge {\"number\":%d,\"lost\":%d}", l.lost, l.next, l.lost)
}

func (l *lostError) answer() Lost {
	return Lost{Problem: web.Problem{Title: http.StatusText(http.StatusGone), Status: http.StatusGone, Detail: l.Error()}, Lost: l.lost, Next: l.next}
}

func (a *API) nextDownloads(ctx context.Context, name string, limit int) (out []Download, err error) {
	err = a.Store.Write(ctx, func(tx *store.Tx) error {
		out = []Download{}
		if _, err := table.NumberDownloads(tx); err != nil {
			return err
		}
		s, err := subscription(tx.Reader, name)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(seenSubscription, name, tx.Now().UnixMilli()); err != nil {
			return err
		}
		if s.Lost > 0 {
			return &lostError{s.Lost, s.After}
		}
		return tx.Rows(func(rows store.Rows) error {
			var d Download
			var fetched int64
			err := rows.Scan(&d.Number, &d.Kind, &d.Source, &d.URL, &d.Type, &d.ETag, &d.Modified, &fetched)
			d.FetchedAt.Time = store.Time(fetched)
			out = append(out, d)
			return err
		}, downloadsAfter, s.After, strings.Join(s.Kinds, ","), limit)
	})
	return out, err
}

// acknowledgement is what a subscriber has handled.
type acknowledgement struct {
	Number *int64 `json:"number"`
	Lost   int64  `json:"lost"` // downloads that it knows to be lost
}

func acknowledgementOf(r *http.Request) (k acknowledgement, err error) {
	err = readObject(r.Body, &k)
	switch {
	case err != nil:
	case k.Number == nil:
		err = errors.New("number is missing: the number of the newest download that was handled")
	case *k.Number < 0:
		err = fmt.Errorf("number must be at least 0, not %d", *k.Number)
	case k.Lost < 0:
		err = fmt.Errorf("lost must be at least 0, not %d", k.Lost)
	}
	if err != nil {
		err = courant.Errorf(courant.Invalid, `acknowledgement: %w; send {"number":5}`, err)
	}
	return k, err
}

// acknowledge advances the position of a subscription.
func (a *API) acknowledge(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	done, err := acknowledgementOf(r)
	if err != nil {
		return 0, nil, err
	}
	var s Subscription
	err = a.Store.Write(r.Context(), func(tx *store.Tx) error {
		newest, err := table.NumberDownloads(tx)
		if err == nil {
			s, err = subscription(tx.Reader, r.PathValue("name"))
		}
		switch {
		case err != nil:
			return err
		case *done.Number > newest:
			return courant.Errorf(courant.Invalid, "there is no download %d yet; the newest is %d", *done.Number, newest)
		}
		if _, err := tx.Exec(ackSubscription, s.Name, *done.Number, tx.Now().UnixMilli(), done.Lost); err != nil {
			return err
		}
		s, err = subscription(tx.Reader, s.Name)
		return err
	})
	return http.StatusOK, s, err
}

// downloadBody serves the bytes that parse reads, which are untrusted: whatever the
// host sent.
func (a *API) downloadBody(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.ParseInt(r.PathValue("number"), 10, 64)
	var key, kind string
	if err != nil || number <= 0 {
		err = courant.Errorf(courant.Invalid, "the number of a download must be a positive whole number, not %q", r.PathValue("number"))
	} else {
		err = a.Store.Row(r.Context(), bodyOfDownload, number).Scan(&key, &kind)
	}
	var f blob.File
	if err == nil {
		f, err = a.Blobs.OpenCached(r.Context(), key)
	}
	if store.NoRow(err) || blob.Missing(err) {
		err = courant.Errorf(courant.NotFound, "there is no download %d, or it is no longer kept", number)
	}
	if err != nil {
		web.Fail(w, r, a.Log, err)
		return
	}
	defer f.Close()
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Courant-Content-Type", kind)
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", "attachment")
	h.Set("Content-Length", strconv.FormatInt(f.Info().Size, 10))
	io.Copy(w, f) // an error means that the client has disconnected
}

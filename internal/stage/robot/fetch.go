package robot

import (
	"context"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/stage/robot/client"
	"github.com/courant-platform/courant/internal/table"
)

const (
	acceptPictures = "image/webp, image/png, image/jpeg, image/gif, image/*;q=0.5"
	maxAttempts    = 5
)

// wanted is a row of fetches.
type wanted struct {
	hash         []byte
	url          string
	kind         string
	attempts     int
	redirectURL  string // redirect target that another robot handed over
	redirectHops int
}

// refused reports whether our own rules or limits caused the error, not the host.
func refused(err error) bool {
	return errors.Is(err, courant.Forbidden) || errors.Is(err, courant.Invalid)
}

// fetch downloads a wanted address and stores the body for its consumer.
func (r *Robot) fetch(ctx context.Context, h *host, t task) (time.Time, *task) {
	now := time.Now()
	f := wanted{hash: t.id.hash[:]}
	err := r.Store.Row(ctx, readFetch, f.hash).Scan(&f.url, &f.kind, &f.attempts, &f.redirectURL, &f.redirectHops)
	if err != nil { // the sweep finds it again
		r.unread(ctx, "fetch", err, "url", f.url, "hash", hex.EncodeToString(f.hash))
		return now, nil
	}
	if t.trail == nil && f.redirectURL != "" {
		t.trail = &trail{url: f.redirectURL, hops: f.redirectHops}
	}
	if t.trail != nil {
		f.url = t.trail.url
	}
	if h.elsewhere(f.url) {
		return now, nil // the robot of that host finds it in the store
	}
	switch why, until := r.allowed(h, f.url); {
	case !until.IsZero():
		r.retry(ctx, h, f, 0, why, until)
		return now, nil
	case why != "":
		r.answerFetch(ctx, h, f, 0, nil, why)
		return now, nil
	}
	a, err := r.Client.Get(ctx, client.Request{URL: f.url, Accept: acceptPictures, Max: int64(r.Config.MaxPicture), Jar: t.trail.cookies()})
	v := r.outcome(ctx, h, a, err, now)
	switch {
	case v.again && t.trail.short():
		return v.next, t.once(f.url)
	case v.why != "" && !refused(err) && f.attempts+1 < maxAttempts:
		r.retry(ctx, h, f, statusOf(a), v.why, v.next)
	case v.why != "":
		r.answerFetch(ctx, h, f, statusOf(a), nil, v.why)
	case a.Location != "":
		return r.lead(ctx, h, f, t, a, v.next)
	case a.Complete():
		r.answerFetch(ctx, h, f, a.Status, a, "")
	default:
		r.answerFetch(ctx, h, f, a.Status, nil, said(a))
	}
	return v.next, nil
}

// lead continues the task at the target of a redirect.
func (r *Robot) lead(ctx context.Context, h *host, f wanted, t task, a *client.Answer, next time.Time) (time.Time, *task) {
	way, why := t.trail.on(f.url, a)
	if why != "" {
		r.answerFetch(ctx, h, f, a.Status, nil, why)
		return next, nil
	}
	if r.ours(a.Location) {
		t.trail = way
		return next, &t
	}
	r.writeFor(ctx, h, f.url, func(tx *store.Tx) error {
		to := flow.Fetch{Hash: f.hash, Origin: origin(way.url), Partition: partOf(way.url), Priority: int(t.priority)}
		n, err := tx.Exec(leadFetch, f.hash, way.url, way.hops, to.Origin, to.Partition)
		if n == 1 {
			tx.Emit(flow.FetchWanted.Encode(to))
		}
		return err
	})
	return next, nil
}

// retry leaves the row wanted and sets its next attempt.
func (r *Robot) retry(ctx context.Context, h *host, f wanted, status int, why string, next time.Time) {
	wait := max(time.Until(next), 10*time.Second<<f.attempts) + rand.N(time.Second)
	r.writeFor(ctx, h, f.url, func(tx *store.Tx) error {
		_, err := tx.Exec(retryFetch, f.hash, store.Millis(tx.Now().Add(wait)), status, why)
		return err
	})
}

// answerFetch stores the response, or why there is none, and notifies the consumer.
func (r *Robot) answerFetch(ctx context.Context, h *host, f wanted, status int, a *client.Answer, why string) {
	key, kind := "", ""
	if a != nil {
		var err error
		if key, err = r.keepBody(ctx, f.url, hex.EncodeToString(f.hash), a.Body); err != nil {
			return
		}
		kind = a.Type
	}
	r.writeFor(ctx, h, f.url, func(tx *store.Tx) error {
		n, err := tx.Exec(answerFetch, f.hash, tx.Now().UnixMilli(), status, key, kind, why)
		if err == nil && n == 1 && a != nil {
			err = table.Log(tx, table.Download{Kind: f.kind, URL: f.url, Type: a.Type, ETag: a.ETag, Modified: a.Modified, Blob: key})
		}
		if n == 1 {
			tx.Emit(flow.PictureFetched.Encode(flow.Fetch{Hash: f.hash, Origin: h.origin, Partition: h.part}))
		}
		return err
	})
}

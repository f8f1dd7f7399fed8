package robot

import (
	"context"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/stage/robot/client"
)

const (
	acceptPictures = "image/webp, image/png, image/jpeg, image/gif, image/*;q=0.5"
	maxHops        = 10
	maxAttempts    = 5
)

// wanted is a row of fetches as it was asked.
type wanted struct {
	hash     []byte
	url      string
	kind     string
	attempts int
}

// refused says that it was we who did not ask, or could not take the answer.
func refused(err error) bool {
	return errors.Is(err, courant.Forbidden) || errors.Is(err, courant.Invalid)
}

// fetch asks for a wanted address and keeps the body for its consumer.
func (r *Robot) fetch(ctx context.Context, h *host, t task) (time.Time, *task) {
	now := time.Now()
	f := wanted{hash: []byte(t.hash)}
	err := r.Store.Read(ctx, func(q store.Reader) error {
		return q.Row(readFetch, f.hash).Scan(&f.url, &f.kind, &f.attempts)
	})
	if err != nil {
		return now, nil
	}
	if t.url != "" {
		f.url = t.url
	}
	if h.robots == nothingGoes {
		r.retry(ctx, h, f, 0, h.allowed(f.url), h.until)
		return now, nil
	}
	if why := h.allowed(f.url); why != "" {
		r.answerFetch(ctx, h, f, 0, nil, why)
		return now, nil
	}
	a, err := r.Client.Get(ctx, client.Request{URL: f.url, Accept: acceptPictures, Max: int64(r.Config.MaxPicture)})
	next, why := r.outcome(ctx, h, a, err, now)
	switch {
	case why != "" && !refused(err) && f.attempts+1 < maxAttempts:
		r.retry(ctx, h, f, statusOf(a), why, next)
	case why != "":
		r.answerFetch(ctx, h, f, statusOf(a), nil, why)
	case a.Location != "" && !r.ours(a.Location):
		r.answerFetch(ctx, h, f, a.Status, nil, elsewhere)
	case a.Location != "":
		if t.hops++; t.hops <= maxHops {
			t.url = a.Location
			return next, &t
		}
		r.answerFetch(ctx, h, f, a.Status, nil, "more than "+strconv.Itoa(maxHops)+" redirects")
	case a.Status == http.StatusOK:
		r.answerFetch(ctx, h, f, a.Status, a, "")
	default:
		r.answerFetch(ctx, h, f, a.Status, nil, "the server answered "+strconv.Itoa(a.Status)+" "+http.StatusText(a.Status))
	}
	return next, nil
}

// retry leaves the row wanted, for later.
func (r *Robot) retry(ctx context.Context, h *host, f wanted, status int, why string, next time.Time) {
	wait := max(time.Until(next), 10*time.Second<<f.attempts) + rand.N(time.Second)
	r.writeFor(ctx, h, f.url, func(tx *store.Tx) error {
		_, err := tx.Exec(retryFetch, f.hash, store.Millis(tx.Now().Add(wait)), status, why)
		return err
	})
}

// answerFetch keeps the answer, or why there is none, and tells the consumer.
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
		if n == 1 {
			tx.Emit(flow.PictureFetched.Encode(flow.Fetch{Hash: f.hash, Origin: h.origin, Part: h.part}))
		}
		return err
	})
}

// elsewhere is why some redirects are not followed where there are several robots.
const elsewhere = "it leads to a host that another robot has, and is not followed there"

// ours says whether the host of an address is in a part that we hold.
func (r *Robot) ours(address string) bool {
	return r.lease(courant.Part(link.Domain(link.Host(address)))).until.After(time.Now())
}

// follow ends the task at this host and goes on with it at the one that a
// redirect names, in whose queue it waits like any other.
func (r *Robot) follow(h *host, t, on task, next time.Time) {
	origin := link.Origin(on.url)
	r.mu.Lock()
	r.queue.done(h, t, next)
	part := courant.Part(link.Domain(link.Host(on.url)))
	r.queue.add(origin, part, on, r.parts[part].since.Add(r.gap()))
	r.mu.Unlock()
	r.ring()
}

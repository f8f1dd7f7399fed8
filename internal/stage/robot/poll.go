package robot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/stage/robot/client"
)

const acceptFeeds = "application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.5"

// polled is a row of polls as it was asked.
type polled struct {
	source         int64
	url            string
	etag, modified string
	body, raw      []byte // digests of what was read last, unpacked and as it came
	pushed         bool   // what was read last came from a hub: the validators are those of what was polled before
	asked          int64
	kind           courant.SourceKind
	key            string // of a catalogue's body, which is kept as it comes
}

// poll asks for a source. Its answer is kept as a pending download, whose
// validators count only once parse has committed what it found.
func (r *Robot) poll(ctx context.Context, h *host, t task) (time.Time, *task) {
	now := time.Now()
	p := polled{source: t.source}
	err := r.Store.Read(ctx, func(q store.Reader) error {
		return q.Row(readPoll, t.source).Scan(&p.url, &p.etag, &p.modified, &p.body, &p.raw, &p.pushed, &p.asked, &p.kind)
	})
	if err != nil { // answered meanwhile, or unreadable: the sweep finds it again
		return now, nil
	}
	if t.url != "" {
		p.url = t.url
	}
	if why := h.allowed(p.url); why != "" {
		r.answerPoll(ctx, h, p, 0, why)
		return now, nil
	}
	a, err := r.Client.Get(ctx, r.request(ctx, &p))
	next, why := r.outcome(ctx, h, a, err, now)
	switch {
	case why != "":
		r.answerPoll(ctx, h, p, statusOf(a), why)
	case a.Location != "":
		return r.redirect(ctx, h, p, t, a, next)
	case a.Status == http.StatusNotModified && p.pushed && p.etag+p.modified != "" && t.hops < maxHops:
		return r.askWhole(ctx, h, p, t, next)
	case a.Status == http.StatusNotModified:
		r.answerPoll(ctx, h, p, a.Status, "")
	case a.Status == http.StatusOK:
		r.pend(ctx, h, p, a)
	default:
		if refusesValidators(a.Status) {
			r.forget(ctx, h, p)
		}
		r.answerPoll(ctx, h, p, a.Status, "the server answered "+strconv.Itoa(a.Status)+" "+http.StatusText(a.Status))
	}
	return next, nil
}

// request is how a source is asked. A catalogue does not go through memory.
func (r *Robot) request(ctx context.Context, p *polled) client.Request {
	q := client.Request{URL: p.url, ETag: p.etag, Modified: p.modified, Accept: acceptFeeds, Max: int64(r.Config.MaxFeed), Known: p.raw}
	if p.kind == courant.KindCatalog {
		q.Max = int64(r.Config.MaxCatalog)
		q.Keep = func(body io.Reader) (err error) {
			p.key, err = r.Blobs.PutStream(context.WithoutCancel(ctx), bodyKey(r.Store.Now(), fmt.Sprintf("%d-%d", p.source, p.asked)), body)
			return err
		}
	}
	return q
}

// askWhole asks once more without validators. The source is as it was before a
// hub delivered something: so the hub was late, or the source took it back.
func (r *Robot) askWhole(ctx context.Context, h *host, p polled, t task, next time.Time) (time.Time, *task) {
	r.forget(ctx, h, p)
	t.hops++
	t.url = p.url
	return next, &t
}

func statusOf(a *client.Answer) int {
	if a == nil {
		return 0
	}
	return a.Status
}

// redirect goes on with the task at the address that the answer names.
func (r *Robot) redirect(ctx context.Context, h *host, p polled, t task, a *client.Answer, next time.Time) (time.Time, *task) {
	if t.hops++; t.hops > maxHops {
		r.answerPoll(ctx, h, p, a.Status, "more than "+strconv.Itoa(maxHops)+" redirects")
		return next, nil
	}
	if !r.ours(a.Location) {
		r.answerPoll(ctx, h, p, a.Status, elsewhere)
		return next, nil
	}
	t.url = a.Location
	return next, &t
}

// outcome judges an answer for the host: when it may be asked next, and why the
// answer is none, if it is none.
func (r *Robot) outcome(ctx context.Context, h *host, a *client.Answer, err error, start time.Time) (next time.Time, why string) {
	r.Metrics.Add("courant_robot_requests_total", 1, "status", strconv.Itoa(statusOf(a)))
	ours := refused(err)
	bad := err != nil && !ours || a != nil && (a.Status >= 500 || a.Status == http.StatusTooManyRequests)
	if bad {
		retry := time.Duration(0)
		why = fmt.Sprint(err)
		if a != nil {
			retry = a.RetryAfter
			if err == nil {
				why = "the server answered " + strconv.Itoa(a.Status) + " " + http.StatusText(a.Status)
			}
		}
		next = time.Now().Add(h.failed(retry))
		r.block(ctx, h, next, why)
		return next, why
	}
	if err != nil {
		return start.Add(h.pace(r.gap())), err.Error()
	}
	h.answered(a.Latency)
	next = start.Add(h.pace(r.gap()))
	if wait := a.RetryAfter; wait > 0 {
		next = time.Now().Add(max(wait, h.pace(r.gap())))
	}
	if time.Until(next) > persistAbove {
		r.block(ctx, h, next, "the host asks for time between requests")
	}
	return next, ""
}

// block makes a wait survive a restart.
func (r *Robot) block(ctx context.Context, h *host, next time.Time, why string) {
	err := r.Store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		if ok, err := tx.Holds(r.lease(h.part).lease); err != nil || !ok {
			return err
		}
		_, err := tx.Exec(blockHost, h.origin, h.part, store.Millis(tx.Now().Add(time.Until(next))), h.failures, why)
		return err
	})
	if err != nil {
		r.Log.Warn("the host's wait is not kept", "host", h.origin, "error", err)
	}
}

// refusesValidators says whether an answer may be due to what the request said
// beside its address.
func refusesValidators(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusRequestHeaderFieldsTooLarge
}

// forget has a source asked without validators the next time, for the server may
// refuse them.
func (r *Robot) forget(ctx context.Context, h *host, p polled) {
	if p.etag == "" && p.modified == "" {
		return
	}
	r.writeFor(ctx, h, p.url, func(tx *store.Tx) error {
		_, err := tx.Exec(forgetValidators, p.source, p.etag, p.modified)
		return err
	})
}

// answerPoll notes an answer that brings nothing to read.
func (r *Robot) answerPoll(ctx context.Context, h *host, p polled, status int, problem string) {
	lease := r.lease(h.part).lease
	err := r.Store.WriteSoon(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		_, err := tx.Exec(answerPoll, p.source, p.asked, tx.Now().UnixMilli(), status, problem, lease.Name, lease.Owner, lease.Epoch)
		return err
	})
	if err != nil {
		r.Log.Warn("an answer was not kept", "url", p.url, "error", err)
	}
}

// pend keeps a download for parse, unless it is what parse has read already.
func (r *Robot) pend(ctx context.Context, h *host, p polled, a *client.Answer) {
	digest, same := p.body, a.Known
	switch {
	case same:
	case a.Digest != nil:
		digest = a.Digest
		same = bytes.Equal(digest, p.body)
	default:
		sum := sha256.Sum256(a.Body)
		digest = sum[:16]
		same = bytes.Equal(digest, p.body)
	}
	if same && a.ETag == p.etag && a.Modified == p.modified {
		r.answerPoll(ctx, h, p, a.Status, "")
		return
	}
	key := p.key // of the same bytes it goes with the sweep of bodies
	if same {
		key = ""
	}
	if !same && key == "" {
		var err error
		if key, err = r.keepBody(ctx, p.url, fmt.Sprintf("%d-%d", p.source, p.asked), a.Body); err != nil {
			return
		}
	}
	links := websubLinks(a.Header, p.url)
	r.writeFor(ctx, h, p.url, func(tx *store.Tx) error {
		n, err := tx.Exec(pendPoll, p.source, p.asked, tx.Now().UnixMilli(), a.Status, key, p.url, a.Type, a.ETag, a.Modified, digest, a.Raw,
			strings.Join(links.hubs, " "), links.self)
		if n == 1 {
			tx.Emit(flow.FeedFetched.Encode(flow.Poll{Source: p.source, Origin: h.origin, Part: h.part, AsOf: p.asked}))
		}
		return err
	})
}

// writeFor writes what an answer of the host brought, if the host is still ours.
func (r *Robot) writeFor(ctx context.Context, h *host, url string, f func(*store.Tx) error) {
	lease := r.lease(h.part).lease
	err := r.Store.WriteSoon(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		if ok, err := tx.Holds(lease); err != nil || !ok {
			return err
		}
		return f(tx)
	})
	if err != nil {
		r.Log.Warn("an answer was not kept", "url", url, "error", err)
	}
}

// keepBody keeps a download, which can be had again, until it is read and for a
// while after.
func (r *Robot) keepBody(ctx context.Context, url, name string, body []byte) (key string, err error) {
	key, err = r.Blobs.PutCached(context.WithoutCancel(ctx), bodyKey(r.Store.Now(), name), body)
	if err != nil {
		r.Store.NoteFull(err)
		r.Log.Warn("a download was not kept", "url", url, "error", err)
	}
	return key, err
}

// bodyKey is where a download lies: by the minute, so that old ones are found.
func bodyKey(now time.Time, name string) string {
	return "body/" + now.UTC().Format("20060102t1504") + "/" + name
}

package robot

import (
	"bytes"
	"cmp"
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
	"github.com/courant-platform/courant/internal/table"
)

const acceptFeeds = "application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.5"

// polled is a source that is being polled.
type polled struct {
	source         int64
	home           string // as registered
	url            string // the address of this request
	start          string // where the poll began
	etag, modified string
	readAsOf       int64  // as-of of the last parsed body
	body, raw      []byte // digests of the last parsed body, unpacked and as received
	pushed         bool   // the last body came from a hub: the validators are those of the last polled body
	asked          int64
	failures       int
	redirectURL    string // redirect target that another robot handed over
	redirectHops   int
	moved          string    // target of permanent redirects
	movedSince     time.Time // when they were first seen
	full, distrust time.Time // time of the last body; until when validators are not trusted
	kind           courant.SourceKind
	robots         bool   // robots.txt applies
	key            string // of a catalogue's body, which is stored as it arrives
	probe          bool   // the request leaves out validators that we have
	conditional    bool   // the request has validators
}

func (p *polled) scan(row store.Row) error {
	var since, full, distrust int64
	err := row.Scan(&p.url, &p.etag, &p.modified, &p.readAsOf, &p.body, &p.raw, &p.pushed, &p.asked, &p.failures, &p.redirectURL, &p.redirectHops,
		&p.moved, &since, &full, &distrust, &p.kind, &p.home, &p.robots)
	p.start = p.url
	p.movedSince, p.full, p.distrust = store.Time(since), store.Time(full), store.Time(distrust)
	return err
}

// poll polls a source. It stores the body as a pending download, whose validators
// are used only after parse has committed what it found.
func (r *Robot) poll(ctx context.Context, h *host, t task) (time.Time, *task) {
	now := time.Now()
	p := polled{source: t.id.source}
	if err := p.scan(r.Store.Row(ctx, readPoll, p.source)); err != nil { // the sweep finds it again
		r.unread(ctx, "poll", err, "source", p.source)
		return now, nil
	}
	if t.trail == nil {
		t.trail = r.setOut(&p)
	}
	if t.trail != nil {
		p.url, p.start = t.trail.url, t.trail.start(p.start, p.home)
	}
	if h.elsewhere(p.url) {
		return r.goOn(ctx, h, &p, t, now)
	}
	if why, _ := r.allowed(h, p.url); why != "" && p.robots {
		r.answerPoll(ctx, h, &p, nil, why)
		return now, nil
	}
	a, err := r.Client.Get(ctx, r.request(ctx, &p, t.trail))
	v := r.outcome(ctx, h, a, err, now)
	switch {
	case v.again && t.trail.short():
		return v.next, t.once(p.url)
	case v.why != "":
		r.answerPoll(ctx, h, &p, a, v.why)
	case a.Location != "":
		return r.redirect(ctx, h, &p, t, a, v.next)
	case a.Status == http.StatusNotModified && p.pushed && p.etag+p.modified != "" && t.trail.short():
		r.forget(ctx, h, p) // unchanged since before the hub's delivery: the hub was late, or its news was withdrawn
		return v.next, t.once(p.url)
	case a.Status == http.StatusNotModified && !p.conditional:
		r.answerPoll(ctx, h, &p, a, "the server answered 304 Not Modified to an unconditional request")
	case a.Status == http.StatusNotModified:
		r.moves(ctx, h, &p, t.trail)
		r.answerPoll(ctx, h, &p, a, "")
	case a.Complete():
		r.moves(ctx, h, &p, t.trail)
		r.pend(ctx, h, &p, a)
	default:
		if refusesValidators(a.Status) {
			r.forget(ctx, h, p)
		}
		r.answerPoll(ctx, h, &p, a, said(a))
	}
	return v.next, nil
}

// unread counts and logs why a row could not be read. A missing row is no error: it
// was answered meanwhile, or is not wanted any more.
func (r *Robot) unread(ctx context.Context, of string, err error, which ...any) {
	if store.NoRow(err) || ctx.Err() != nil {
		return
	}
	r.Metrics.Add("courant_robot_errors_total", 1, "of", of)
	r.Log.With(which...).Warn("row not read; the next sweep retries", "of", of, "error", err)
}

// said is the problem text of a status.
func said(a *client.Answer) string {
	return "the server answered " + strconv.Itoa(a.Status) + " " + http.StatusText(a.Status)
}

// catalogTime is the time limit of a catalogue that keeps arriving.
const catalogTime = 30 * time.Minute

// proofAfter is how long a server may answer 304 before it gets an unconditional
// request.
const (
	proofAfter  = 24 * time.Hour
	distrustFor = 7 * 24 * time.Hour // how long a server whose 304 was wrong gets no validators
)

// request is the request for a source. A catalogue goes to the blob store as it arrives.
func (r *Robot) request(ctx context.Context, p *polled, way *trail) client.Request {
	q := client.Request{URL: p.url, ETag: p.etag, Modified: p.modified, Accept: acceptFeeds, Max: int64(r.Config.MaxFeed), Known: p.raw, Jar: way.cookies()}
	now := r.Store.Now()
	if has := p.etag != "" || p.modified != ""; has && (now.Before(p.distrust) || !p.full.IsZero() && now.Sub(p.full) > proofAfter) {
		q.ETag, q.Modified, p.probe = "", "", true
	}
	p.conditional = q.ETag != "" || q.Modified != ""
	if p.kind == courant.KindCatalog {
		q.Max, q.Timeout = int64(r.Config.MaxCatalog), catalogTime
		q.Keep = func(body io.Reader) (err error) {
			p.key, err = r.Blobs.PutStream(context.WithoutCancel(ctx), table.BodyKey(r.Store.Now(), fmt.Sprintf("%d-%d", p.source, p.asked)), body)
			return err
		}
	}
	return q
}

func statusOf(a *client.Answer) int {
	if a == nil {
		return 0
	}
	return a.Status
}

// redirect continues the task at the target of a redirect.
func (r *Robot) redirect(ctx context.Context, h *host, p *polled, t task, a *client.Answer, next time.Time) (time.Time, *task) {
	way, why := t.trail.on(p.url, a)
	if why != "" {
		r.answerPoll(ctx, h, p, a, why)
		return next, nil
	}
	t.trail = way
	return r.goOn(ctx, h, p, t, next)
}

// goOn continues the task at the end of its redirect chain: in this robot's queue, or
// through the row, from which the robot of the target's host takes it.
func (r *Robot) goOn(ctx context.Context, h *host, p *polled, t task, next time.Time) (time.Time, *task) {
	way := t.trail
	if way == nil {
		return next, nil // the source's address has changed; the sweep finds it there
	}
	if r.ours(way.url) {
		return next, &t
	}
	r.writeFor(ctx, h, p.url, func(tx *store.Tx) error {
		n, err := tx.Exec(leadPoll, p.source, p.asked, way.url, way.hops)
		if err != nil || n == 0 {
			return err
		}
		tx.Emit(flow.SourceDue.Encode(flow.Poll{Source: p.source, Origin: origin(way.url), Partition: partOf(way.url), AsOf: p.asked}))
		if at := way.movedFrom(p.home); at != "" {
			return r.movedTo(tx, p, at)
		}
		return nil
	})
	return next, nil
}

// refusesValidators reports whether the headers of the request may be the cause of a
// status.
func refusesValidators(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusRequestHeaderFieldsTooLarge
}

// forget makes the next poll of a source unconditional, since the server may refuse
// its validators.
func (r *Robot) forget(ctx context.Context, h *host, p polled) {
	if p.etag == "" && p.modified == "" {
		return
	}
	r.writeFor(ctx, h, p.url, func(tx *store.Tx) error {
		_, err := tx.Exec(refuseValidators, p.source, p.readAsOf)
		return err
	})
}

// answerPoll stores a response without a new body, or why there is none.
func (r *Robot) answerPoll(ctx context.Context, h *host, p *polled, a *client.Answer, problem string) {
	lease := r.lease(h.part).lease
	status, etag, modified, fresh := statusOf(a), p.etag, p.modified, int64(0)
	if a != nil {
		fresh = a.Fresh.Milliseconds()
	}
	if status == http.StatusNotModified && problem == "" {
		etag, modified = cmp.Or(a.ETag, etag), cmp.Or(a.Modified, modified)
	}
	back := problem != "" && p.strayed(status)
	err := r.Store.WriteSoon(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		now := tx.Now().UnixMilli()
		gone := int64(0)
		if status == http.StatusGone && !back {
			gone = now
		}
		n, err := tx.Exec(answerPoll, p.source, p.asked, now, status, problem, lease.Name, lease.Owner, lease.Epoch, fresh, gone)
		if err != nil || n == 0 {
			return err
		}
		if etag != p.etag || modified != p.modified {
			_, err = tx.Exec(confirmValidators, p.source, p.asked, etag, modified)
		}
		if err != nil || !back {
			return err
		}
		return askHome(tx, p)
	})
	if err != nil {
		r.Log.Warn("response not stored", "url", p.url, "error", err)
		return
	}
	r.tell(p, status, problem)
}

// tell logs that a source begins to fail, works again, or is gone.
func (r *Robot) tell(p *polled, status int, problem string) {
	log := r.Log.With("source", p.source, "url", p.home)
	switch {
	case status == http.StatusGone:
		log.Warn("source is gone; it is not polled any more")
	case problem != "" && p.failures == 0:
		log.Warn("source begins to fail", "status", status, "problem", problem)
	case problem == "" && p.failures > 0:
		log.Info("source works again", "failures", p.failures)
	}
}

// pend stores a pending download for parse, unless parse has read the same bytes.
func (r *Robot) pend(ctx context.Context, h *host, p *polled, a *client.Answer) {
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
		r.answerPoll(ctx, h, p, a, "")
		return
	}
	key := p.key // a catalogue's body of the same bytes is deleted by clean
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
		n, err := tx.Exec(bringBody, p.source, p.asked, tx.Now().UnixMilli(), a.Status, a.Fresh.Milliseconds())
		if err != nil || n == 0 {
			return err
		}
		tx.Emit(flow.FeedFetched.Encode(flow.Poll{Source: p.source, Origin: h.origin, Partition: h.part, AsOf: p.asked}))
		err = table.HandOver(tx, table.Download{Source: p.source, Kind: string(p.kind), AsOf: p.asked, URL: p.url, Type: a.Type, ETag: a.ETag,
			Modified: a.Modified, Blob: key, Body: digest, Raw: a.Raw, Hubs: strings.Join(links.hubs, " "), Self: links.self})
		if err == nil && p.probe && !same && !p.pushed && p.distrust.IsZero() {
			// It answered 304 for a day although the body had changed.
			_, err = tx.Exec(noteDistrust, p.source, store.Millis(tx.Now().Add(distrustFor)))
		}
		return err
	})
	r.tell(p, a.Status, "")
}

// writeFor runs f in a transaction, if the host is still ours.
func (r *Robot) writeFor(ctx context.Context, h *host, url string, f func(*store.Tx) error) {
	lease := r.lease(h.part).lease
	err := r.Store.WriteSoon(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		if ok, err := tx.Holds(lease); err != nil || !ok {
			return err
		}
		return f(tx)
	})
	if err != nil {
		r.Log.Warn("response not stored", "url", url, "error", err)
	}
}

// keepBody stores a download until it is read and for a while after. Its loss does no
// harm: it can be fetched again.
func (r *Robot) keepBody(ctx context.Context, url, name string, body []byte) (key string, err error) {
	key, err = r.Blobs.PutCached(context.WithoutCancel(ctx), table.BodyKey(r.Store.Now(), name), body)
	if err != nil {
		r.Store.NoteFull(err)
		r.Log.Warn("download not stored", "url", url, "error", err)
	}
	return key, err
}

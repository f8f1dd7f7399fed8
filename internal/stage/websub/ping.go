package websub

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// Results of a ping, which is a hub's delivery; label values of its metric.
const (
	pingRead    = "read"    // its body was handed to parse
	pingSame    = "same"    // its body has been read before
	pingAsked   = "asked"   // it leads to a poll of the source
	pingForged  = "forged"  // its signature is wrong; it has no effect
	pingUnknown = "unknown" // there is no such subscription
)

// Bounds of the load that one hub can cause: the minimum time between two bodies of
// a source, and the time in which a body must arrive.
const (
	pingGap = time.Second
	slowest = 20 * time.Second
)

// ping handles a content distribution (W3C WebSub section 7). A forged one gets the
// same response as any other, as section 7.1.2 allows, so that the hub does not retry.
func (w *WebSub) ping(out http.ResponseWriter, r *http.Request) {
	s, err := w.find(r.Context(), r.PathValue("id"))
	if store.NoRow(err) || err == nil && s.state == leaving {
		w.count(pingUnknown)
		web.FailWith(out, http.StatusGone, "no such subscription") // the hub then ends the subscription: section 7
		return
	}
	if err == nil {
		err = w.Store.Room(r.Context())
	}
	var result string
	if err == nil {
		result, err = w.take(out, r, s)
	}
	if err != nil {
		w.Log.Warn("hub delivery not stored", "source", s.source, "error", err)
		web.FailWith(out, http.StatusServiceUnavailable, "try again later")
		return
	}
	w.count(result)
	out.WriteHeader(http.StatusAccepted)
}

func (w *WebSub) count(result string) {
	w.Metrics.Add("courant_websub_pings_total", 1, "result", result)
}

// take reads a ping and hands it to parse, or has the source polled.
func (w *WebSub) take(out http.ResponseWriter, r *http.Request, s subscription) (result string, err error) {
	ctx := context.WithoutCancel(r.Context()) // a received body is stored even if the hub has gone
	if _, busy := w.taking.LoadOrStore(s.id, true); busy {
		return pingAsked, w.owe(ctx, s)
	}
	defer w.taking.Delete(s.id)
	if !w.receive(s.hub) {
		return pingAsked, w.owe(ctx, s)
	}
	defer w.received(s.hub)
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-r.Context().Done():
		return "", r.Context().Err()
	}
	if err := http.NewResponseController(out).SetReadDeadline(time.Now().Add(slowest)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return "", err
	}
	body, err := io.ReadAll(http.MaxBytesReader(out, r.Body, w.MaxFeed))
	var large *http.MaxBytesError
	if err != nil && !errors.As(err, &large) {
		return "", err
	}
	signed := r.Header.Get("X-Hub-Signature")
	switch {
	case large != nil, signed == "", r.Header.Get("Content-Encoding") != "":
		return pingAsked, w.owe(ctx, s)
	case !parseSignature(signed).of(body, s.secrets(w.Store.Now())):
		return pingForged, nil
	}
	return w.deliver(ctx, s, body, r.Header.Get("Content-Type"))
}

// receive reports whether a hub may send one more body: half of the bodies at most are of
// one hub, so that a slow one holds up no other.
func (w *WebSub) receive(hub string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	host := link.Host(hub)
	if w.bodies[host] >= mostBodies/2 {
		return false
	}
	w.bodies[host]++
	return true
}

func (w *WebSub) received(hub string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	host := link.Host(hub)
	if w.bodies[host]--; w.bodies[host] == 0 {
		delete(w.bodies, host)
	}
}

// polled is a source as a ping finds it.
type polled struct {
	poll         flow.Poll // AsOf is that of the last poll or delivery
	outstanding  bool
	read, unread []byte // digests of the last parsed body and of the pending one
	// Of the last parsed body: address, validators, hubs and topic.
	url, etag, modified, hubs, self string
}

func (w *WebSub) polled(ctx context.Context, source int64) (p polled, err error) {
	p.poll.Source = source
	err = w.Store.Row(ctx, readPoll, source).Scan(&p.poll.Origin, &p.poll.Partition, &p.poll.AsOf, &p.outstanding, &p.read, &p.unread,
		&p.url, &p.etag, &p.modified, &p.hubs, &p.self)
	return p, err
}

// deliver hands the body to parse as if the source had been polled. A body that is
// the same as before is only noted. If it comes too soon after another, or if a poll
// of the source is outstanding, whose body may be newer or older, the source is
// polled once more instead.
func (w *WebSub) deliver(ctx context.Context, s subscription, body []byte, kind string) (result string, err error) {
	p, err := w.polled(ctx, s.source)
	if store.NoRow(err) {
		return pingUnknown, nil // the source was removed
	}
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(body)
	digest := sum[:16]
	if bytes.Equal(digest, p.read) && p.unread == nil || bytes.Equal(digest, p.unread) {
		return pingSame, w.Store.Write(ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(notePing, s.id, tx.Now().UnixMilli())
			return err
		})
	}
	known, err := w.deliveries(ctx, s)
	if err != nil {
		return "", err
	}
	if known.has(digest) { // an older version, or a replay: the source has the truth
		return pingAsked, w.owe(ctx, s)
	}
	if p.outstanding || w.Store.Now().UnixMilli()-p.poll.AsOf < pingGap.Milliseconds() {
		return pingAsked, w.owe(ctx, s)
	}
	kept, err := w.pend(ctx, s, p, body, known.with(digest), kind)
	if err != nil || kept {
		return pingRead, err
	}
	return pingAsked, w.owe(ctx, s) // a poll was planned meanwhile
}

// pend stores the body as a pending download, as robot does.
func (w *WebSub) pend(ctx context.Context, s subscription, p polled, body []byte, all deliveries, kind string) (kept bool, err error) {
	now, digest := w.Store.Now(), sha256.Sum256(body)
	poll, last := p.poll, p.poll.AsOf
	poll.AsOf = max(now.UnixMilli(), last+1)
	key, err := w.Blobs.PutCached(ctx, table.BodyKey(now, fmt.Sprintf("%d-%d", s.source, poll.AsOf)), body)
	if err != nil {
		w.Store.NoteFull(err)
		return false, err
	}
	err = w.Store.WriteSoon(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(takeAsOf, s.source, last, poll.AsOf)
		kept = n == 1
		if err != nil || !kept {
			return err
		}
		tx.Emit(flow.FeedFetched.Encode(poll))
		err = table.HandOver(tx, table.Download{Source: s.source, Kind: "feed", AsOf: poll.AsOf, URL: p.url, Type: kind[:min(len(kind), mostChallenge)],
			ETag: p.etag, Modified: p.modified, Blob: key, Body: digest[:16], Pushed: true, Hubs: p.hubs, Self: p.self})
		if err != nil {
			return err
		}
		_, err = tx.Exec(noteBody, s.id, tx.Now().UnixMilli(), []byte(all))
		return err
	})
	return kept, err
}

// deliveries are the digests of the bodies of a subscription that were read, deliverySize
// bytes each, the newest last.
type deliveries []byte

const (
	deliverySize   = 8
	mostDeliveries = 256
)

func (w *WebSub) deliveries(ctx context.Context, s subscription) (d deliveries, err error) {
	return d, w.Store.Row(ctx, delivered, s.id).Scan((*[]byte)(&d))
}

func (d deliveries) has(digest []byte) bool {
	for known := range slices.Chunk(d, deliverySize) {
		if bytes.Equal(known, digest[:deliverySize]) {
			return true
		}
	}
	return false
}

func (d deliveries) with(digest []byte) deliveries {
	d = append(slices.Clone(d), digest[:deliverySize]...)
	return d[max(len(d)-mostDeliveries*deliverySize, 0):]
}

// owe notes that the source must be polled for what a ping announced.
func (w *WebSub) owe(ctx context.Context, s subscription) error {
	return w.Store.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(noteOwed, s.id, tx.Now().UnixMilli()); err != nil {
			return err
		}
		return w.bring(tx)
	})
}

// settle brings forward the next poll of sources that owe one for a ping, but not
// below the minimum interval after the last poll. The debt ends once the source has
// been polled after the ping: a poll that is outstanding now may be older.
func (w *WebSub) settle(ctx context.Context) error {
	return w.Store.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(settleOwed); err != nil {
			return err
		}
		return w.bring(tx)
	})
}

func (w *WebSub) bring(tx *store.Tx) error {
	_, err := tx.Exec(bringOwed, tx.Now().UnixMilli(), w.MinInterval.Milliseconds())
	return err
}

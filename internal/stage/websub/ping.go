package websub

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

// What became of a ping; the label of its metric.
const (
	pingRead    = "read"    // its body is what the source says now
	pingSame    = "same"    // its body has been read already
	pingAsked   = "asked"   // the source is asked for its news
	pingForged  = "forged"  // its signature is wrong: it changes nothing
	pingUnknown = "unknown" // nobody has asked for it
)

// Bounds of what one hub can take of us: a source's bodies are read so far apart,
// and one at a time, each within the time that it takes to arrive.
const (
	pingGap = time.Second
	slowest = 20 * time.Second
)

// ping takes a content distribution (W3C WebSub section 7). A forged one is
// answered like any other, as section 7.1.2 allows: the hub need not send it again.
func (w *WebSub) ping(out http.ResponseWriter, r *http.Request) {
	s, err := w.find(r.Context(), r.PathValue("id"))
	if store.NoRow(err) || err == nil && s.state == leaving {
		w.count(pingUnknown)
		web.FailWith(out, http.StatusGone, "no such subscription") // the hub then ends it: section 7
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

// take reads a ping and does what it is good for.
func (w *WebSub) take(out http.ResponseWriter, r *http.Request, s subscription) (result string, err error) {
	ctx := context.WithoutCancel(r.Context()) // what was taken in is kept, though the hub has gone
	if _, busy := w.taking.LoadOrStore(s.id, true); busy {
		return pingAsked, w.owe(ctx, s)
	}
	defer w.taking.Delete(s.id)
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

// polled is a source as a ping finds it.
type polled struct {
	poll         flow.Poll // AsOf is that of the last ask or delivery
	outstanding  bool
	read, unread []byte // digests of what was read last and of what waits to be
	// What was read last: address, validators, and what it says of hubs.
	url, etag, modified, hubs, self string
}

func (w *WebSub) polled(ctx context.Context, source int64) (p polled, err error) {
	p.poll.Source = source
	err = w.Store.Read(ctx, func(r store.Reader) error {
		return r.Row(readPoll, source).Scan(&p.poll.Origin, &p.poll.Partition, &p.poll.AsOf, &p.outstanding, &p.read, &p.unread,
			&p.url, &p.etag, &p.modified, &p.hubs, &p.self)
	})
	return p, err
}

// deliver has parse read the body as if the source had been asked for it, unless
// it is the same as before, or it comes too soon after another, or an answer of
// the source is outstanding: that may be newer or older. Then the source is asked
// once more.
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
	if p.outstanding || w.Store.Now().UnixMilli()-p.poll.AsOf < pingGap.Milliseconds() {
		return pingAsked, w.owe(ctx, s)
	}
	kept, err := w.pend(ctx, s, p, body, digest, kind)
	if err != nil || kept {
		return pingRead, err
	}
	return pingAsked, w.owe(ctx, s) // schedule was faster
}

// pend leaves the body for parse as robot leaves a download.
func (w *WebSub) pend(ctx context.Context, s subscription, p polled, body, digest []byte, kind string) (kept bool, err error) {
	now := w.Store.Now()
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
			ETag: p.etag, Modified: p.modified, Blob: key, Body: digest, Pushed: true, Hubs: p.hubs, Self: p.self})
		if err != nil {
			return err
		}
		_, err = tx.Exec(notePing, s.id, tx.Now().UnixMilli())
		return err
	})
	return kept, err
}

// owe notes that the source is to be asked for what a ping announced.
func (w *WebSub) owe(ctx context.Context, s subscription) error {
	return w.Store.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(noteOwed, s.id, tx.Now().UnixMilli()); err != nil {
			return err
		}
		return w.bring(tx)
	})
}

// settle brings the next poll forward of sources of which a ping told news, to
// no earlier than the least interval after the last one. A ping is owed until
// the source has been asked since: what is outstanding now may be older.
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

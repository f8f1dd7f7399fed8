package websub

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/store"
)

// path is the prefix of callbacks.
const path = "/websub/"

// Bounds of a hub's verification.
const (
	mostChallenge = 1 << 10 // bytes
	deniedRests   = 24 * time.Hour
)

const notOurs = "no matching subscription"

// Register adds the callback to the mux.
func (w *WebSub) Register(mux *http.ServeMux) {
	w.prepare()
	mux.HandleFunc("GET "+path+"{id}", w.intent)
	mux.HandleFunc("POST "+path+"{id}", w.ping)
}

// intent handles a hub's verification of intent, or its denial (W3C WebSub sections
// 5.2 and 5.3). It answers 404 to what we have not requested.
func (w *WebSub) intent(out http.ResponseWriter, r *http.Request) {
	q, err := web.Query(r)
	if err != nil {
		web.Fail(out, r, w.Log, err)
		return
	}
	challenge := q.Get("hub.challenge")
	if len(challenge) > mostChallenge {
		web.FailWith(out, http.StatusBadRequest, fmt.Sprintf("hub.challenge must be at most %d bytes", mostChallenge))
		return
	}
	known := false
	if _, err = w.find(r.Context(), r.PathValue("id")); store.NoRow(err) {
		web.FailWith(out, http.StatusNotFound, notOurs)
		return
	}
	err = w.Store.Write(r.Context(), func(tx *store.Tx) (err error) {
		known, err = w.intended(tx, r.PathValue("id"), q)
		return err
	})
	switch {
	case err != nil:
		web.Fail(out, r, w.Log, err)
	case !known:
		web.FailWith(out, http.StatusNotFound, notOurs)
	default:
		out.Header().Set("Content-Type", "text/plain; charset=utf-8")
		out.Header().Set("X-Content-Type-Options", "nosniff")
		io.WriteString(out, challenge) // fails only if the hub has gone
	}
}

// intended stores what the hub says, if it is about the request that was sent.
func (w *WebSub) intended(tx *store.Tx, id string, q url.Values) (known bool, err error) {
	var s subscription
	if err := s.scan(tx.Row(lockRow, id)); err != nil {
		if store.NoRow(err) {
			err = nil
		}
		return false, err
	}
	if q.Get("hub.topic") != s.topic || s.asked.IsZero() {
		return false, nil
	}
	now := tx.Now()
	switch mode := q.Get("hub.mode"); {
	case mode == "subscribe" && s.state != leaving && q.Get("hub.challenge") != "":
		lease := w.leaseOf(q.Get("hub.lease_seconds"))
		_, err = tx.Exec(noteVerify, id, now.UnixMilli(), store.Millis(now.Add(lease)), store.Millis(now.Add(renewal(lease))))
	case mode == "unsubscribe" && s.state == leaving && q.Get("hub.challenge") != "":
		_, err = tx.Exec(dropRow, id)
	case mode == "denied" && s.state == leaving:
		_, err = tx.Exec(dropRow, id)
	case mode == "denied":
		_, err = tx.Exec(noteDenied, id, store.Millis(now.Add(jitter(deniedRests, deniedRests/4))), "the hub denied the subscription: "+clean(q.Get("hub.reason")))
	default:
		return false, nil
	}
	return err == nil, err
}

// leaseOf is the lease that a hub grants, in seconds, within bounds; if it names
// none, as hubs before PubSubHubbub 0.4 do, the lease that was requested.
func (w *WebSub) leaseOf(seconds string) time.Duration {
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return w.lease()
	}
	return time.Duration(min(max(n, int64(leastLease/time.Second)), int64(mostLease/time.Second))) * time.Second
}

// find reads a subscription by its callback.
func (w *WebSub) find(ctx context.Context, id string) (s subscription, err error) {
	err = s.scan(w.Store.Row(ctx, byID, id))
	return s, err
}

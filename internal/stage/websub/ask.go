package websub

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/port/store"
)

// Bounds of requests to hubs and of their frequency.
const (
	leastLease   = time.Hour
	mostLease    = 30 * 24 * time.Hour
	firstBackOff = time.Minute
	mostBackOff  = 6 * time.Hour
	leaveTries   = 5           // requests to end a subscription
	hubRests     = time.Minute // back-off after no response
	noAddress    = time.Hour   // until it is checked again whether there is a callback address
	mostHops     = 3           // redirects
	inFlight     = time.Hour   // how long the previous secret is valid after the hub has verified a new one
	mostProblem  = 300         // bytes of a hub's error text
)

// backOff is the time after the nth request until the next one if the hub does not
// verify: doubled each time, ± 25 %.
func backOff(attempts int) time.Duration {
	d := min(firstBackOff<<min(max(attempts-1, 0), 16), mostBackOff)
	return jitter(d, d/2)
}

// jitter is d ± spread/2 at random.
func jitter(d, spread time.Duration) time.Duration {
	return d - spread/2 + mathrand.N(spread+1)
}

// renewal is when a lease is renewed: after 85 to 90 % of it, so that subscriptions
// that began together are not renewed together.
func renewal(lease time.Duration) time.Duration { return lease*85/100 + mathrand.N(lease*5/100+1) }

// startDue starts the requests to the hubs that have due subscriptions.
func (w *WebSub) startDue(ctx context.Context, running *sync.WaitGroup) error {
	var hubs []string
	err := w.Store.Rows(ctx, func(rows store.Rows) error {
		var hub string
		err := rows.Scan(&hub)
		hubs = append(hubs, hub)
		return err
	}, dueHubs, w.Store.Now().UnixMilli())
	for _, hub := range hubs {
		host := link.Origin(hub)
		if !w.enter(host) {
			continue
		}
		running.Go(func() {
			w.leave(host, w.hub(ctx, hub))
			w.notify() // the host may have other hubs
		})
	}
	return err
}

// enter reports whether the caller may send requests to the host.
func (w *WebSub) enter(host string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy[host] || time.Now().Before(w.rest[host]) {
		return false
	}
	delete(w.rest, host)
	w.busy[host] = true
	return true
}

func (w *WebSub) leave(host string, rest time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.busy, host)
	if rest > 0 {
		w.rest[host] = time.Now().Add(rest)
	}
}

// waits is the rest of the robot's back-off from the host of an address.
func (w *WebSub) waits(ctx context.Context, address string) (d time.Duration, err error) {
	var until int64
	err = w.Store.Row(ctx, waitsUntil, link.Origin(address), "*."+link.Domain(link.Host(address))).Scan(&until)
	return max(store.Time(until).Sub(w.Store.Now()), 0), err
}

// hub sends one hub the due requests, one after the other, and returns how long to
// back off from it.
func (w *WebSub) hub(ctx context.Context, hub string) (rest time.Duration) {
	for ctx.Err() == nil {
		if wait, err := w.waits(ctx, hub); wait > 0 || err != nil {
			w.note(ctx, "hub request not sent; retrying", err)
			return min(max(wait, long), firstBackOff) // the back-off may end sooner
		}
		s, mode, err := w.claim(ctx, hub)
		if store.NoRow(err) {
			return 0
		}
		if err != nil {
			w.note(ctx, "hub request not sent; retrying", err)
			return long
		}
		if mode == "" {
			continue
		}
		if rest := w.ask(ctx, s, mode); rest > 0 {
			return rest
		}
		select {
		case <-ctx.Done():
		case <-time.After(w.Config.Gap.Or(100 * time.Millisecond)):
		}
	}
	return 0
}

// claim takes the next due subscription of a hub and plans its next request; mode is
// "" if none is to be sent now. The row is written before the request is sent, since
// the hub may verify before it responds.
func (w *WebSub) claim(ctx context.Context, hub string) (s subscription, mode string, err error) {
	err = w.Store.Write(ctx, func(tx *store.Tx) error {
		s = subscription{}
		now := tx.Now()
		if err := s.scan(tx.Row(dueRow, hub, now.UnixMilli())); err != nil {
			return err
		}
		var why string
		mode, why = w.plan(&s, now)
		switch {
		case why != "":
			_, err := tx.Exec(notAsked, s.id, why, store.Millis(now.Add(noAddress)))
			return err
		case mode == "":
			_, err := tx.Exec(dropRow, s.id)
			return err
		}
		_, err := tx.Exec(noteAsk, s.id, s.hub, s.callback, s.secret, s.previous, s.state, store.Millis(s.asked), s.attempts,
			store.Millis(now.Add(backOff(s.attempts))))
		return err
	})
	return s, mode, err
}

// plan decides which request a due subscription sends. An empty mode without a
// reason means that the row is to be deleted.
func (w *WebSub) plan(s *subscription, now time.Time) (mode, why string) {
	if s.state == leaving {
		if s.attempts >= leaveTries || s.callback == "" {
			return "", ""
		}
		s.attempts++
		s.asked = now
		return "unsubscribe", ""
	}
	live := s.state == active && s.until.After(now)
	if !live && s.attempts > 0 && len(s.hubs) > 0 { // try the feed's other hubs
		s.hub = s.hubs[s.attempts%len(s.hubs)]
	}
	base := w.Public
	if base == "" && w.Near(s.hub) {
		base = w.Local
	}
	if base == "" {
		return "", "http.public_url is not set, so the hub cannot call back"
	}
	if !s.asked.IsZero() && !s.verified.Before(s.asked) { // a renewal gets a new secret
		s.previous, s.secret = s.secret, rand.Text()
	}
	s.callback = strings.TrimSuffix(base, "/") + path + s.id
	if !live {
		s.state = pending
	}
	s.attempts++
	s.asked = now
	return "subscribe", ""
}

// ask sends the request and returns how long to back off from the hub.
func (w *WebSub) ask(ctx context.Context, s subscription, mode string) (rest time.Duration) {
	ctx = context.WithoutCancel(ctx) // the client has its own timeout
	reply, err := w.post(ctx, s, mode)
	if err == nil && reply.Status/100 == 2 {
		return 0
	}
	problem := fmt.Sprint(err)
	if err == nil {
		problem = fmt.Sprintf("the hub answered %d %s: %s", reply.Status, http.StatusText(reply.Status), reply.Text)
		problem = strings.TrimSuffix(problem, ": ")
	}
	if err != nil || reply.Status >= 500 || reply.Status == http.StatusTooManyRequests {
		rest = max(hubRests, reply.RetryAfter)
	}
	w.note(ctx, "hub response not stored", w.Store.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(noteProblem, s.id, store.Millis(s.asked), clean(problem), store.Millis(tx.Now().Add(reply.RetryAfter)))
		return err
	}))
	return rest
}

// post sends the form, and follows redirects that keep the method (W3C WebSub
// section 5.1.1).
func (w *WebSub) post(ctx context.Context, s subscription, mode string) (reply Reply, err error) {
	address, form := s.hub, w.form(s, mode)
	for range mostHops + 1 {
		reply, err = w.Post(ctx, address, form)
		moved := reply.Status == http.StatusTemporaryRedirect || reply.Status == http.StatusPermanentRedirect
		if err != nil || !moved || reply.Location == "" {
			return reply, err
		}
		address = reply.Location
		if wait, err := w.waits(ctx, address); wait > 0 || err != nil {
			return Reply{}, cmp.Or(err, errors.New("the hub redirects to a host that is in back-off"))
		}
	}
	return reply, fmt.Errorf("the hub redirects more than %d times", mostHops)
}

// form is a request by W3C WebSub section 5.1. Hubs of PubSubHubbub 0.3 require
// hub.verify, and some a token; others ignore both.
func (w *WebSub) form(s subscription, mode string) url.Values {
	f := url.Values{"hub.mode": {mode}, "hub.topic": {s.topic}, "hub.callback": {s.callback}, "hub.verify": {"async"}, "hub.verify_token": {s.id}}
	if mode == "subscribe" {
		f.Set("hub.lease_seconds", strconv.Itoa(int(w.lease().Seconds())))
		f.Set("hub.secret", s.secret)
	}
	return f
}

// lease is the lease to request.
func (w *WebSub) lease() time.Duration {
	return min(max(w.Config.Lease.Or(10*24*time.Hour), leastLease), mostLease)
}

// clean shortens a hub's text to one line to store.
func clean(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")), " ")
	return cmp.Or(strings.ToValidUTF8(text[:min(len(text), mostProblem)], ""), "no reason given")
}

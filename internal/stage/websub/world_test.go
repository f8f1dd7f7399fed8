package websub_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/blob/memory"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/bus/membus"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/stage/websub"
)

const (
	hub   = "http://hub.example/"
	topic = "http://a.example/feed"
)

// world is the stage over a store, and a scripted hub. There are no
// notifications: the stage finds its work by its sweep.
type world struct {
	t      *testing.T
	store  *store.Store
	blobs  blob.Bucket
	websub *websub.WebSub
	mux    *http.ServeMux
	stop   func()

	// mu guards asked and answer, and is held while answer runs.
	mu     sync.Mutex
	asked  []request
	answer func(request) (websub.Reply, error) // 202 unless set
}

// request is a request to a hub.
type request struct {
	at   time.Time
	hub  string
	form url.Values
}

func newWorld(t *testing.T, s *store.Store) *world {
	w := &world{t: t, store: s, blobs: blob.Bucket{Driver: &memory.Memory{}}, mux: http.NewServeMux()}
	w.websub = &websub.WebSub{Store: s, Blobs: w.blobs, Config: websub.Defaults(), Public: "https://we.example/", Local: "http://127.0.0.1:8080",
		MaxFeed: 1000, MinInterval: time.Minute, Post: w.post, Near: func(a string) bool { return strings.Contains(a, "127.0.0.1") },
		Log: slog.New(slog.DiscardHandler)}
	w.websub.Register(w.mux)
	return w
}

// in runs a test in fake time; the stage begins to work at the first wait.
func in(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, storetest.Memory(t))
		defer func() {
			if w.stop != nil {
				w.stop()
			}
		}()
		test(t, w)
	})
}

func (w *world) run() {
	ctx, cancel := context.WithCancel(w.t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.websub.Run(ctx) })
	b := &bus.Bus{Driver: &membus.Driver{}}
	running.Go(func() { b.Run(ctx, w.websub.Handlers()...) })
	w.stop = func() {
		cancel()
		running.Wait()
	}
}

func (w *world) wait(d time.Duration) {
	if w.stop == nil {
		w.run()
	}
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) post(_ context.Context, address string, form url.Values) (websub.Reply, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := request{time.Now(), address, form}
	w.asked = append(w.asked, r)
	if w.answer == nil {
		return websub.Reply{Status: http.StatusAccepted}, nil
	}
	return w.answer(r)
}

// script sets the answer of hubs.
func (w *world) script(answer func(request) (websub.Reply, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

// requests returns the requests to hubs so far.
func (w *world) requests() []request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]request(nil), w.asked...)
}

// last returns the newest request to a hub.
func (w *world) last() request {
	w.t.Helper()
	all := w.requests()
	if len(all) == 0 {
		w.t.Fatal("no hub was asked")
	}
	return all[len(all)-1]
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	if err := w.store.Write(w.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) row(dest []any, query string, args ...any) {
	w.t.Helper()
	if err := w.store.Read(w.t.Context(), func(r store.Reader) error { return r.Row(query, args...).Scan(dest...) }); err != nil {
		w.t.Fatal(err)
	}
}

// source registers a feed that has been parsed once and names hubs.
func (w *world) source(id int64, address, hubs, self string) {
	w.t.Helper()
	now := w.store.Now().UnixMilli()
	w.exec(`INSERT INTO sources (id, name, kind, url, host, title, trusted, added) VALUES ($1, $2, 'feed', $3, $4, '', FALSE, 1)`,
		id, fmt.Sprint("source-", id), address, link.Host(address))
	w.exec(`INSERT INTO polls (source, due) VALUES ($1, $2)`, id, now+3_600_000)
	w.exec(`INSERT INTO answers (source, url, origin, partition, as_of, asked, answered, checked) VALUES ($1, $2, $3, 7, $4, $4, $4, $4)`,
		id, address, link.Origin(address), now)
	w.exec(`INSERT INTO readings (source, as_of, etag, modified, hubs, self) VALUES ($1, $2, '"e"', 'm', $3, $4)`, id, now, hubs, self)
}

// subscription is a row of websub.
type subscription struct {
	state, problem         string
	asked, verified, until time.Time
	pinged, owed           bool
}

func (w *world) subscription(source int64) (s subscription) {
	w.t.Helper()
	var asked, verified, until int64
	w.row([]any{&s.state, &s.problem, &asked, &verified, &until, &s.pinged, &s.owed},
		`SELECT state, problem, asked, verified, until, pinged > 0, owed > 0 FROM websub WHERE source = $1`, source)
	s.asked, s.verified, s.until = store.Time(asked), store.Time(verified), store.Time(until)
	return s
}

func (w *world) count(query string) (n int) {
	w.t.Helper()
	w.row([]any{&n}, query)
	return n
}

// callback is the path of the callback in a request to a hub.
func (r request) callback() string {
	u, err := url.Parse(r.form.Get("hub.callback"))
	if err != nil {
		return ""
	}
	return u.Path
}

// call sends a request to a callback.
func (w *world) call(r *http.Request) *httptest.ResponseRecorder {
	out := httptest.NewRecorder()
	w.mux.ServeHTTP(out, r)
	return out
}

// verify calls a callback as a hub does; params alternate names and values.
func (w *world) verify(callback string, params ...string) *httptest.ResponseRecorder {
	q := url.Values{}
	for i := 0; i < len(params); i += 2 {
		q.Set("hub."+params[i], params[i+1])
	}
	return w.call(httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, callback+"?"+q.Encode(), nil))
}

// subscribe verifies the newest request, with a lease of six hours.
func (w *world) subscribe() request {
	w.t.Helper()
	r := w.last()
	got := w.verify(r.callback(), "mode", "subscribe", "topic", r.form.Get("hub.topic"), "challenge", "c1", "lease_seconds", "21600")
	if got.Code != http.StatusOK || got.Body.String() != "c1" {
		w.t.Fatalf("the challenge was answered %d %q", got.Code, got.Body)
	}
	return r
}

// ping delivers a body.
func (w *world) ping(callback, body, signature string) int {
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, callback, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/atom+xml")
	if signature != "" {
		r.Header.Set("X-Hub-Signature", signature)
	}
	return w.call(r).Code
}

// signed is the signature of a body by the secret of a request.
func (r request) signed(body string) string {
	mac := hmac.New(sha256.New, []byte(r.form.Get("hub.secret")))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

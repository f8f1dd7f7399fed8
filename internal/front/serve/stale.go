package serve

import (
	"bytes"
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/table"
)

const (
	readerPatience = 2 * time.Second // for the store, if there is an older page to show
	trustAway      = time.Second     // how long a store that did not answer is not asked again
)

// shownPage is a page as it was last served.
type shownPage struct {
	key   string // what was asked for
	html  []byte // compressed with gzip, unless it is plain
	plain bool
	at    time.Time
}

// shownPages keeps the pages that were served last, to be served while the store does not
// answer: at most a number of bytes.
type shownPages struct {
	// mu guards the fields below.
	mu    sync.Mutex
	most  int64
	bytes int64
	order *list.List // of *shownPage; the one served last is at the front
	byKey map[string]*list.Element
	away  time.Time // when the store last did not answer
}

// put remembers a page.
func (s *shownPages) put(p *shownPage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.size() > s.most/4 {
		return
	}
	if s.byKey == nil {
		s.order, s.byKey = list.New(), map[string]*list.Element{}
	}
	if old := s.byKey[p.key]; old != nil {
		s.drop(old)
	}
	s.byKey[p.key] = s.order.PushFront(p)
	for s.bytes += p.size(); s.bytes > s.most; {
		s.drop(s.order.Back())
	}
}

func (s *shownPages) drop(e *list.Element) {
	p := s.order.Remove(e).(*shownPage)
	delete(s.byKey, p.key)
	s.bytes -= p.size()
}

// forget removes a page that must not be served any more.
func (s *shownPages) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.byKey[key]; e != nil {
		s.drop(e)
	}
}

func (s *shownPages) get(key string) *shownPage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.byKey[key]; e != nil {
		return e.Value.(*shownPage)
	}
	return nil
}

// clear removes all pages.
func (s *shownPages) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order, s.byKey, s.bytes = nil, nil, 0
}

func (s *shownPages) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byKey) == 0
}

// size is what the page costs, in bytes.
func (p *shownPage) size() int64 { return int64(len(p.html)+len(p.key)) + 200 }

// isAway reports whether the store did not answer a moment ago.
func (s *shownPages) isAway() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.away) < trustAway
}

func (s *shownPages) noteAway() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = time.Now()
}

// errAway is the error of a store that was not asked because it did not answer before.
var errAway = courant.Errorf(courant.Busy, "the store does not answer")

// asked runs a query for a page. If there is an older copy of the page, it waits for the
// store for a short time only, and not at all if that did not answer a moment ago.
func (s *Serve) asked(ctx context.Context, key string, query func(context.Context) error) error {
	if s.shown.get(key) == nil {
		return query(ctx)
	}
	if s.shown.isAway() {
		return errAway
	}
	limited, cancel := context.WithTimeout(ctx, readerPatience)
	defer cancel()
	err := query(limited)
	if err != nil && ctx.Err() == nil && isAway(err) {
		s.shown.noteAway()
	}
	return err
}

// isAway reports whether err means that the store does not answer.
func isAway(err error) bool {
	return errors.Is(err, courant.Busy) || errors.Is(err, context.DeadlineExceeded)
}

// older serves the copy of a page that was served last, and says so; false if the error is
// of another kind, or there is no copy.
func (s *Serve) older(w http.ResponseWriter, r *http.Request, key string, err error) bool {
	p := s.shown.get(key)
	if p == nil || !isAway(err) || r.Context().Err() != nil {
		return false
	}
	html, err := marked(p)
	if err != nil {
		s.Log.Error("request failed", "path", r.URL.Path, "error", err)
		return false
	}
	h := w.Header()
	htmlHeaders(h)
	h.Set("Cache-Control", "no-store")
	h.Set("Warning", `110 courant "Response is Stale"`)
	h.Set("Age", fmt.Sprint(int(time.Since(p.at).Seconds())))
	s.Metrics.Add("courant_serve_stale_total", 1)
	w.Write(html) // an error means that the client has disconnected
	return true
}

// marked is the HTML of a page with a note that it may be old.
func marked(p *shownPage) ([]byte, error) {
	html := p.html
	if !p.plain {
		z, err := gzip.NewReader(bytes.NewReader(p.html))
		if err != nil {
			return nil, err
		}
		if html, err = io.ReadAll(z); err != nil {
			return nil, err
		}
	}
	note := fmt.Sprintf("<main>\n<p class=\"by\" role=\"status\">The database does not answer at the moment. This is the page as it was on %s.</p>",
		p.at.UTC().Format("2 January 2006, 15:04 UTC"))
	return bytes.Replace(html, []byte("<main>"), []byte(note), 1), nil
}

// failed answers with the older copy of a page if the store does not answer, otherwise with
// the error.
func (s *Serve) failed(w http.ResponseWriter, r *http.Request, key string, err error) {
	if web.Status(err) == http.StatusNotFound {
		s.shown.forget(key)
	}
	if !s.older(w, r, key, err) {
		s.missing(w, r, err)
	}
}

const (
	forgetEvery = 5 * time.Second
	mostChanges = 1000 // that are read at once
	farBehind   = 20 * mostChanges
)

// Handlers are the front's message handlers.
func (s *Serve) Handlers() []bus.Handler {
	return []bus.Handler{flow.PageChanged.Listen(func(context.Context, flow.Changes) error {
		s.changed.Store(true)
		return nil
	})}
}

// Run forgets the copies of pages that have changed, until ctx ends: a page that was
// withdrawn must not be served when the store does not answer.
func (s *Serve) Run(ctx context.Context) error {
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	for after := int64(0); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if !s.changed.Swap(false) {
			continue
		}
		next, err := s.forgetAfter(ctx, after)
		if err != nil && ctx.Err() == nil && !isAway(err) {
			s.Log.Warn("copies of changed pages not dropped; retrying", "error", err)
		}
		if err != nil {
			s.changed.Store(true)
		}
		after = next
	}
}

// forgetAfter forgets the pages with changes after a number, and returns the last number.
func (s *Serve) forgetAfter(ctx context.Context, after int64) (int64, error) {
	for {
		read := 0
		err := s.Store.Read(ctx, func(r store.Reader) error {
			_, newest, err := table.ChangeBounds(r)
			if err != nil {
				return err
			}
			if s.shown.empty() || newest-after > farBehind {
				s.shown.clear()
				after = newest
				return nil
			}
			return table.Changes(r, after, mostChanges, func(c table.Change) {
				after = c.Number
				read++
				if key, err := link.Canonical(c.Address); err == nil {
					s.shown.forget(key)
				}
			})
		})
		if err != nil || read < mostChanges {
			return after, err
		}
	}
}

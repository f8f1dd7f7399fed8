package search

import (
	"fmt"
	"sync"
	"time"

	"github.com/courant-platform/courant/internal/search/degrade"
	"github.com/courant-platform/courant/internal/search/shard"
)

// stale caches answers for times of high load, when an answer of a minute ago is better
// than one with a very small share, or none.
type stale struct {
	// mu guards the fields below.
	mu   sync.Mutex
	by   map[string]*remembered
	ring [mostStale]string // keys in order of arrival
	next int
}

type remembered struct {
	at time.Time
	r  Result
}

const (
	mostStale = 1024         // answers
	staleAge  = time.Minute  // oldest answer that is given
	staleHits = 2 * usualTop // most hits of a remembered answer
	staleFrom = 0.5          // answers are remembered below this share, because it may fall further
)

// keyOf is the same for queries that have the same answer.
func keyOf(q *request) string {
	of := q.Query
	of.Share = 0
	return fmt.Sprintf("%+v %p", of, q.reranker)
}

// get is an answer that is not too old.
func (s *stale) get(key string, now time.Time) (r Result, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.by[key]
	if m == nil || now.Sub(m.at) > staleAge {
		return r, false
	}
	r = m.r
	r.Hits = append([]shard.Hit(nil), m.r.Hits...)
	r.Age = now.Sub(m.at)
	return r, true
}

// put caches an answer.
func (s *stale) put(key string, r *Result, now time.Time) {
	if len(r.Hits) > staleHits {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[string]*remembered{}
	}
	if s.by[key] == nil {
		delete(s.by, s.ring[s.next])
		s.ring[s.next] = key
		s.next = (s.next + 1) % mostStale
	}
	s.by[key] = &remembered{now, *r}
}

// old returns a remembered answer, at most a minute old, if the share is so small that
// it is better than a new one.
func (s *Search) old(q *request, share float64) (r Result, ok bool) {
	if share >= degrade.StaleBelow || q.Share < 1 {
		return r, false
	}
	return s.stale.get(keyOf(q), time.Now())
}

package admission

import (
	"sync"
	"time"
)

// Rate bounds how often each client does something: Burst times at once, and then once
// every Every. It is a token bucket for each client.
type Rate struct {
	Burst int
	Every time.Duration

	// mu guards full.
	mu   sync.Mutex
	full map[Client]time.Time // when a client's bucket will be full again
}

// mostRated is how many clients a Rate remembers.
const mostRated = 10_000

// Use counts one use of a client.
func (r *Rate) Use(c Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if len(r.full) >= mostRated {
		r.forget(now)
	}
	if r.full == nil {
		r.full = map[Client]time.Time{}
	}
	at := r.full[c]
	if at.Before(now) {
		at = now
	}
	r.full[c] = at.Add(r.Every)
}

// forget drops the clients whose bucket is full, or all if many clients use it at once.
func (r *Rate) forget(now time.Time) {
	for c, at := range r.full {
		if !at.After(now) {
			delete(r.full, c)
		}
	}
	if len(r.full) >= mostRated {
		clear(r.full)
	}
}

// After is how long a client must wait before its next use; 0 if it need not.
func (r *Rate) After(c Client) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.full[c]
	if !ok {
		return 0
	}
	return max(time.Until(at)-time.Duration(r.Burst-1)*r.Every, 0)
}

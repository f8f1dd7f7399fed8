package gate

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/courant-platform/courant/internal/kit/admission"
)

const (
	mostWrong  = 10               // attempts at once from a network
	wrongEvery = 10 * time.Second // after which it may make another one
	mostFrom   = 10_000           // networks that are remembered
	provenFor  = 10 * time.Minute
	mostProven = 1000
)

// wrong counts wrong tokens and passwords of each network: a bucket of attempts that fills
// again slowly.
type wrong struct {
	// mu guards full.
	mu   sync.Mutex
	full map[admission.Client]time.Time // when the bucket of a network will be full again
}

// note counts an attempt, and reports whether the network may make another one now.
func (w *wrong) note(from admission.Client) (more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if len(w.full) >= mostFrom {
		for c, at := range w.full {
			if !at.After(now) {
				delete(w.full, c)
			}
		}
		if len(w.full) >= mostFrom {
			clear(w.full) // many networks attack at once
		}
	}
	if w.full == nil {
		w.full = map[admission.Client]time.Time{}
	}
	at := w.full[from]
	if at.Before(now) {
		at = now
	}
	w.full[from] = at.Add(wrongEvery)
	return !w.full[from].After(now.Add((mostWrong - 1) * wrongEvery))
}

// after is how long a network must wait before its next attempt; 0 if it need not.
func (w *wrong) after(from admission.Client) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	at, ok := w.full[from]
	if !ok {
		return 0
	}
	return max(time.Until(at)-(mostWrong-1)*wrongEvery, 0)
}

// proven remembers tokens that were valid, by their digest.
type proven struct {
	// mu guards until.
	mu    sync.Mutex
	until map[[32]byte]time.Time
}

func (p *proven) put(token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.until == nil || len(p.until) >= mostProven {
		p.until = map[[32]byte]time.Time{}
	}
	p.until[sha256.Sum256([]byte(token))] = time.Now().Add(provenFor)
}

func (p *proven) has(token string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.until[sha256.Sum256([]byte(token))].After(time.Now())
}

package gate

import (
	"crypto/sha256"
	"sync"
	"time"
)

const (
	mostWrong  = 10               // attempts at once from a network
	wrongEvery = 10 * time.Second // after which it may make another one
	provenFor  = 10 * time.Minute
	mostProven = 1000
)

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

// Package bell wakes everybody who waits for the same thing at once.
package bell

import "sync"

// Bell wakes those who hear it. The zero value is ready.
type Bell struct {
	// mu guards next and closed.
	mu     sync.Mutex
	next   chan struct{}
	closed bool
}

// Heard returns a channel that is closed at the next ring: ask for it before
// looking whether there is something to do, so that no ring is missed.
func (b *Bell) Heard() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
		if b.closed {
			close(b.next)
		}
	}
	return b.next
}

// Ring wakes all who hear.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil && !b.closed {
		close(b.next)
		b.next = nil
	}
}

// Close rings for ever.
func (b *Bell) Close() {
	b.Ring()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil && !b.closed {
		close(b.next)
	}
	b.closed = true
}

// Closed says whether Close was called.
func (b *Bell) Closed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

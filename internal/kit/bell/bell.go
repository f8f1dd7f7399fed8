// Package bell broadcasts notifications to all waiting goroutines.
package bell

import "sync"

// Bell notifies all waiters at once. The zero value is ready to use.
type Bell struct {
	// mu guards next and closed.
	mu     sync.Mutex
	next   chan struct{}
	closed bool
}

// Heard returns a channel that is closed by the next Ring. Call it before checking for
// work, so that no notification is missed.
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

// Ring closes the channel that Heard returned.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil && !b.closed {
		close(b.next)
		b.next = nil
	}
}

// Close makes all channels of Heard, also later ones, closed.
func (b *Bell) Close() {
	b.Ring()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil && !b.closed {
		close(b.next)
	}
	b.closed = true
}

// Closed reports whether Close was called.
func (b *Bell) Closed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

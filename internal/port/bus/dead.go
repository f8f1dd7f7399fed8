package bus

import (
	"slices"
	"sync"
	"time"
)

// DeadLetter is a fact that a handler refused or failed to handle. Group is "" for a
// Listen.
type DeadLetter struct {
	Topic, Group string
	Payload      []byte
	Reason       string
	Time         time.Time
}

// Dead returns the newest 256 dead letters, oldest first. They are kept in memory only:
// they are for people, no data depends on them.
func (b *Bus) Dead() []DeadLetter {
	b.dead.mu.Lock()
	defer b.dead.mu.Unlock()
	return slices.Clone(b.dead.list)
}

type letters struct {
	// mu guards list.
	mu   sync.Mutex
	list []DeadLetter
}

func (l *letters) add(letter DeadLetter) {
	const most = 256
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) == most {
		l.list = slices.Delete(l.list, 0, 1)
	}
	l.list = append(l.list, letter)
}

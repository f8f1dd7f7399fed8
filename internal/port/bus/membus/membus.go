// Package membus is the bus inside one process. It needs no set-up, uses memory only
// for what is queued, and works on fake time in a synctest bubble.
//
// Every group of a topic has a queue from its first Subscribe on, even while nobody is
// subscribed. A full queue drops its oldest message and counts it.
package membus

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/courant-platform/courant/internal/port/bus"
)

// Driver is a bus.Driver in memory. Its zero value is ready; a zero field means the
// default.
//
// Lock order: the mutex of the driver or of a subscription before that of a queue; those
// of the driver and of a subscription are never held together.
type Driver struct {
	MaxMessages int // in one queue; 262,144
	MaxBytes    int // of payload in one queue; 64 MiB

	// mu guards topics, the maps of each topic, and closed.
	mu     sync.RWMutex
	topics map[string]*topic
	closed bool
}

var _ bus.Driver = (*Driver)(nil)

// topic has the queues of its groups and of its listeners; Driver.mu guards it.
type topic struct {
	groups    map[string]*queue
	listeners map[*queue]struct{}
}

// Queue describes the queue of one group of a topic, or of one listener, whose Group
// is "".
type Queue struct {
	Topic, Group string
	Messages     int    // waiting, without those taken and not acknowledged
	Dropped      uint64 // because the queue was full
}

// Publish adds the payloads, which are shared and not copied, to every queue of the
// topic.
func (d *Driver) Publish(ctx context.Context, name string, payloads [][]byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.closed {
		return bus.Closed
	}
	t := d.topics[name]
	if t == nil {
		return nil
	}
	for _, q := range t.groups {
		q.push(payloads)
	}
	for q := range t.listeners {
		q.push(payloads)
	}
	return nil
}

// Subscribe joins a group, and creates it if it does not exist.
func (d *Driver) Subscribe(_ context.Context, name, group string) (bus.Subscription, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, bus.Closed
	}
	t := d.topic(name)
	q := t.groups[group]
	if q == nil {
		q = d.queue()
		t.groups[group] = q
	}
	return q.join(func() {}), nil
}

// Listen creates a separate queue, which is removed when the subscription is closed.
func (d *Driver) Listen(_ context.Context, name string) (bus.Subscription, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, bus.Closed
	}
	t, q := d.topic(name), d.queue()
	t.listeners[q] = struct{}{}
	return q.join(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(t.listeners, q)
	}), nil
}

// Close makes waiting receivers return. Queued messages are lost.
func (d *Driver) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	for _, t := range d.topics {
		for _, q := range t.groups {
			close(q.closed)
		}
		for q := range t.listeners {
			close(q.closed)
		}
	}
	d.topics = nil
	return nil
}

// Queues describes every queue, sorted by topic and group.
func (d *Driver) Queues() []Queue {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var all []Queue
	for name, t := range d.topics {
		for group, q := range t.groups {
			all = append(all, q.report(name, group))
		}
		for q := range t.listeners {
			all = append(all, q.report(name, ""))
		}
	}
	slices.SortFunc(all, func(a, b Queue) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Group, b.Group))
	})
	return all
}

// topic returns a topic, and creates it if it does not exist. The caller holds d.mu.
func (d *Driver) topic(name string) *topic {
	t := d.topics[name]
	if t != nil {
		return t
	}
	t = &topic{groups: map[string]*queue{}, listeners: map[*queue]struct{}{}}
	if d.topics == nil {
		d.topics = map[string]*topic{}
	}
	d.topics[name] = t
	return t
}

func (d *Driver) queue() *queue {
	return &queue{
		maxMessages: cmp.Or(d.MaxMessages, 1<<18),
		maxBytes:    cmp.Or(d.MaxBytes, 64<<20),
		ready:       make(chan struct{}, 1),
		closed:      make(chan struct{}),
	}
}

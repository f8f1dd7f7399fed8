package membus

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/courant-platform/courant/internal/port/bus"
)

// queue is first in, first out. While it is not empty and nobody is taking
// from it, its bell is rung.
type queue struct {
	maxMessages, maxBytes int
	bell                  chan struct{}
	closed                chan struct{}

	// mu guards the fields below.
	mu      sync.Mutex
	list    []bus.Message // from head on; the rest is taken
	head    int
	bytes   int
	last    uint64 // ID given out
	dropped uint64
}

func (q *queue) push(payloads [][]byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, payload := range payloads {
		q.last++
		q.list = append(q.list, bus.Message{ID: q.last, Payload: payload})
		q.bytes += len(payload)
		q.trim()
	}
	q.ring()
}

// trim drops the oldest while there is too much; the newest stays always.
func (q *queue) trim() {
	for n := len(q.list) - q.head; n > q.maxMessages || n > 1 && q.bytes > q.maxBytes; n-- {
		q.pop()
		q.dropped++
	}
}

// take returns up to most messages, none if there are none.
func (q *queue) take(most int) []bus.Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	most = min(most, len(q.list)-q.head)
	if most <= 0 {
		return nil
	}
	taken := make([]bus.Message, most)
	for i := range taken {
		taken[i] = q.pop()
		taken[i].Tries++
	}
	q.ring()
	return taken
}

// giveBack puts messages that were taken before those that were not.
func (q *queue) giveBack(messages []bus.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range messages {
		q.bytes += len(m.Payload)
	}
	q.list = slices.Concat(messages, q.list[q.head:])
	q.head = 0
	q.trim()
	q.ring()
}

// pop takes the oldest message and moves the list together when most of it is
// taken, so that memory follows what is queued.
func (q *queue) pop() bus.Message {
	const slack = 512 // messages that are not worth moving
	m := q.list[q.head]
	q.list[q.head] = bus.Message{}
	q.head++
	q.bytes -= len(m.Payload)
	switch {
	case q.head == len(q.list) && cap(q.list) <= 2*slack:
		q.list, q.head = q.list[:0], 0
	case q.head > slack && q.head > len(q.list)/2:
		q.list, q.head = slices.Clone(q.list[q.head:]), 0
	}
	return m
}

func (q *queue) ring() {
	if q.head == len(q.list) {
		return
	}
	select {
	case q.bell <- struct{}{}:
	default:
	}
}

func (q *queue) report(topic, group string) Queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	return Queue{Topic: topic, Group: group, Messages: len(q.list) - q.head, Dropped: q.dropped}
}

// join makes a subscription; leave is called when it is closed.
func (q *queue) join(leave func()) *subscription {
	return &subscription{queue: q, leave: leave, taken: map[uint64]bus.Message{}}
}

type subscription struct {
	queue *queue
	leave func()

	// mu guards taken; queue.mu may be taken while it is held.
	mu    sync.Mutex
	taken map[uint64]bus.Message // and not acknowledged
}

func (s *subscription) Receive(ctx context.Context, most int) ([]bus.Message, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for {
		if messages := s.queue.take(most); messages != nil {
			s.keep(messages)
			return messages, nil
		}
		select {
		case <-s.queue.bell: // whoever hears it must take: it rings for one only
		case <-s.queue.closed:
			return nil, bus.Closed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *subscription) keep(messages []bus.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range messages {
		s.taken[m.ID] = m
	}
}

func (s *subscription) Ack(m bus.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.taken, m.ID)
}

func (s *subscription) Close() {
	s.leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	messages := make([]bus.Message, 0, len(s.taken))
	for _, m := range s.taken {
		messages = append(messages, m)
	}
	clear(s.taken)
	slices.SortFunc(messages, func(a, b bus.Message) int { return cmp.Compare(a.ID, b.ID) })
	s.queue.giveBack(messages)
}

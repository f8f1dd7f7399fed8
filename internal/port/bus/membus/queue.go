package membus

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/courant-platform/courant/internal/port/bus"
)

// queue is first in, first out. While it is not empty and nobody is taking from it,
// ready has a value.
type queue struct {
	maxMessages, maxBytes int
	ready                 chan struct{}
	closed                chan struct{}

	// mu guards the fields below.
	mu      sync.Mutex
	list    []bus.Message // those before head have been taken
	head    int
	bytes   int
	last    uint64 // the last ID assigned
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
	q.notify()
}

// trim drops the oldest messages while a limit is exceeded; the newest always stays.
func (q *queue) trim() {
	for n := len(q.list) - q.head; n > q.maxMessages || n > 1 && q.bytes > q.maxBytes; n-- {
		q.pop()
		q.dropped++
	}
}

// take returns up to most messages, nil if the queue is empty.
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
	q.notify()
	return taken
}

// giveBack puts messages that were taken in front of the others.
func (q *queue) giveBack(messages []bus.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range messages {
		q.bytes += len(m.Payload)
	}
	q.list = slices.Concat(messages, q.list[q.head:])
	q.head = 0
	q.trim()
	q.notify()
}

// pop removes the oldest message, and compacts the list when most of it has been taken,
// so that memory is in proportion to what is queued.
func (q *queue) pop() bus.Message {
	const slack = 512 // fewer taken messages are not worth compacting
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

func (q *queue) notify() {
	if q.head == len(q.list) {
		return
	}
	select {
	case q.ready <- struct{}{}:
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
	taken map[uint64]bus.Message // received and not acknowledged
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
		case <-s.queue.ready: // then it must take: nobody else was notified
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

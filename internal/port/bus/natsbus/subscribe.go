package natsbus

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/courant-platform/courant/internal/port/bus"
)

const (
	// inHand is how many messages all processes of a group hold at most; beyond
	// it the server delivers nothing. What waits for another try is not in hand.
	inHand = 16_384
	// abandoned is when a group that nobody belongs to is forgotten.
	abandoned = 72 * time.Hour
)

// subscription is one member of a group.
type subscription struct {
	driver       *Driver
	topic, group string
	consumer     jetstream.Consumer // nil if it has to be made
	done         chan struct{}
	alive        sync.WaitGroup

	// mu guards last and taken.
	mu    sync.Mutex
	last  uint64
	taken map[uint64]jetstream.Msg // and not acknowledged
}

// Subscribe makes the group's consumer if there is none.
func (d *Driver) Subscribe(ctx context.Context, topic, group string) (bus.Subscription, error) {
	s := &subscription{driver: d, topic: topic, group: group,
		done: make(chan struct{}), taken: map[uint64]jetstream.Msg{}}
	if err := s.join(ctx); err != nil {
		return nil, d.closedOr(err)
	}
	s.alive.Go(s.keepAlive)
	return s, nil
}

// join makes sure that the consumer is there.
func (s *subscription) join(ctx context.Context) error {
	if s.consumer != nil {
		return nil
	}
	stream, err := s.driver.stream(ctx, s.topic)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.driver.config.attempt())
	defer cancel()
	s.consumer, err = stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable:           strings.ReplaceAll(s.group, ".", "="),
		AckPolicy:         jetstream.AckExplicitPolicy,
		AckWait:           s.driver.config.Silence,
		MaxAckPending:     inHand,
		InactiveThreshold: abandoned,
	})
	if err != nil {
		s.consumer = nil
		s.driver.forget(s.topic) // it may be the stream that is missing
	}
	return err
}

// Receive asks for what is there, and waits for one message if nothing is.
// Nothing is ever fetched in advance: it would get old without being kept alive.
func (s *subscription) Receive(ctx context.Context, most int) ([]bus.Message, error) {
	for ctx.Err() == nil {
		messages, err := s.pull(ctx, most)
		if len(messages) > 0 {
			return messages, nil
		}
		if err != nil && ctx.Err() == nil {
			s.consumer = nil
			s.driver.forget(s.topic)
			return nil, s.driver.closedOr(err)
		}
	}
	return nil, ctx.Err()
}

// pull returns nothing at all if it waited in vain.
func (s *subscription) pull(ctx context.Context, most int) ([]bus.Message, error) {
	if err := s.join(ctx); err != nil {
		return nil, err
	}
	there, err := s.consumer.FetchNoWait(most)
	if err != nil {
		return nil, err
	}
	if messages, err := s.collect(there); len(messages) > 0 || err != nil {
		return messages, err
	}
	// Without heartbeats it would not be noticed that the consumer or the server
	// is gone, since nobody answers then.
	wait, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	next, err := s.consumer.Fetch(1, jetstream.FetchContext(wait), jetstream.FetchHeartbeat(time.Second))
	if err != nil {
		return nil, err
	}
	return s.collect(next)
}

// collect takes a batch in hand.
func (s *subscription) collect(batch jetstream.MessageBatch) ([]bus.Message, error) {
	var messages []bus.Message
	for {
		select {
		case m, more := <-batch.Messages():
			if !more {
				return messages, batch.Error()
			}
			messages = append(messages, s.take(m))
		case <-s.driver.done:
			return nil, bus.Closed
		}
	}
}

func (s *subscription) take(m jetstream.Msg) bus.Message {
	tries := 1
	if meta, err := m.Metadata(); err == nil {
		tries = int(meta.NumDelivered)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.taken[s.last] = m
	return bus.Message{ID: s.last, Payload: m.Data(), Tries: tries}
}

// Ack does not wait for the server: an acknowledgement that is lost brings the
// message again.
func (s *subscription) Ack(m bus.Message) {
	s.mu.Lock()
	taken := s.taken[m.ID]
	delete(s.taken, m.ID)
	s.mu.Unlock()
	if taken != nil {
		_ = taken.Ack()
	}
}

// keepAlive tells the server that the messages in hand are in work.
func (s *subscription) keepAlive() {
	again := time.NewTicker(s.driver.config.Silence / 3)
	defer again.Stop()
	for {
		select {
		case <-again.C:
			s.each(func(m jetstream.Msg) { _ = m.InProgress() })
		case <-s.done:
			return
		}
	}
}

// Close gives the messages in hand back at once.
func (s *subscription) Close() {
	close(s.done)
	s.alive.Wait()
	s.each(func(m jetstream.Msg) { _ = m.Nak() })
}

func (s *subscription) each(f func(jetstream.Msg)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.taken {
		f(m)
	}
}

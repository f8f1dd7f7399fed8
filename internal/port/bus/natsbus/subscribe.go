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
	// inHand limits the unacknowledged messages of a group over all processes; beyond it
	// the server delivers nothing. Facts that wait for a retry are acknowledged.
	inHand = 16_384
	// abandoned is how long a group without members is kept.
	abandoned = 72 * time.Hour
)

// subscription is one member of a group.
type subscription struct {
	driver       *Driver
	topic, group string
	consumer     jetstream.Consumer // nil if it has to be created
	done         chan struct{}
	alive        sync.WaitGroup

	// mu guards last and taken.
	mu    sync.Mutex
	last  uint64
	taken map[uint64]jetstream.Msg // received and not acknowledged
}

// Subscribe creates the group's consumer if it does not exist.
func (d *Driver) Subscribe(ctx context.Context, topic, group string) (bus.Subscription, error) {
	if err := d.away(); err != nil {
		return nil, err
	}
	s := &subscription{driver: d, topic: topic, group: group,
		done: make(chan struct{}), taken: map[uint64]jetstream.Msg{}}
	if err := s.join(ctx); err != nil {
		return nil, d.closedOr(err)
	}
	s.alive.Go(s.keepAlive)
	return s, nil
}

// join creates the consumer unless s has it.
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
		s.driver.forget(s.topic) // the stream may be missing
	}
	return err
}

// Receive fetches what is available, or waits for one message. It fetches nothing in
// advance: prefetched messages would time out, because keepAlive does not cover them.
func (s *subscription) Receive(ctx context.Context, most int) ([]bus.Message, error) {
	for ctx.Err() == nil {
		if err := s.driver.away(); err != nil {
			return nil, err
		}
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

// pull returns no messages and no error if none arrived in time.
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
	// Only heartbeats reveal that the consumer or the server is gone: a request to it is
	// simply not answered.
	wait, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	next, err := s.consumer.Fetch(1, jetstream.FetchContext(wait), jetstream.FetchHeartbeat(time.Second))
	if err != nil {
		return nil, err
	}
	return s.collect(next)
}

// collect receives a batch and records its messages as taken.
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

// Ack does not wait for the server: if the acknowledgement is lost, the message is
// delivered again.
func (s *subscription) Ack(m bus.Message) {
	s.mu.Lock()
	taken := s.taken[m.ID]
	delete(s.taken, m.ID)
	s.mu.Unlock()
	if taken != nil {
		_ = taken.Ack()
	}
}

// keepAlive tells the server that the taken messages are still being handled.
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

// Close returns the taken messages to the group at once.
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

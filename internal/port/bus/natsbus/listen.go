package natsbus

import (
	"context"

	"github.com/nats-io/nats.go"

	"github.com/courant-platform/courant/internal/port/bus"
)

// listener subscribes by plain NATS. If messages arrive faster than they are received,
// some are dropped, which is logged.
type listener struct {
	driver *Driver
	sub    *nats.Subscription
	heard  chan *nats.Msg
	last   uint64
}

// Listen returns when the server has registered the subscription.
func (d *Driver) Listen(ctx context.Context, topic string) (bus.Subscription, error) {
	if err := d.away(); err != nil {
		return nil, err
	}
	l := &listener{driver: d, heard: make(chan *nats.Msg, 8192)}
	var err error
	if l.sub, err = d.conn.ChanSubscribe(d.subject(topic), l.heard); err != nil {
		return nil, d.closedOr(err)
	}
	ctx, cancel := context.WithTimeout(ctx, d.config.Timeout)
	defer cancel()
	if err := d.conn.FlushWithContext(ctx); err != nil {
		l.Close()
		return nil, d.closedOr(err)
	}
	return l, nil
}

func (l *listener) Receive(ctx context.Context, most int) ([]bus.Message, error) {
	var messages []bus.Message
	select {
	case m := <-l.heard:
		messages = append(messages, l.message(m))
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.driver.done:
		return nil, bus.Closed
	}
	for len(messages) < most && len(l.heard) > 0 {
		messages = append(messages, l.message(<-l.heard))
	}
	return messages, nil
}

func (l *listener) message(m *nats.Msg) bus.Message {
	l.last++
	return bus.Message{ID: l.last, Payload: m.Data, Tries: 1}
}

// Ack does nothing: a message to a listener is not delivered again.
func (l *listener) Ack(bus.Message) {}

func (l *listener) Close() { _ = l.sub.Unsubscribe() }

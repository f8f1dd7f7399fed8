package bus

import (
	"context"
	"errors"

	"github.com/courant-platform/courant"
)

// Driver carries payloads. Verdicts, retries, encoding and draining are in Bus;
// bustest defines what a driver must do. A driver is safe for concurrent use.
type Driver interface {
	// Publish sends the payloads to every group that ever subscribed to the topic and
	// to all current listeners. It does not hang: if the driver cannot take them in
	// reasonable time, it fails, and some may have been sent. The payloads must not be
	// changed afterwards.
	Publish(ctx context.Context, topic string, payloads [][]byte) error

	// Subscribe joins a group of a topic. From then on the group's messages are kept,
	// within bounds, even while nobody is subscribed.
	Subscribe(ctx context.Context, topic, group string) (Subscription, error)

	// Listen subscribes to everything that is published after it returns.
	Listen(ctx context.Context, topic string) (Subscription, error)

	// Close closes the driver; Publish, Subscribe, Listen and Receive then fail with
	// Closed. When it returns, none of the driver's goroutines is running.
	Close() error
}

// Subscription is one member of a group, or one listener. Ack is safe for concurrent
// use; Receive must be called from one goroutine at a time.
type Subscription interface {
	// Receive waits for messages and returns between 1 and most of them. They belong to
	// this subscription until Ack or Close, however long that takes. After an error it
	// may be called again: the driver reconnects as needed.
	Receive(ctx context.Context, most int) ([]Message, error)

	// Ack marks the message as done. If the driver cannot record that, the message is
	// delivered again.
	Ack(Message)

	// Close returns messages that were received and not acknowledged to the group.
	Close()
}

// Message is one delivery.
type Message struct {
	ID      uint64 // set by the driver, unique within a subscription
	Payload []byte // shared; must not be changed
	Tries   int    // number of deliveries, including this one
}

var (
	// Closed is the error of a driver that has been closed.
	Closed = errors.New("bus: closed")
	// Away is the error of a driver that has no connection. It is of kind courant.Busy.
	Away = courant.Errorf(courant.Busy, "the bus is not connected")
)

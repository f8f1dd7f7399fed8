package bus

import (
	"context"
	"errors"
)

// Driver carries payloads. All rules (verdicts, retries, encoding, draining)
// are in Bus; bustest says what a driver must do. A driver may be used from
// many goroutines.
type Driver interface {
	// Publish offers the payloads to every group that ever subscribed to the
	// topic and to everyone who listens now. It does not hang: if the driver
	// cannot take them in reasonable time, it fails, and some may have gone out.
	// The payloads must not be changed afterwards.
	Publish(ctx context.Context, topic string, payloads [][]byte) error

	// Subscribe joins a group of a topic. The group's messages are kept from
	// then on, within bounds, even while nobody is subscribed.
	Subscribe(ctx context.Context, topic, group string) (Subscription, error)

	// Listen subscribes to everything that is published from its return on.
	Listen(ctx context.Context, topic string) (Subscription, error)

	// Close ends the driver; Publish, Subscribe, Listen and Receive then fail
	// with Closed. When it returns, nothing of the driver still runs.
	Close() error
}

// Subscription is one member's intake. Ack may be called from many goroutines,
// Receive from one at a time.
type Subscription interface {
	// Receive waits for messages and returns between 1 and most of them. They
	// stay with this subscription until Ack or Close, however long that takes.
	// After an error it may be called again: the driver mends what broke.
	Receive(ctx context.Context, most int) ([]Message, error)

	// Ack says that the message is done with. If the driver cannot note it,
	// the message comes again.
	Ack(Message)

	// Close gives what was received and not acknowledged back to the group.
	Close()
}

// Message is one delivery.
type Message struct {
	ID      uint64 // the driver's own, unique within a subscription
	Payload []byte // shared, not to be changed
	Tries   int    // how often it was delivered, from 1
}

// Closed is the error of a driver that has been closed.
var Closed = errors.New("bus: closed")

package natsbus

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Publish waits until the server has stored the payloads. If it fails, the stream is
// created again and the failed payloads are sent again, until Config.Timeout.
func (d *Driver) Publish(ctx context.Context, topic string, payloads [][]byte) error {
	if err := d.away(); err != nil {
		return err
	}
	const most = 1000 // messages per time-out
	for some := range slices.Chunk(payloads, most) {
		if err := d.publish(ctx, topic, some); err != nil {
			return d.closedOr(err)
		}
	}
	return nil
}

// publish retries every 100 ms until all payloads are stored or the time-out.
func (d *Driver) publish(ctx context.Context, topic string, payloads [][]byte) error {
	ctx, cancel := context.WithTimeout(ctx, d.config.Timeout)
	defer cancel()
	for {
		left, err := d.offer(ctx, topic, payloads)
		if err == nil {
			return nil
		}
		payloads = left
		d.forget(topic)
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return err
		case <-d.done:
			return err
		}
	}
}

// offer sends the payloads once and returns those that the server did not store.
func (d *Driver) offer(ctx context.Context, topic string, payloads [][]byte) ([][]byte, error) {
	if _, err := d.stream(ctx, topic); err != nil {
		return payloads, err
	}
	futures := make([]jetstream.PubAckFuture, 0, len(payloads))
	var failed error
	for _, payload := range payloads {
		if failed = ctx.Err(); failed != nil {
			break
		}
		message := &nats.Msg{Subject: d.subject(topic), Data: payload}
		var future jetstream.PubAckFuture
		future, failed = d.js.PublishMsgAsync(message,
			jetstream.WithStallWait(d.config.attempt()), // the default is too short under load
			jetstream.WithRetryAttempts(0))              // the stream has to be created first
		if failed != nil {
			break
		}
		futures = append(futures, future)
	}
	var left [][]byte
	for i, future := range futures {
		if err := taken(ctx, future); err != nil {
			failed = err
			left = append(left, payloads[i])
		}
	}
	return append(left, payloads[len(futures):]...), failed
}

// taken waits for the server's acknowledgement of one message.
func taken(ctx context.Context, future jetstream.PubAckFuture) error {
	select {
	case <-future.Ok():
		return nil
	case err := <-future.Err():
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stream returns the topic's stream, and creates it if it does not exist. With one stream
// per topic, consumers need no filters, which make acknowledging slow, and each topic has
// its own limits.
func (d *Driver) stream(ctx context.Context, topic string) (jetstream.Stream, error) {
	d.mu.Lock()
	stream := d.known[topic]
	d.mu.Unlock()
	if stream != nil {
		return stream, nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.config.attempt())
	defer cancel()
	// Creating a stream that exists with the same settings changes nothing. It is updated
	// only if its settings differ, because an update races with a group that subscribes.
	config := d.streamConfig(topic)
	stream, err := d.js.CreateStream(ctx, config)
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		stream, err = d.js.UpdateStream(ctx, config)
	}
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known[topic] = stream
	return stream, nil
}

func (d *Driver) streamConfig(topic string) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		// '=' is in no topic name, so no two topics share a stream.
		Name:      d.config.Prefix + "=" + strings.ReplaceAll(topic, ".", "="),
		Subjects:  []string{d.subject(topic)},
		Retention: jetstream.InterestPolicy, // a message is deleted when all groups have acknowledged it
		Discard:   jetstream.DiscardOld,
		MaxAge:    d.config.MaxAge,
		MaxBytes:  d.config.MaxBytes,
		Replicas:  d.config.Replicas,
	}
}

func (d *Driver) forget(topic string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.known, topic)
}

func (d *Driver) forgetAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.known)
}

func (d *Driver) subject(topic string) string { return d.config.Prefix + "." + topic }

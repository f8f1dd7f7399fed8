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

// Publish waits until the server has taken the payloads. While it does not, the
// stream is made anew and those that failed are sent again, within the time-out.
func (d *Driver) Publish(ctx context.Context, topic string, payloads [][]byte) error {
	const most = 1000 // in one go, so that the time-out is one of so many
	for some := range slices.Chunk(payloads, most) {
		if err := d.publish(ctx, topic, some); err != nil {
			return d.closedOr(err)
		}
	}
	return nil
}

// publish tries again every 100 ms while something is left and there is time.
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

// offer sends the payloads once and returns those that were not taken.
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
			jetstream.WithStallWait(d.config.attempt()), // the default gives up under load
			jetstream.WithRetryAttempts(0))              // since the stream has to be made first
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

// taken waits for the server's word on one message.
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

// stream makes sure that the topic has its stream. One stream a topic needs no
// filters, which make acknowledging slow, and bounds each topic for itself.
func (d *Driver) stream(ctx context.Context, topic string) (jetstream.Stream, error) {
	d.mu.Lock()
	stream := d.known[topic]
	d.mu.Unlock()
	if stream != nil {
		return stream, nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.config.attempt())
	defer cancel()
	// Creating a stream that is there with the same settings changes nothing. Only other
	// settings are written: the server is not safe for that while a group subscribes.
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
		// No name has '=' in it, so that no two topics share a stream.
		Name:      d.config.Prefix + "=" + strings.ReplaceAll(topic, ".", "="),
		Subjects:  []string{d.subject(topic)},
		Retention: jetstream.InterestPolicy, // goes when all groups have acknowledged
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

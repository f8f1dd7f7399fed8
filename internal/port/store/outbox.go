package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"
)

// message is what one Emit added.
type message struct {
	topic    string
	payloads [][]byte
}

// bell is the outbox row of one transaction.
type bell struct {
	seq      int64
	messages []message
}

// stored is how a message lies in the outbox: a topic and its facts, JSON each.
type stored struct {
	Topic string            `json:"topic"`
	Facts []json.RawMessage `json:"facts"`
}

// seqOf is the least sequence number of a time: microseconds, then 12 bits
// that keep the processes apart.
func seqOf(t time.Time) int64 { return t.UnixMicro() << 12 }

// nextSeq is greater than all before it in this process.
func (s *Store) nextSeq(now time.Time) int64 {
	next := seqOf(now) | rand.Int64N(1<<12)
	for {
		last := s.seq.Load()
		next = max(next, last+1<<12)
		if s.seq.CompareAndSwap(last, next) {
			return next
		}
	}
}

func (s *Store) putOutbox(tx *Tx) error {
	if len(tx.bell.messages) == 0 {
		return nil
	}
	rows := make([]stored, len(tx.bell.messages))
	for i, m := range tx.bell.messages {
		rows[i].Topic = m.topic
		for _, p := range m.payloads {
			rows[i].Facts = append(rows[i].Facts, p)
		}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("encode outbox row: %w", err)
	}
	tx.bell.seq = s.nextSeq(tx.now)
	_, err = tx.Exec(putOutbox, tx.bell.seq, text)
	return err
}

// ring hands the row to the relay; when that is behind, it finds the row itself.
func (s *Store) ring(b bell) {
	select {
	case s.bells <- b:
	default:
	}
}

// Relay publishes what transactions emitted: at once what this process
// committed, and every Sweep whatever else is present, for a crash may have
// come between a commit and its message.
type Relay struct {
	Store   *Store
	Publish func(ctx context.Context, topic string, payloads [][]byte) error
	Sweep   time.Duration // 5 s unless set
}

// Run relays until ctx ends.
func (r Relay) Run(ctx context.Context) error {
	every := r.Sweep
	if every == 0 {
		every = 5 * time.Second
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	r.try(ctx, r.sweep(0))
	for {
		select {
		case <-ctx.Done():
			return nil
		case b := <-r.Store.bells:
			r.try(ctx, func(ctx context.Context) error { return r.relay(ctx, r.more(b)) })
		case <-tick.C:
			r.try(ctx, r.sweep(every))
		}
	}
}

// try logs what fails: the rows stay and the next sweep takes them up.
func (r Relay) try(ctx context.Context, f func(context.Context) error) {
	if err := f(ctx); err != nil && ctx.Err() == nil {
		r.Store.log.Warn("outbox relay failed; retrying at the next sweep", "error", err)
	}
}

// more adds what has committed meanwhile, up to a bound.
func (r Relay) more(b bell) []bell {
	bells := []bell{b}
	for len(bells) < 200 {
		select {
		case b := <-r.Store.bells:
			bells = append(bells, b)
		default:
			return bells
		}
	}
	return bells
}

func (r Relay) sweep(age time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := r.Store.clock.set(ctx, r.Store.driver); err != nil {
			return err
		}
		var bells []bell
		err := r.Store.Read(ctx, func(q Reader) error {
			return q.Rows(func(rows Rows) error {
				b, err := scanBell(rows)
				bells = append(bells, b)
				return err
			}, oldOutbox, seqOf(r.Store.Now().Add(-age)))
		})
		if err != nil || len(bells) == 0 {
			return err
		}
		return r.relay(ctx, bells)
	}
}

func scanBell(rows Rows) (bell, error) {
	var b bell
	var text []byte
	if err := rows.Scan(&b.seq, &text); err != nil {
		return b, err
	}
	var all []stored
	if err := json.Unmarshal(text, &all); err != nil {
		return b, fmt.Errorf("outbox row %d: %w", b.seq, err)
	}
	for _, m := range all {
		payloads := make([][]byte, len(m.Facts))
		for i, f := range m.Facts {
			payloads[i] = f
		}
		b.messages = append(b.messages, message{m.Topic, payloads})
	}
	return b, nil
}

// relay publishes the bells, one call a topic, and forgets them.
func (r Relay) relay(ctx context.Context, bells []bell) error {
	var topics []string
	byTopic := map[string][][]byte{}
	for _, b := range bells {
		for _, m := range b.messages {
			if byTopic[m.topic] == nil {
				topics = append(topics, m.topic)
			}
			byTopic[m.topic] = append(byTopic[m.topic], m.payloads...)
		}
	}
	for _, topic := range topics {
		if err := r.Publish(ctx, topic, byTopic[topic]); err != nil {
			return fmt.Errorf("publish %s: %w", topic, err)
		}
	}
	return r.Store.Write(ctx, func(tx *Tx) error {
		for _, b := range bells {
			if _, err := tx.Exec(dropOutbox, b.seq); err != nil {
				return err
			}
		}
		return nil
	})
}

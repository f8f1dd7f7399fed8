package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"
)

// message holds the facts of one Emit, as JSON.
type message struct {
	topic    string
	payloads [][]byte
}

// entry is the outbox row of one transaction.
type entry struct {
	seq      int64
	messages []message
}

// stored is the JSON form of a message in the outbox.
type stored struct {
	Topic string            `json:"topic"`
	Facts []json.RawMessage `json:"facts"`
}

// seqOf returns the smallest sequence number of a time: microseconds since 1970, followed
// by 12 random bits, which make collisions between processes unlikely.
func seqOf(t time.Time) int64 { return t.UnixMicro() << 12 }

// nextSeq returns a number greater than all before it in this process.
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
	if len(tx.outbox.messages) == 0 {
		return nil
	}
	rows := make([]stored, len(tx.outbox.messages))
	for i, m := range tx.outbox.messages {
		rows[i].Topic = m.topic
		for _, p := range m.payloads {
			rows[i].Facts = append(rows[i].Facts, p)
		}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("encode outbox row: %w", err)
	}
	tx.outbox.seq = s.nextSeq(tx.now)
	_, err = tx.Exec(putOutbox, tx.outbox.seq, text)
	return err
}

// hand passes a committed row to the relay. If the relay is behind, its sweep finds the
// row.
func (s *Store) hand(e entry) {
	select {
	case s.committed <- e:
	default:
	}
}

// Relay publishes what transactions emitted: what this process committed at once, and
// every Sweep whatever else is in the outbox, because a process may have crashed between
// a commit and publishing its messages.
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
		case e := <-r.Store.committed:
			r.try(ctx, func(ctx context.Context) error { return r.relay(ctx, r.more(e)) })
		case <-tick.C:
			r.try(ctx, r.sweep(every))
		}
	}
}

// try logs the error of f: the rows stay, and the next sweep publishes them.
func (r Relay) try(ctx context.Context, f func(context.Context) error) {
	if err := f(ctx); err != nil && ctx.Err() == nil {
		r.Store.log.Warn("outbox relay failed; retrying at the next sweep", "error", err)
	}
}

// more adds rows that were committed meanwhile, up to 200 in all.
func (r Relay) more(e entry) []entry {
	entries := []entry{e}
	for len(entries) < 200 {
		select {
		case e := <-r.Store.committed:
			entries = append(entries, e)
		default:
			return entries
		}
	}
	return entries
}

// sweep returns a function that publishes rows older than age.
func (r Relay) sweep(age time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := r.Store.clock.set(ctx, r.Store.driver); err != nil {
			return err
		}
		for { // after the bus was away, there are many
			entries, err := r.old(ctx, age)
			if err == nil && len(entries) > 0 {
				err = r.relay(ctx, entries)
			}
			if err != nil || len(entries) < mostSwept {
				return err
			}
		}
	}
}

// mostSwept is how many rows a sweep reads at once.
const mostSwept = 500

// old reads the oldest rows that are older than age.
func (r Relay) old(ctx context.Context, age time.Duration) (entries []entry, err error) {
	err = r.Store.Rows(ctx, func(rows Rows) error {
		e, err := scanEntry(rows)
		entries = append(entries, e)
		return err
	}, oldOutbox, seqOf(r.Store.Now().Add(-age)), mostSwept)
	return entries, err
}

// Outbox is how many rows wait to be published, up to most, and since when the oldest does.
func (s *Store) Outbox(ctx context.Context, most int) (n int, oldest time.Time, err error) {
	var seq int64
	err = s.Row(ctx, countOutbox, most).Scan(&n, &seq)
	return n, time.UnixMicro(seq >> 12), err
}

func scanEntry(rows Rows) (entry, error) {
	var e entry
	var text []byte
	if err := rows.Scan(&e.seq, &text); err != nil {
		return e, err
	}
	var all []stored
	if err := json.Unmarshal(text, &all); err != nil {
		return e, fmt.Errorf("decode outbox row %d: %w", e.seq, err)
	}
	for _, m := range all {
		payloads := make([][]byte, len(m.Facts))
		for i, f := range m.Facts {
			payloads[i] = f
		}
		e.messages = append(e.messages, message{m.Topic, payloads})
	}
	return e, nil
}

// relay publishes the entries, with one call per topic, and deletes their rows.
func (r Relay) relay(ctx context.Context, entries []entry) error {
	var topics []string
	byTopic := map[string][][]byte{}
	for _, e := range entries {
		for _, m := range e.messages {
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
		args := make([][]any, len(entries))
		for i, e := range entries {
			args[i] = []any{e.seq}
		}
		_, err := tx.ExecAll(dropOutbox, args)
		return err
	})
}

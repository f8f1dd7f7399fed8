// Package bus tells stages that something has happened. It is a doorbell and
// no more: the store is the truth, so that a message that is lost or repeated
// costs time, never data.
//
// What it promises: each group of a topic gets a fact at least once as a rule,
// in no order. What it does not: a fact may be dropped when a queue is full,
// when the process ends while the fact waits for another try, or when the
// driver loses its memory; facts published before a group first subscribed are
// not kept for it. Every stage therefore sweeps its own table as well.
package bus

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/courant-platform/courant"
)

// Topic names a kind of fact and its Go type. The fact travels as JSON. Names
// are made of letters, digits, '.', '_' and '-'.
type Topic[T any] struct{ Name string }

// Encode returns what store.Tx.Emit and Bus.Publish take: the name and one JSON
// payload a fact. It panics if T cannot be written as JSON, which is a mistake
// in the program.
func (t Topic[T]) Encode(facts ...T) (name string, payloads [][]byte) {
	payloads = make([][]byte, len(facts))
	for i, fact := range facts {
		payload, err := json.Marshal(fact)
		if err != nil {
			panic(fmt.Sprintf("encode %s: %v", t.Name, err))
		}
		payloads[i] = payload
	}
	return t.Name, payloads
}

// Handle makes a Handler of which one in all with this group, in any process,
// gets each fact. At most workers facts are in f's hands at a time in one
// process (1 if workers is less).
func (t Topic[T]) Handle(group string, workers int, f func(context.Context, T) error) Handler {
	return Handler{topic: t.Name, group: group, workers: max(workers, 1), handle: t.decoded(f)}
}

// Listen makes a Handler that gets each fact published while it listens, in
// every process, one at a time. What was published while it was away is gone.
func (t Topic[T]) Listen(f func(context.Context, T) error) Handler {
	return Handler{topic: t.Name, broadcast: true, workers: 1, handle: t.decoded(f)}
}

// decoded makes an undecodable payload invalid, and so a dead letter.
func (t Topic[T]) decoded(f func(context.Context, T) error) func(context.Context, []byte) error {
	return func(ctx context.Context, payload []byte) error {
		var fact T
		if err := json.Unmarshal(payload, &fact); err != nil {
			return courant.Errorf(courant.Invalid, "decode %s: %w", t.Name, err)
		}
		return f(ctx, fact)
	}
}

// Handler is what Bus.Run serves: made by Topic.Handle and Topic.Listen. The
// error of its function is the verdict:
//
//	nil              acknowledged
//	courant.Invalid  a dead letter: parked with its reason, logged, counted
//	any other        comes back after a while, a dead letter after Bus.Tries
//	a panic          a dead letter, with the stack in the log
type Handler struct {
	topic, group string
	broadcast    bool
	workers      int
	handle       func(context.Context, []byte) error
}

// check refuses what no driver could subscribe to.
func (h Handler) check() error {
	if err := checkName("topic", h.topic); err != nil || h.broadcast {
		return err
	}
	return checkName("group", h.group)
}

// checkName allows what is a name in every driver: no blanks, no wildcards.
func checkName(what, name string) error {
	for _, r := range name {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		if !letter && r != '.' && r != '_' && r != '-' {
			return courant.Errorf(courant.Invalid, "%s %q: only letters, digits, '.', '_' and '-' are allowed", what, name)
		}
	}
	if name == "" || name[0] == '.' || name[len(name)-1] == '.' {
		return courant.Errorf(courant.Invalid, "%s %q: must not be empty or begin or end with a dot", what, name)
	}
	return nil
}

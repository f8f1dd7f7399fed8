// Package bus notifies stages that something has happened. It is only a doorbell:
// the data is in the store, so a lost or repeated message costs time, never data.
//
// Each group of a topic normally gets each fact at least once, in no order. A fact
// may be dropped when a queue is full, when the process ends while the fact waits
// for a retry, or when the driver loses its memory; facts published before a group
// first subscribed are not kept for it. Every stage therefore also sweeps its own
// table.
package bus

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/courant-platform/courant"
)

// Topic names a kind of fact and its Go type. Facts are sent as JSON. A name
// consists of ASCII letters, digits, '.', '_' and '-', and does not begin or end with
// a dot.
type Topic[T any] struct{ Name string }

// Encode returns the arguments of store.Tx.Emit and Bus.Publish: the topic's name and
// one JSON payload per fact. It panics if T cannot be encoded as JSON, which is a
// programming error.
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

// Handle returns a Handler that belongs to a group: of all handlers with this group, in
// all processes, one gets each fact. In one process f runs at most workers times
// concurrently (once if workers is less than 1).
func (t Topic[T]) Handle(group string, workers int, f func(context.Context, T) error) Handler {
	return Handler{topic: t.Name, group: group, workers: max(workers, 1), handle: t.decoded(f)}
}

// Listen returns a Handler that gets, in every process, each fact published while it is
// subscribed, one at a time. It misses what is published at other times.
func (t Topic[T]) Listen(f func(context.Context, T) error) Handler {
	return Handler{topic: t.Name, broadcast: true, workers: 1, handle: t.decoded(f)}
}

// decoded decodes the payload for f. A payload that cannot be decoded is
// courant.Invalid and so becomes a dead letter.
func (t Topic[T]) decoded(f func(context.Context, T) error) func(context.Context, []byte) error {
	return func(ctx context.Context, payload []byte) error {
		var fact T
		if err := json.Unmarshal(payload, &fact); err != nil {
			return courant.Errorf(courant.Invalid, "decode %s: %w", t.Name, err)
		}
		return f(ctx, fact)
	}
}

// Handler is what Bus.Run serves; Topic.Handle and Topic.Listen make it. The error of
// its function is the verdict:
//
//	nil              acknowledged
//	courant.Invalid  dead letter: kept with its reason, logged, counted
//	any other        retried with back-off, dead letter after Bus.Tries tries
//	a panic          dead letter, with the stack in the log
type Handler struct {
	topic, group string
	broadcast    bool
	workers      int
	handle       func(context.Context, []byte) error
}

// check refuses names that a driver could not subscribe to.
func (h Handler) check() error {
	if err := checkName("topic", h.topic); err != nil || h.broadcast {
		return err
	}
	return checkName("group", h.group)
}

// checkName accepts what is a valid name in every driver: no spaces, no wildcards.
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

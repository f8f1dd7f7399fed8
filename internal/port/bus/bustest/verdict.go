package bustest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/bus"
)

// verdicts counts the verdicts that Observe gets.
type verdicts struct {
	// mu guards count.
	mu    sync.Mutex
	count map[string]int
}

func (v *verdicts) observe(_, _, verdict string, _ time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.count == nil {
		v.count = map[string]int{}
	}
	v.count[verdict]++
}

func (v *verdicts) of(verdict string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.count[verdict]
}

func waitingHoldsUpNothing(t *testing.T, d bus.Driver) {
	const waiting = 2_000
	var done tally
	Start(t, &bus.Bus{Driver: d, Backoff: time.Hour}, notes.Handle("parse", 1, func(ctx context.Context, n note) error {
		if n.N < waiting {
			return errors.New("temporary failure")
		}
		return done.handle(ctx, n)
	}))
	publish(t, d, notes, numbered(waiting+10)...)
	Until(t, "the others are done", func() bool { return done.distinct() == 10 })
}

func retriedThenParked(t *testing.T, d bus.Driver) {
	var seen verdicts
	b := &bus.Bus{Driver: d, Observe: seen.observe, Tries: 3, Backoff: time.Millisecond}
	Start(t, b, notes.Handle("parse", 1, func(_ context.Context, n note) error {
		if n.N == 1 {
			return errors.New("temporary failure")
		}
		return nil
	}))
	publish(t, d, notes, numbered(3)...)
	Until(t, "one is a dead letter", func() bool { return seen.of("dead") == 1 && seen.of("ok") == 2 })
	if seen.of("retry") != 2 {
		t.Errorf("retried %d times, want 2", seen.of("retry"))
	}
	letter := b.Dead()[0]
	if letter.Topic != notes.Name || letter.Group != "parse" || letter.Reason != "temporary failure" ||
		string(letter.Payload) != `{"N":1,"Text":""}` || letter.Time.IsZero() {
		t.Errorf("got %+v", letter)
	}
}

func invalidParked(t *testing.T, d bus.Driver) {
	var seen verdicts
	b := &bus.Bus{Driver: d, Observe: seen.observe}
	Start(t, b, notes.Handle("parse", 1, func(context.Context, note) error {
		return courant.Errorf(courant.Invalid, "no such source")
	}))
	publish(t, d, notes, note{})
	Until(t, "it is a dead letter", func() bool { return len(b.Dead()) == 1 && seen.of("dead") == 1 })
	if seen.of("retry") != 0 || b.Dead()[0].Reason != "no such source" {
		t.Errorf("retried %d times, want 0; dead letter %+v", seen.of("retry"), b.Dead()[0])
	}
}

func panicParked(t *testing.T, d bus.Driver) {
	var done tally
	b := &bus.Bus{Driver: d}
	Start(t, b, notes.Handle("parse", 1, func(ctx context.Context, n note) error {
		if n.N == 0 {
			panic("zero")
		}
		return done.handle(ctx, n)
	}))
	publish(t, d, notes, numbered(3)...)
	Until(t, "the others are done", func() bool { return done.distinct() == 2 && len(b.Dead()) == 1 })
	if b.Dead()[0].Reason != "panic: zero" {
		t.Errorf("got %+v", b.Dead()[0])
	}
}

func undecodableParked(t *testing.T, d bus.Driver) {
	var done tally
	b := &bus.Bus{Driver: d}
	Start(t, b, notes.Handle("parse", 1, done.handle), notes.Listen(done.handle))
	if err := b.Publish(t.Context(), notes.Name, [][]byte{[]byte("{"), []byte("{}"), {}}); err != nil {
		t.Fatal(err)
	}
	Until(t, "each handler has two dead letters", func() bool { return len(b.Dead()) == 4 && done.times() == 2 })
	if !strings.HasPrefix(b.Dead()[0].Reason, "decode note.written: ") {
		t.Errorf("got %+v", b.Dead()[0])
	}
}

func stopLetsFinish(t *testing.T, d bus.Driver) {
	begun, finish := make(chan struct{}), make(chan struct{})
	var done tally
	stop := Start(t, &bus.Bus{Driver: d}, notes.Handle("parse", 1, func(ctx context.Context, n note) error {
		close(begun) // panics if the fact is handled twice
		<-finish
		if ctx.Err() != nil {
			t.Error("the context ended before the grace period")
		}
		return done.handle(ctx, n)
	}))
	publish(t, d, notes, note{})
	receive(t, begun)
	stopped := make(chan struct{})
	go func() {
		stop()
		close(stopped)
	}()
	close(finish)
	receive(t, stopped)
	if done.times() != 1 {
		t.Errorf("handled %d times, want once", done.times())
	}
}

func stopEndsContext(t *testing.T, d bus.Driver) {
	begun := make(chan struct{})
	b := &bus.Bus{Driver: d, Grace: time.Millisecond}
	stop := Start(t, b, notes.Handle("parse", 1, func(ctx context.Context, _ note) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	}))
	publish(t, d, notes, note{N: 7})
	receive(t, begun)
	stop()
	var seen tally
	Start(t, &bus.Bus{Driver: d}, notes.Handle("parse", 1, seen.handle))
	Until(t, "the next member has the fact", func() bool { return seen.of(7) == 1 })
}

func stopLosesNothing(t *testing.T, d bus.Driver) {
	begun, finish := make(chan struct{}, 1), make(chan struct{})
	var first, second tally
	stop := Start(t, &bus.Bus{Driver: d}, notes.Handle("parse", 1, func(ctx context.Context, n note) error {
		begun <- struct{}{}
		<-finish
		return first.handle(ctx, n)
	}))
	publish(t, d, notes, numbered(100)...)
	receive(t, begun)
	stopped := make(chan struct{})
	go func() {
		stop()
		close(stopped)
	}()
	close(finish)
	go func() { // for handlers that begin before the stop takes effect
		for range begun {
		}
	}()
	receive(t, stopped)
	close(begun)
	Start(t, &bus.Bus{Driver: d}, notes.Handle("parse", 1, second.handle))
	Until(t, "all are done", func() bool { return first.distinct()+second.distinct() == 100 })
}

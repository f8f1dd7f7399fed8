// Package bustest defines what a bus.Driver must do, in terms of what a user of bus.Bus
// can observe. A driver's own test is one line:
//
//	bustest.Run(t, func(t *testing.T) bus.Driver { … })
package bustest

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/port/bus"
)

// Patience is how long a test waits for what must happen. It is long, because test
// machines are shared.
const Patience = 30 * time.Second

// note is the type of the facts in the tests.
type note struct {
	N    int
	Text string
}

// Run runs the suite. open returns a new driver without any topics or groups; the suite
// closes it.
func Run(t *testing.T, open func(t *testing.T) bus.Driver) {
	tests := []struct {
		promise string
		test    func(t *testing.T, d bus.Driver)
	}{
		{"every group gets each fact", everyGroup},
		{"within a group one handler gets a fact", oneInAGroup},
		{"everyone who listens gets each fact", broadcast},
		{"topics do not mix", manyTopics},
		{"a big payload arrives unchanged", bigPayloads},
		{"publishing without subscribers is no error", nobody},
		{"up to 100,000 facts from many publishers arrive", manyFacts},

		{"unacknowledged messages of a closed member are delivered again", comesAgain},
		{"acknowledged messages are not delivered again", acknowledged},
		{"a group gets what was published while it had no member", away},
		{"a message carries its number of deliveries", counted},
		{"Receive returns at most as many messages as requested", noMoreThan},
		{"Receive stops waiting when its context ends", waitingEnds},

		{"a fact that waits for a retry does not delay others", waitingHoldsUpNothing},
		{"a failing fact is retried and then becomes a dead letter", retriedThenParked},
		{"an invalid fact becomes a dead letter at once", invalidParked},
		{"a panic makes a dead letter and the next fact is handled", panicParked},
		{"a payload that cannot be decoded becomes a dead letter", undecodableParked},

		{"stopping lets running handlers finish", stopLetsFinish},
		{"stopping ends the context of handlers that take too long", stopEndsContext},
		{"facts not handled before a stop are delivered after it", stopLosesNothing},
		{"a closed driver fails with Closed", closedSaysSo},
	}
	for _, tt := range tests {
		t.Run(tt.promise, func(t *testing.T) {
			before := goroutines()
			d := open(t)
			t.Cleanup(func() { // runs after the test's own cleanups
				if err := d.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
				Until(t, "no goroutine is left", func() bool { return goroutines() <= before })
			})
			tt.test(t, d)
		})
	}
}

// Until waits until is returns true; after Patience it fails the test with what.
func Until(t *testing.T, what string, is func() bool) {
	t.Helper()
	limit := time.NewTimer(Patience)
	defer limit.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for !is() {
		select {
		case <-again.C:
		case <-limit.C:
			t.Fatalf("timed out after %v waiting until %s", Patience, what)
		}
	}
}

// Start runs handlers until the test ends or stop is called, and returns when they are
// subscribed. stop returns when Run has returned.
func Start(t *testing.T, b *bus.Bus, handlers ...bus.Handler) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready := make(chan struct{})
	b.Ready = func() { close(ready) }
	var running sync.WaitGroup
	running.Go(func() {
		if err := b.Run(ctx, handlers...); err != nil {
			t.Errorf("run: %v", err)
		}
	})
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	receive(t, ready)
	return stop
}

// receive returns one value from c, or fails the test after Patience.
func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	limit := time.NewTimer(Patience)
	defer limit.Stop()
	select {
	case v := <-c:
		return v
	case <-limit.C:
		t.Fatalf("timed out after %v waiting for a value", Patience)
		panic("unreachable")
	}
}

// publish publishes facts as a stage does.
func publish[T any](t *testing.T, d bus.Driver, topic bus.Topic[T], facts ...T) {
	t.Helper()
	b := &bus.Bus{Driver: d}
	name, payloads := topic.Encode(facts...)
	if err := b.Publish(t.Context(), name, payloads); err != nil {
		t.Fatal(err)
	}
}

// goroutines counts the goroutines that a driver could have started.
func goroutines() int {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	n := 0
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		ours := strings.Contains(stack, "/port/bus/") || strings.Contains(stack, "nats-io/nats.go")
		if ours && !strings.Contains(stack, "testing.tRunner") {
			n++
		}
	}
	return n
}

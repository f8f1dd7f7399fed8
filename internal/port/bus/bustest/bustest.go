// Package bustest says what a bus.Driver must do, by what a user of bus.Bus
// would notice. A driver's own test is one line:
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

// Patience is how long a test waits for what must happen. It is wide, because
// machines are shared.
const Patience = 30 * time.Second

// note is the fact of the tests.
type note struct {
	N    int
	Text string
}

// Run runs the suite. open returns a driver of an empty world of its own; the
// suite closes it.
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
		{"a fact for nobody is no error", nobody},
		{"up to a hundred thousand facts of many publishers arrive", manyFacts},

		{"what a member took and did not acknowledge comes again", comesAgain},
		{"what was acknowledged does not come again", acknowledged},
		{"a group that is away finds what came meanwhile", away},
		{"a message tells how often it was delivered", counted},
		{"receiving gives no more than was asked for", noMoreThan},
		{"waiting for a message ends with its context", waitingEnds},

		{"a fact that waits holds up no other", waitingHoldsUpNothing},
		{"a failing fact is tried again, then parked", retriedThenParked},
		{"an invalid fact is parked at once", invalidParked},
		{"a panic is parked and the next fact is handled", panicParked},
		{"what cannot be decoded is parked", undecodableParked},

		{"stopping lets running handlers finish", stopLetsFinish},
		{"stopping ends the context of handlers that take too long", stopEndsContext},
		{"what was not begun at the stop is there after it", stopLosesNothing},
		{"a closed driver says so", closedSaysSo},
	}
	for _, tt := range tests {
		t.Run(tt.promise, func(t *testing.T) {
			before := goroutines()
			d := open(t)
			t.Cleanup(func() { // after what the test itself cleans up
				if err := d.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
				Until(t, "no goroutine is left", func() bool { return goroutines() <= before })
			})
			tt.test(t, d)
		})
	}
}

// Until fails the test if what does not become true in time.
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
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// Start runs handlers until the test ends or stop is called, and returns when
// they are subscribed. stop returns when Run has.
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

// receive takes one value in time.
func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	limit := time.NewTimer(Patience)
	defer limit.Stop()
	select {
	case v := <-c:
		return v
	case <-limit.C:
		t.Fatal("waited in vain")
		panic("unreachable")
	}
}

// publish tells the facts, as a stage would.
func publish[T any](t *testing.T, d bus.Driver, topic bus.Topic[T], facts ...T) {
	t.Helper()
	b := &bus.Bus{Driver: d}
	name, payloads := topic.Encode(facts...)
	if err := b.Publish(t.Context(), name, payloads); err != nil {
		t.Fatal(err)
	}
}

// goroutines counts those that a driver could have started.
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

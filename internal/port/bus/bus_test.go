package bus_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/bus/membus"
)

// The suite bustest tests the bus over every driver. The tests here need fake time or
// a driver that fails.

var numbers = bus.Topic[int]{Name: "number.drawn"}

func publish(t *testing.T, b *bus.Bus, facts ...int) {
	t.Helper()
	name, payloads := numbers.Encode(facts...)
	if err := b.Publish(t.Context(), name, payloads); err != nil {
		t.Fatal(err)
	}
}

// in runs a test in fake time and serves handlers until it ends.
func in(t *testing.T, b *bus.Bus, test func(t *testing.T), handlers ...bus.Handler) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if b.Driver == nil {
			b.Driver = &membus.Driver{}
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { b.Run(ctx, handlers...) })
		synctest.Wait()
		test(t)
		cancel()
		running.Wait()
	})
}

func TestAFactDueSoonerOvertakesOneThatWaits(t *testing.T) {
	var order []int
	tries := map[int]int{}
	handler := numbers.Handle("parse", 1, func(_ context.Context, failures int) error {
		if tries[failures]++; tries[failures] <= failures {
			return errors.New("temporary failure")
		}
		order = append(order, failures)
		return nil
	})
	b := &bus.Bus{Backoff: time.Minute}
	in(t, b, func(t *testing.T) {
		publish(t, b, 4) // succeeds 7½ to 15 minutes from now
		time.Sleep(6*time.Minute + 20*time.Second)
		publish(t, b, 1) // succeeds before that
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(order) != 2 || order[0] != 1 || order[1] != 4 {
			t.Errorf("got %v, want [1 4]", order)
		}
	}, handler)
}

func TestRetriesComeAtLongerAndLongerIntervals(t *testing.T) {
	var at []time.Time
	handler := numbers.Handle("parse", 1, func(context.Context, int) error {
		at = append(at, time.Now())
		return errors.New("temporary failure")
	})
	b := &bus.Bus{Backoff: time.Second, Tries: 5}
	in(t, b, func(t *testing.T) {
		publish(t, b, 1)
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(at) != 5 || len(b.Dead()) != 1 {
			t.Fatalf("%d tries and %d dead letters, want 5 and 1", len(at), len(b.Dead()))
		}
		for i := range 4 {
			gap, most := at[i+1].Sub(at[i]), time.Second<<i
			if gap < most/2 || gap > most {
				t.Errorf("try %d came after %v, want between half and all of %v", i+2, gap, most)
			}
		}
	}, handler)
}

func TestFactsBeyondTheLimitOfWaitingOnesAreDroppedAndCounted(t *testing.T) {
	count := map[string]int{}
	handler := numbers.Handle("parse", 1, func(context.Context, int) error { return errors.New("temporary failure") })
	b := &bus.Bus{Waiting: 10, Backoff: time.Hour, Observe: func(topic, group, verdict string, _ time.Duration) {
		count[topic+" "+group+" "+verdict]++
	}}
	in(t, b, func(t *testing.T) {
		publish(t, b, make([]int, 15)...)
		synctest.Wait()
		if count["number.drawn parse retry"] != 10 || count["number.drawn parse dropped"] != 5 {
			t.Errorf("got %v, want 10 retries and 5 dropped", count)
		}
	}, handler)
}

func TestAfterTheGraceTheContextOfRunningHandlersEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bus.Bus{Driver: &membus.Driver{}, Grace: 7 * time.Second}
		ctx, cancel := context.WithCancel(t.Context())
		var stopped, ended time.Time
		handler := numbers.Handle("parse", 1, func(ctx context.Context, n int) error {
			<-ctx.Done()
			ended = time.Now()
			time.Sleep(time.Minute) // Run still waits for it
			return nil
		})
		var running sync.WaitGroup
		running.Go(func() { b.Run(ctx, handler) })
		synctest.Wait()
		publish(t, b, 1)
		synctest.Wait()
		stopped = time.Now()
		cancel()
		running.Wait()
		if ended.Sub(stopped) != 7*time.Second || time.Since(ended) != time.Minute {
			t.Errorf("the context ended after %v and Run returned %v later, want 7s and 1m0s", ended.Sub(stopped), time.Since(ended))
		}
	})
}

func TestADeadLetterIsLoggedOnceAndAPanicWithItsStack(t *testing.T) {
	var log bytes.Buffer
	handler := numbers.Handle("parse", 1, func(_ context.Context, n int) error {
		if n == 0 {
			panic("zero")
		}
		return courant.Errorf(courant.Invalid, "number %d", n)
	})
	b := &bus.Bus{Log: slog.New(slog.NewTextHandler(&log, nil))}
	in(t, b, func(t *testing.T) {
		publish(t, b, 0, 1)
		synctest.Wait()
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], "bus_test.go") || !strings.Contains(lines[1], `error="number 1"`) {
			t.Errorf("got %s", log.String())
		}
	}, handler)
}

func TestOnlyTheNewestDeadLettersAreKept(t *testing.T) {
	handler := numbers.Handle("parse", 1, func(context.Context, int) error { return courant.Invalid })
	b := &bus.Bus{}
	in(t, b, func(t *testing.T) {
		for n := range 1000 {
			publish(t, b, n)
		}
		synctest.Wait()
		dead := b.Dead()
		if len(dead) != 256 || string(dead[0].Payload) != "744" || string(dead[255].Payload) != "999" {
			t.Errorf("%d dead letters from %s to %s, want 256 from 744 to 999", len(dead), dead[0].Payload, dead[len(dead)-1].Payload)
		}
	}, handler)
}

func TestNamesAndSizesThatADriverCannotCarryAreRefused(t *testing.T) {
	b := &bus.Bus{Driver: &membus.Driver{}}
	for _, name := range []string{"", "a b", "a.*", ">", ".a", "a.", "é", "a/b"} {
		topic := bus.Topic[int]{Name: name}
		ignore := func(context.Context, int) error { return nil }
		for what, err := range map[string]error{
			"publish": b.Publish(t.Context(), name, [][]byte{{}}),
			"topic":   b.Run(t.Context(), topic.Handle("parse", 1, ignore)),
			"listen":  b.Run(t.Context(), topic.Listen(ignore)),
			"group":   b.Run(t.Context(), numbers.Handle(name, 1, ignore)),
		} {
			if !errors.Is(err, courant.Invalid) {
				t.Errorf("%s %q: %v, want courant.Invalid", what, name, err)
			}
		}
	}
	if err := b.Publish(t.Context(), "blob", [][]byte{make([]byte, 1<<20)}); !errors.Is(err, courant.Invalid) {
		t.Errorf("a payload of 1 MiB: %v, want courant.Invalid", err)
	}
}

// broken fails a few times before it works, and reports ten earlier deliveries of each
// message.
type broken struct {
	membus.Driver
	failures int
}

type brokenSubscription struct {
	bus.Subscription
	driver *broken
}

func (d *broken) fail() bool {
	d.failures--
	return d.failures >= 0
}

func (d *broken) Subscribe(ctx context.Context, topic, group string) (bus.Subscription, error) {
	if d.fail() {
		return nil, errors.New("broken")
	}
	s, err := d.Driver.Subscribe(ctx, topic, group)
	d.failures = 3
	return &brokenSubscription{s, d}, err
}

func (s *brokenSubscription) Receive(ctx context.Context, most int) ([]bus.Message, error) {
	if s.driver.fail() {
		return nil, errors.New("broken")
	}
	messages, err := s.Subscription.Receive(ctx, most)
	for i := range messages {
		messages[i].Tries += 10
	}
	return messages, err
}

func TestAFailingDriverIsRetried(t *testing.T) {
	handler := numbers.Handle("parse", 1, func(context.Context, int) error {
		t.Error("a message was handled although it was delivered ten times without a verdict")
		return nil
	})
	var log bytes.Buffer
	b := &bus.Bus{Driver: &broken{failures: 3}, Log: slog.New(slog.NewTextHandler(&log, nil))}
	in(t, b, func(t *testing.T) {
		time.Sleep(time.Minute)
		publish(t, b, 1)
		synctest.Wait()
		if len(b.Dead()) != 1 || !strings.Contains(b.Dead()[0].Reason, "without a verdict") {
			t.Errorf("got %+v", b.Dead())
		}
		if n := strings.Count(log.String(), "level=WARN"); n != 6 {
			t.Errorf("%d warnings in the log, want 6", n)
		}
	}, handler)
}

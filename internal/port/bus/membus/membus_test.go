package membus_test

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/bus/bustest"
	"github.com/courant-platform/courant/internal/port/bus/membus"
)

func TestDriver(t *testing.T) {
	bustest.Run(t, func(*testing.T) bus.Driver { return &membus.Driver{} })
}

const topic = "letter.sent"

func subscribe(t testing.TB, d *membus.Driver) bus.Subscription {
	t.Helper()
	s, err := d.Subscribe(t.Context(), topic, "parse")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func publish(t testing.TB, d *membus.Driver, payloads ...string) {
	t.Helper()
	var all [][]byte
	for _, p := range payloads {
		all = append(all, []byte(p))
	}
	if err := d.Publish(t.Context(), topic, all); err != nil {
		t.Fatal(err)
	}
}

// receive returns all waiting messages.
func receive(t testing.TB, s bus.Subscription) (payloads []string, messages []bus.Message) {
	t.Helper()
	messages, err := s.Receive(t.Context(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		payloads = append(payloads, string(m.Payload))
	}
	return payloads, messages
}

func TestAFullQueueDropsTheOldestAndCountsThem(t *testing.T) {
	for name, d := range map[string]*membus.Driver{
		"messages": {MaxMessages: 3},
		"bytes":    {MaxBytes: 6},
	} {
		t.Run(name, func(t *testing.T) {
			s := subscribe(t, d)
			publish(t, d, "a1", "b2", "c3", "d4")
			publish(t, d, "e5")
			want := membus.Queue{Topic: topic, Group: "parse", Messages: 3, Dropped: 2}
			if got := d.Queues(); len(got) != 1 || got[0] != want {
				t.Errorf("got %+v", got)
			}
			if got, _ := receive(t, s); !slices.Equal(got, []string{"c3", "d4", "e5"}) {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestAMessageLargerThanTheLimitIsKeptAlone(t *testing.T) {
	d := &membus.Driver{MaxBytes: 2}
	s := subscribe(t, d)
	publish(t, d, "a", "much")
	if got, _ := receive(t, s); !slices.Equal(got, []string{"much"}) {
		t.Errorf("got %v", got)
	}
}

func TestMessagesGivenBackComeFirst(t *testing.T) {
	d := &membus.Driver{}
	s := subscribe(t, d)
	publish(t, d, "a", "b", "c", "d")
	_, messages := receive(t, s)
	s.Ack(messages[1])
	publish(t, d, "e")
	s.Close()
	if got, _ := receive(t, subscribe(t, d)); !slices.Equal(got, []string{"a", "c", "d", "e"}) {
		t.Errorf("got %v", got)
	}
}

func TestAListenerLeavesNothingBehind(t *testing.T) {
	d := &membus.Driver{}
	s, err := d.Listen(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	publish(t, d, "a")
	s.Close()
	if got := d.Queues(); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestWaitingMembersShareNewMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &membus.Driver{}
		defer d.Close()
		took := make(chan int, 10)
		for range 5 {
			s := subscribe(t, d)
			go func() {
				messages, _ := s.Receive(t.Context(), 1)
				took <- len(messages)
			}()
		}
		synctest.Wait()
		publish(t, d, "a", "b", "c", "d", "e")
		synctest.Wait()
		if len(took) != 5 {
			t.Errorf("%d of 5 members have a message", len(took))
		}
	})
}

func TestItWorksOnFakeTime(t *testing.T) {
	ticks := bus.Topic[time.Time]{Name: "clock.ticked"}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := &bus.Bus{Driver: &membus.Driver{}}
		handled := 0
		go b.Run(ctx, ticks.Handle("parse", 1, func(_ context.Context, at time.Time) error {
			if since := time.Since(at); since != 0 {
				t.Errorf("a message took %v", since)
			}
			handled++
			return nil
		}))
		synctest.Wait()
		for range 30 * 24 {
			time.Sleep(time.Hour)
			name, payloads := ticks.Encode(time.Now())
			if err := b.Publish(ctx, name, payloads); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if handled != 30*24 {
			t.Errorf("handled %d facts, want %d", handled, 30*24)
		}
		cancel()
		synctest.Wait()
	})
}

func TestMemoryIsInProportionToWhatIsQueued(t *testing.T) {
	d := &membus.Driver{}
	s := subscribe(t, d)
	payloads := slices.Repeat([][]byte{{}}, 200_000)
	before := heap()
	if err := d.Publish(t.Context(), topic, payloads); err != nil {
		t.Fatal(err)
	}
	full := heap() - before
	for left := len(payloads); left > 0; {
		messages, err := s.Receive(t.Context(), 256)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			s.Ack(m)
		}
		left -= len(messages)
	}
	empty := heap() - before
	if full < 1<<20 || empty > 1<<20 {
		t.Errorf("%d KiB when full, %d KiB when empty; want at least 1 MiB and at most 1 MiB", full>>10, empty>>10)
	}
	runtime.KeepAlive(payloads)
	runtime.KeepAlive(d)
}

// heap returns the bytes in use on the heap.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkPublishHandle(b *testing.B) { bustest.Benchmark(b, &membus.Driver{}) }

func BenchmarkPublishReceiveAck(b *testing.B) {
	d := &membus.Driver{}
	s := subscribe(b, d)
	payloads := slices.Repeat([][]byte{[]byte("{}")}, 100)
	for b.Loop() {
		if err := d.Publish(b.Context(), topic, payloads); err != nil {
			b.Fatal(err)
		}
		_, messages := receive(b, s)
		for _, m := range messages {
			s.Ack(m)
		}
	}
	b.ReportMetric(100*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}

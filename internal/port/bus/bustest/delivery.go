package bustest

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/port/bus"
)

var notes = bus.Topic[note]{Name: "note.written"}

// tally remembers which facts were handled, and how often.
type tally struct {
	// mu guards seen.
	mu   sync.Mutex
	seen map[int]int
}

func (s *tally) handle(_ context.Context, n note) error {
	s.add(n.N)
	return nil
}

func (s *tally) add(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[int]int{}
	}
	s.seen[n]++
}

// of returns how often the fact n was handled.
func (s *tally) of(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[n]
}

// distinct returns how many facts were handled at least once.
func (s *tally) distinct() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

// times returns how often facts were handled in total.
func (s *tally) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := 0
	for _, n := range s.seen {
		sum += n
	}
	return sum
}

func numbered(n int) []note {
	all := make([]note, n)
	for i := range all {
		all[i].N = i
	}
	return all
}

func everyGroup(t *testing.T, d bus.Driver) {
	var parse, media tally
	Start(t, &bus.Bus{Driver: d},
		notes.Handle("parse", 2, parse.handle),
		notes.Handle("media", 2, media.handle))
	publish(t, d, notes, numbered(50)...)
	Until(t, "both groups have all", func() bool { return parse.distinct() == 50 && media.distinct() == 50 })
}

func oneInAGroup(t *testing.T, d bus.Driver) {
	var here, there, end tally
	Start(t, &bus.Bus{Driver: d}, notes.Handle("parse", 3, here.handle))
	Start(t, &bus.Bus{Driver: d}, notes.Handle("parse", 3, there.handle))
	publish(t, d, notes, numbered(300)...)
	Until(t, "the group has all", func() bool { return here.distinct()+there.distinct() >= 300 })
	Start(t, &bus.Bus{Driver: d}, notes.Handle("parse", 3, end.handle))
	publish(t, d, notes, note{N: 1000})
	Until(t, "the last one is handled", func() bool {
		return here.times()+there.times()+end.times() >= 301
	})
	if n := here.times() + there.times() + end.times(); n != 301 {
		t.Errorf("301 facts were handled %d times", n)
	}
}

func broadcast(t *testing.T, d bus.Driver) {
	var here, there, group, later tally
	stop := Start(t, &bus.Bus{Driver: d}, notes.Listen(here.handle), notes.Handle("parse", 1, group.handle))
	Start(t, &bus.Bus{Driver: d}, notes.Listen(there.handle))
	publish(t, d, notes, numbered(50)...)
	Until(t, "all have all", func() bool {
		return here.distinct() == 50 && there.distinct() == 50 && group.distinct() == 50
	})
	stop()
	publish(t, d, notes, note{N: 50})
	Until(t, "the remaining listener has it", func() bool { return there.distinct() == 51 })
	Start(t, &bus.Bus{Driver: d}, notes.Listen(later.handle))
	publish(t, d, notes, note{N: 51})
	Until(t, "both have the last", func() bool { return there.distinct() == 52 && later.distinct() == 1 })
	if here.times() != 50 || there.times() != 52 || later.times() != 1 {
		t.Errorf("handled %d, %d and %d times; want 50, 52 and 1", here.times(), there.times(), later.times())
	}
}

func manyTopics(t *testing.T, d bus.Driver) {
	const topics = 30
	var seen [topics]tally
	var handlers []bus.Handler
	name := func(i int) bus.Topic[note] { return bus.Topic[note]{Name: fmt.Sprintf("Topic_%d.of-many", i)} }
	for i := range topics {
		handlers = append(handlers, name(i).Handle("parse", 1, seen[i].handle))
	}
	Start(t, &bus.Bus{Driver: d}, handlers...)
	for i := range topics {
		publish(t, d, name(i), note{N: i}, note{N: i + 1000})
	}
	for i := range topics {
		Until(t, "each topic has its own", func() bool { return seen[i].distinct() == 2 })
		seen[i].add(i)
		if seen[i].distinct() != 2 {
			t.Errorf("topic %d got another's facts", i)
		}
	}
}

func bigPayloads(t *testing.T, d bus.Driver) {
	blobs := bus.Topic[[]byte]{Name: "blob"}
	want := bytes.Repeat([]byte("courant "), 6_000) // 64 KB in JSON
	got := make(chan []byte, 100)
	Start(t, &bus.Bus{Driver: d}, blobs.Handle("parse", 1, func(_ context.Context, b []byte) error {
		got <- b
		return nil
	}))
	for i := range 40 {
		want[0] = byte(i)
		publish(t, d, blobs, want)
	}
	seen := map[byte]bool{}
	for len(seen) < 40 {
		b := receive(t, got)
		if !bytes.Equal(b[1:], want[1:]) {
			t.Fatal("a payload changed")
		}
		seen[b[0]] = true
	}
}

func nobody(t *testing.T, d bus.Driver) {
	var seen tally
	publish(t, d, notes, numbered(3)...)
	Start(t, &bus.Bus{Driver: d}, notes.Handle("parse", 1, seen.handle))
	publish(t, d, notes, note{N: 100})
	Until(t, "the group has what was published after it subscribed", func() bool { return seen.of(100) > 0 })
}

// manyFacts publishes 100,000 facts, or as many as it can within limit under the race
// detector or on a slow machine.
func manyFacts(t *testing.T, d bus.Driver) {
	const publishers, calls, batch, limit = 10, 100, 100, 3 * time.Second
	var published atomic.Int64
	var seen tally
	Start(t, &bus.Bus{Driver: d}, notes.Handle("parse", 4, seen.handle))
	start := time.Now()
	var all sync.WaitGroup
	for p := range publishers {
		all.Go(func() {
			for c := 0; c < calls && time.Since(start) < limit; c++ {
				facts := numbered(batch)
				for i := range facts {
					facts[i].N += (p*calls + c) * batch
				}
				publish(t, d, notes, facts...)
				published.Add(batch)
			}
		})
	}
	all.Wait()
	Until(t, "all have arrived", func() bool { return int64(seen.distinct()) == published.Load() })
	t.Logf("%d facts in %v", seen.times(), time.Since(start).Round(time.Millisecond))
}

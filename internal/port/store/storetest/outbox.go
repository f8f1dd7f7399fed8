package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/port/store"
)

const countOutbox = `SELECT COUNT(*) FROM outbox`

// heard collects what a relay publishes.
type heard struct {
	// mu guards facts and fail.
	mu    sync.Mutex
	facts map[string]int
	fail  int // the first calls that fail
	more  chan struct{}
}

func (h *heard) publish(_ context.Context, topic string, payloads [][]byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fail > 0 {
		h.fail--
		return errors.New("bus unavailable")
	}
	if h.facts == nil {
		h.facts = map[string]int{}
	}
	for _, p := range payloads {
		h.facts[topic+string(p)]++
	}
	select {
	case h.more <- struct{}{}:
	default:
	}
	return nil
}

// wait returns once n different facts have been heard and the outbox is empty.
func (h *heard) wait(t *testing.T, s *store.Store, n int) {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		h.mu.Lock()
		got := len(h.facts)
		h.mu.Unlock()
		if got >= n && number(t, s, countOutbox) == 0 {
			return
		}
		select {
		case <-h.more:
		case <-time.After(5 * time.Millisecond):
		case <-late:
			t.Fatalf("%d of %d facts heard, %d rows left", got, n, number(t, s, countOutbox))
		}
	}
}

// relaying runs a relay until the test ends.
func relaying(t *testing.T, s *store.Store, h *heard) {
	h.more = make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- store.Relay{Store: s, Publish: h.publish, Sweep: 20 * time.Millisecond}.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func emit(s *store.Store, i int, err error) error {
	return s.Write(context.Background(), func(tx *store.Tx) error {
		tx.Emit("a", [][]byte{fmt.Appendf(nil, "%d", i), fmt.Appendf(nil, `"%d"`, i)})
		tx.Emit("b", [][]byte{fmt.Appendf(nil, `{"n":%d}`, i)})
		return err
	})
}

func published(t *testing.T, s *store.Store) {
	h := &heard{}
	relaying(t, s, h)
	for i := range 20 {
		must(t, emit(s, i, nil))
	}
	h.wait(t, s, 60)
	h.mu.Lock() // the sweep may publish a message again
	defer h.mu.Unlock()
	if h.facts[`b{"n":7}`] == 0 || h.facts[`a"19"`] == 0 {
		t.Errorf("facts were changed on the way: %v", h.facts)
	}
}

func neverPublished(t *testing.T, s *store.Store) {
	h := &heard{}
	relaying(t, s, h)
	if err := emit(s, 1, errMine); !errors.Is(err, errMine) {
		t.Fatal(err)
	}
	must(t, emit(s, 2, nil))
	h.wait(t, s, 3)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.facts["a1"] != 0 {
		t.Error("a message of a failed transaction was published")
	}
}

func publishedLater(t *testing.T, s *store.Store) {
	h := &heard{fail: 3}
	relaying(t, s, h)
	must(t, emit(s, 1, nil))
	must(t, emit(s, 2, nil))
	h.wait(t, s, 6)
}

func orphans(t *testing.T, s *store.Store) {
	for i := range 10 {
		must(t, emit(s, i, nil))
	}
	h := &heard{}
	relaying(t, s, h)
	h.wait(t, s, 30)
}

func leases(t *testing.T, s *store.Store) {
	take := func(owner string, d time.Duration) (l store.Lease) {
		must(t, s.Write(t.Context(), func(tx *store.Tx) (err error) {
			l, err = tx.Take("partition 1", owner, d)
			return err
		}))
		return l
	}
	holds := func(l store.Lease) (yes bool) {
		must(t, s.Write(t.Context(), func(tx *store.Tx) (err error) {
			yes, err = tx.Holds(l)
			return err
		}))
		return yes
	}
	first := take("a", time.Hour)
	if first.Epoch == 0 || !holds(first) {
		t.Fatalf("the first owner did not get the lease: %+v", first)
	}
	if l := take("b", time.Hour); l.Epoch != 0 {
		t.Fatalf("two owners have the lease: %+v", l)
	}
	if again := take("a", -time.Second); again.Epoch != first.Epoch {
		t.Fatalf("renewing changed the epoch: %+v", again)
	}
	second := take("b", time.Hour)
	if second.Epoch <= first.Epoch || !holds(second) || holds(first) {
		t.Fatalf("%+v cannot be told from its successor %+v", first, second)
	}
	must(t, s.Release(t.Context(), "b"))
	time.Sleep(2 * time.Millisecond) // the lease is free once its last millisecond, on the store's clock, has passed
	if third := take("a", time.Hour); third.Epoch <= second.Epoch {
		t.Fatalf("not taken after a release: %+v", third)
	}
}

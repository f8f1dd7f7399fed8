package bustest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/courant-platform/courant/internal/port/bus"
)

// These tests use the driver directly: Bus relies on what they check.

func subscribe(t *testing.T, d bus.Driver) bus.Subscription {
	t.Helper()
	s, err := d.Subscribe(t.Context(), "letter.sent", "parse")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func send(t *testing.T, d bus.Driver, payloads ...string) {
	t.Helper()
	var all [][]byte
	for _, p := range payloads {
		all = append(all, []byte(p))
	}
	if err := d.Publish(t.Context(), "letter.sent", all); err != nil {
		t.Fatal(err)
	}
}

// take receives n messages.
func take(t *testing.T, s bus.Subscription, n int) []bus.Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	var all []bus.Message
	for len(all) < n {
		messages, err := s.Receive(ctx, n-len(all))
		if err != nil {
			t.Fatalf("after %d of %d messages: %v", len(all), n, err)
		}
		all = append(all, messages...)
	}
	return all
}

func texts(messages []bus.Message) []string {
	var all []string
	for _, m := range messages {
		all = append(all, string(m.Payload))
	}
	slices.Sort(all)
	return all
}

func comesAgain(t *testing.T, d bus.Driver) {
	crashed, other := subscribe(t, d), subscribe(t, d)
	defer other.Close()
	send(t, d, "a", "b", "c")
	crashed.Ack(take(t, crashed, 3)[0])
	crashed.Close()
	if got := texts(take(t, other, 2)); len(got) != 2 {
		t.Errorf("got %v, want 2 messages", got)
	}
}

func acknowledged(t *testing.T, d bus.Driver) {
	s := subscribe(t, d)
	send(t, d, "a", "b")
	for _, m := range take(t, s, 2) {
		s.Ack(m)
	}
	s.Close()
	again := subscribe(t, d)
	defer again.Close()
	send(t, d, "c")
	if got := texts(take(t, again, 1)); got[0] != "c" {
		t.Errorf("got %v, want c", got)
	}
}

func away(t *testing.T, d bus.Driver) {
	subscribe(t, d).Close()
	send(t, d, "a", "b")
	s := subscribe(t, d)
	defer s.Close()
	if got := texts(take(t, s, 2)); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %v, want a and b", got)
	}
}

func counted(t *testing.T, d bus.Driver) {
	subscribe(t, d).Close()
	send(t, d, "a")
	for want := 1; want <= 3; want++ {
		s := subscribe(t, d)
		if m := take(t, s, 1)[0]; m.Tries != want {
			t.Errorf("delivery %d has Tries %d", want, m.Tries)
		}
		s.Close()
	}
}

func noMoreThan(t *testing.T, d bus.Driver) {
	s := subscribe(t, d)
	defer s.Close()
	send(t, d, "a", "b", "c", "d", "e")
	for got := 0; got < 5; {
		messages, err := s.Receive(t.Context(), 2)
		if err != nil || len(messages) < 1 || len(messages) > 2 {
			t.Fatalf("got %d messages, %v; asked for 2", len(messages), err)
		}
		got += len(messages)
	}
}

func waitingEnds(t *testing.T, d bus.Driver) {
	s := subscribe(t, d)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := s.Receive(ctx, 10)
		failed <- err
	}()
	cancel()
	if err := receive(t, failed); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	send(t, d, "a")
	take(t, s, 1)
}

func closedSaysSo(t *testing.T, d bus.Driver) {
	s := subscribe(t, d)
	failed := make(chan error, 1)
	go func() {
		_, err := s.Receive(t.Context(), 10)
		failed <- err
	}()
	for range 2 {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := receive(t, failed); !errors.Is(err, bus.Closed) {
		t.Errorf("receive: %v, want Closed", err)
	}
	s.Close()
	if err := d.Publish(t.Context(), "letter.sent", [][]byte{{}}); !errors.Is(err, bus.Closed) {
		t.Errorf("publish: %v, want Closed", err)
	}
	if _, err := d.Subscribe(t.Context(), "letter.sent", "parse"); !errors.Is(err, bus.Closed) {
		t.Errorf("subscribe: %v, want Closed", err)
	}
	if _, err := d.Listen(t.Context(), "letter.sent"); !errors.Is(err, bus.Closed) {
		t.Errorf("listen: %v, want Closed", err)
	}
}

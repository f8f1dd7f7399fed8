package bus

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/courant-platform/courant"
)

// maxPayload is the largest payload that every driver can carry, in bytes.
const maxPayload = 256 << 10

// Bus serves handlers over a driver. Only Driver is required; zero means the default.
type Bus struct {
	Driver Driver
	Log    *slog.Logger

	Grace   time.Duration // how long running handlers may go on after the stop; 10 s
	Tries   int           // tries before a failing fact becomes a dead letter; 5
	Backoff time.Duration // before the second try, doubled for each further one; 1 s
	Waiting int           // limit of facts of one handler that wait for a retry; further ones are dropped; 10,000

	// Observe, if set, is called with every verdict (ok, retry, dead, dropped) and the
	// time the handler took. The group of a Listen is "".
	Observe func(topic, group, verdict string, took time.Duration)
	// Ready, if set, is called once in Run, when all handlers are subscribed.
	Ready func()

	dead letters
}

// Publish sends the facts that Topic.Encode encoded to every group and listener of the
// topic. A wrong name or a payload over 256 KiB is courant.Invalid. After an error some
// facts may have been sent.
func (b *Bus) Publish(ctx context.Context, topic string, payloads [][]byte) error {
	if err := checkName("topic", topic); err != nil {
		return err
	}
	for _, payload := range payloads {
		if len(payload) > maxPayload {
			return courant.Errorf(courant.Invalid, "publish %s: payload must be at most %d bytes, not %d", topic, maxPayload, len(payload))
		}
	}
	if len(payloads) == 0 {
		return nil
	}
	if err := b.Driver.Publish(ctx, topic, payloads); err != nil {
		return fmt.Errorf("publish %s: %w", topic, err)
	}
	return nil
}

// Run subscribes all handlers and serves them until ctx ends. Then it receives no more,
// running handlers may go on for Grace, and then their context ends. It returns when
// none of its goroutines is running. A driver that fails does not end it: subscribing
// and receiving are retried.
func (b *Bus) Run(ctx context.Context, handlers ...Handler) error {
	for _, h := range handlers {
		if err := h.check(); err != nil {
			return err
		}
	}
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var running sync.WaitGroup
	ready := b.readyAfter(len(handlers) + 1) // one more call below, after all were started
	for _, h := range handlers {
		s := &service{Handler: h, bus: b, jobs: make(chan job, h.workers)}
		s.waiting = waiting{most: orDefault(b.Waiting, 10_000), sooner: make(chan struct{}, 1)}
		running.Go(func() { s.run(ctx, work, ready) })
	}
	ready()
	<-ctx.Done()
	grace := time.AfterFunc(orDefault(b.Grace, 10*time.Second), cancel)
	defer grace.Stop()
	running.Wait()
	return nil
}

// readyAfter returns a function whose nth call calls Ready.
func (b *Bus) readyAfter(n int) func() {
	var subscribed atomic.Int64
	return func() {
		if subscribed.Add(1) == int64(n) && b.Ready != nil {
			b.Ready()
		}
	}
}

func (b *Bus) log() *slog.Logger {
	if b.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return b.Log
}

func orDefault[T int | time.Duration](value, otherwise T) T {
	if value > 0 {
		return value
	}
	return otherwise
}

// service is one handler while it is served.
type service struct {
	Handler
	bus     *Bus
	sub     Subscription
	jobs    chan job
	waiting waiting
}

// job is a fact for a worker.
type job struct {
	Message
	failed int  // tries that failed in this process
	held   bool // the driver still waits for the acknowledgement
}

// run serves until ctx ends; handlers run under the context work.
func (s *service) run(ctx, work context.Context, ready func()) {
	if !s.subscribe(ctx) {
		return
	}
	defer s.sub.Close()
	ready()
	var running sync.WaitGroup
	running.Go(func() { s.intake(ctx) })
	running.Go(func() { s.waiting.run(ctx, s.jobs) })
	for range s.workers {
		running.Go(func() { s.worker(ctx, work) })
	}
	running.Wait()
	if lost := len(s.waiting.jobs); lost > 0 {
		s.bus.log().Info("facts waiting for a retry dropped at shutdown", "topic", s.topic, "group", s.group, "count", lost)
	}
}

// subscribe retries until it succeeds; it returns false if ctx ended first.
func (s *service) subscribe(ctx context.Context) bool {
	for failed := 0; ctx.Err() == nil; failed++ {
		var err error
		if s.broadcast {
			s.sub, err = s.bus.Driver.Listen(ctx, s.topic)
		} else {
			s.sub, err = s.bus.Driver.Subscribe(ctx, s.topic, s.group)
		}
		if err == nil {
			return true
		}
		s.pause(ctx, "subscribe", failed, err)
	}
	return false
}

// intake passes messages to the workers. For a fast handler it receives large batches;
// for a slow one small ones, which leaves the rest to other processes.
func (s *service) intake(ctx context.Context) {
	const most, quick = 256, 10 * time.Millisecond
	batch, failed := 1, 0
	for ctx.Err() == nil {
		messages, err := s.sub.Receive(ctx, batch)
		if err != nil {
			s.pause(ctx, "receive", failed, err)
			failed++
			continue
		}
		failed = 0
		start := time.Now()
		for _, m := range messages {
			if !send(ctx, s.jobs, job{Message: m, held: true}) {
				return
			}
		}
		if time.Since(start) < quick {
			batch = min(2*batch, most)
		} else {
			batch = max(batch/4, 1)
		}
	}
}

// pause logs a driver failure and backs off, unless ctx ends.
func (s *service) pause(ctx context.Context, what string, failed int, err error) {
	if ctx.Err() != nil {
		return
	}
	s.bus.log().Warn("bus driver failed; retrying", "operation", what, "topic", s.topic, "group", s.group, "error", err)
	timer := time.NewTimer(backoff(100*time.Millisecond, failed))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// worker handles one job after the other until ctx ends.
func (s *service) worker(ctx, work context.Context) {
	for {
		select {
		case j := <-s.jobs:
			if ctx.Err() != nil {
				return
			}
			s.judge(ctx, work, j)
		case <-ctx.Done():
			return
		}
	}
}

// send returns false if ctx ended first.
func send(ctx context.Context, jobs chan<- job, j job) bool {
	select {
	case jobs <- j:
		return true
	case <-ctx.Done():
		return false
	}
}

// backoff doubles first for each failure, up to 64 times first, and returns a random
// duration between half and all of it, so that what failed together is not retried
// together.
func backoff(first time.Duration, failed int) time.Duration {
	d := first << min(failed, 6)
	return d/2 + rand.N(d/2+1)
}

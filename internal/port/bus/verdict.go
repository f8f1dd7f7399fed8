package bus

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/courant-platform/courant"
)

// poisoned is how many deliveries without a verdict make a message a dead letter:
// handling it seems to crash the process.
const poisoned = 10

// crash is the error for a panic of a handler.
type crash struct {
	value any
	stack []byte
}

func (c *crash) Error() string { return fmt.Sprintf("panic: %v", c.value) }

// judge runs the handler under the context work and acts on its verdict. When ctx has
// ended, a fact to be retried is not acknowledged, so that the driver delivers it again.
func (s *service) judge(ctx, work context.Context, j job) {
	start := time.Now()
	err := s.call(work, j)
	took := time.Since(start)
	verdict, wait := s.verdict(&j, err)
	comesBack, stopping := wait >= 0, ctx.Err() != nil
	if verdict == "dead" {
		s.bury(j, err)
	}
	if comesBack && stopping && j.held {
		s.observe(verdict, took)
		return
	}
	if comesBack && (stopping || !s.waiting.add(job{Message: j.Message, failed: j.failed}, wait)) {
		verdict = "dropped"
	}
	if j.held {
		s.sub.Ack(j.Message)
	}
	s.observe(verdict, took)
}

// call runs the handler and turns its panic into an error.
func (s *service) call(ctx context.Context, j job) (err error) {
	if j.Tries > poisoned {
		return courant.Errorf(courant.Invalid, "delivered %d times without a verdict", j.Tries)
	}
	defer func() {
		if value := recover(); value != nil {
			err = &crash{value: value, stack: debug.Stack()}
		}
	}()
	return s.handle(ctx, j.Payload)
}

// verdict returns the name of the verdict for a handler's error and the time until the
// retry, negative for none. It counts failed tries in j.
func (s *service) verdict(j *job, err error) (string, time.Duration) {
	var crashed *crash
	switch {
	case err == nil:
		return "ok", -1
	case errors.Is(err, courant.Invalid), errors.As(err, &crashed):
		return "dead", -1
	}
	if j.failed++; j.failed >= orDefault(s.bus.Tries, 5) {
		return "dead", -1
	}
	return "retry", backoff(orDefault(s.bus.Backoff, time.Second), j.failed-1)
}

func (s *service) observe(verdict string, took time.Duration) {
	if s.bus.Observe != nil {
		s.bus.Observe(s.topic, s.group, verdict, took)
	}
}

// bury keeps and logs a dead letter.
func (s *service) bury(j job, err error) {
	attrs := []any{"topic", s.topic, "group", s.group, "error", err}
	var crashed *crash
	if errors.As(err, &crashed) {
		attrs = append(attrs, "stack", string(crashed.stack))
	}
	s.bus.log().Error("dead letter", attrs...)
	s.bus.dead.add(DeadLetter{
		Topic: s.topic, Group: s.group, Payload: j.Payload, Reason: err.Error(), Time: time.Now(),
	})
}

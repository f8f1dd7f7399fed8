package bell_test

import (
	"testing"

	"github.com/courant-platform/courant/internal/kit/bell"
)

func rang(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestRingWakesAllCurrentWaiters(t *testing.T) {
	var b bell.Bell
	b.Ring()
	one, two := b.Heard(), b.Heard()
	if rang(one) {
		t.Error("an earlier ring was heard")
	}
	b.Ring()
	if !rang(one) || !rang(two) || rang(b.Heard()) {
		t.Error("not all waiters were woken, or a later one was")
	}
}

func TestAClosedBellWakesEveryWaiter(t *testing.T) {
	var b bell.Bell
	early := b.Heard()
	b.Close()
	b.Close()
	b.Ring()
	if !rang(early) || !rang(b.Heard()) || !b.Closed() {
		t.Error("a channel of a closed bell is open")
	}
}

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

func TestARingWakesAllWhoHearAndNobodyLater(t *testing.T) {
	var b bell.Bell
	b.Ring()
	one, two := b.Heard(), b.Heard()
	if rang(one) {
		t.Error("a ring from before was heard")
	}
	b.Ring()
	if !rang(one) || !rang(two) || rang(b.Heard()) {
		t.Error("who was woken?")
	}
}

func TestAClosedBellRingsForEver(t *testing.T) {
	var b bell.Bell
	early := b.Heard()
	b.Close()
	b.Close()
	b.Ring()
	if !rang(early) || !rang(b.Heard()) || !b.Closed() {
		t.Error("it is silent")
	}
}

package cputime

import (
	"runtime"
	"testing"
	"time"
)

func TestWaitingCostsNoProcessorTime(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the time that passed is all that is known here")
	}
	w := Start()
	<-time.After(50 * time.Millisecond)
	if used := w.Stop(); used > 25*time.Millisecond {
		t.Errorf("50 ms of waiting cost %v", used)
	}
	w = Start()
	for began := time.Now(); time.Since(began) < 20*time.Millisecond; {
	}
	if used := w.Stop(); used == 0 {
		t.Error("work costs nothing")
	}
}

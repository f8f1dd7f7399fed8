package cputime

import (
	"runtime"
	"syscall"
	"time"
)

const ofThread = 1 // RUSAGE_THREAD of getrusage(2)

// Start starts to measure the calling goroutine, and locks it to its thread.
func Start() Watch {
	runtime.LockOSThread()
	return Watch{began: used()}
}

// Stop is the CPU time since Start. It must be called once, by the same goroutine.
func (w Watch) Stop() time.Duration {
	d := used() - w.began
	runtime.UnlockOSThread()
	return d
}

func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(ofThread, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

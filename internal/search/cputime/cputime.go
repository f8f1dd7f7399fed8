// Package cputime measures the CPU time of a goroutine, which on a busy or throttled
// machine is much less than the elapsed time. On systems other than Linux it measures
// the elapsed time.
package cputime

import "time"

// Watch measures the CPU time of one goroutine.
type Watch struct{ began time.Duration }

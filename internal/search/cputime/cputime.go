// Package cputime tells how much of a processor's time a goroutine used, which on a
// busy or throttled machine is much less than the time that passed. Where the
// system does not say, it is the time that passed.
package cputime

import "time"

// Watch counts the processor time of one goroutine.
type Watch struct{ began time.Duration }

//go:build !linux

package postgres

import "time"

// userTimeout does nothing: here the deadlines of calls end what waits.
func userTimeout(int, time.Duration) error { return nil }

//go:build !linux

package cputime

import "time"

// Start starts to measure.
func Start() Watch { return Watch{began: time.Duration(time.Now().UnixNano())} }

// Stop is the elapsed time since Start.
func (w Watch) Stop() time.Duration { return time.Duration(time.Now().UnixNano()) - w.began }

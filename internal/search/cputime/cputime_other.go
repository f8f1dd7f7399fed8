//go:build !linux

package cputime

import "time"

// Start begins to count.
func Start() Watch { return Watch{began: time.Duration(time.Now().UnixNano())} }

// Stop is what passed since Start.
func (w Watch) Stop() time.Duration { return time.Duration(time.Now().UnixNano()) - w.began }

package postgres

import (
	"syscall"
	"time"
)

// tcpUserTimeout is TCP_USER_TIMEOUT, which package syscall does not name.
const tcpUserTimeout = 18

// userTimeout ends a connection whose sent data is not acknowledged for so long; otherwise
// Linux tries for a quarter of an hour.
func userTimeout(fd int, d time.Duration) error {
	return syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, tcpUserTimeout, int(d.Milliseconds()))
}

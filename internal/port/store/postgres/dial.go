package postgres

import (
	"net"
	"strings"
	"syscall"
	"time"
)

// dialTimeout is how long connecting to one address may take.
const dialTimeout = 3 * time.Second

// dialer connects such that an idle connection whose server is gone is noticed after some
// 11 s, and on Linux one with data under way after dead.
func dialer(dead time.Duration) *net.Dialer {
	return &net.Dialer{Timeout: dialTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3},
		Control: func(network, _ string, c syscall.RawConn) (err error) {
			if !strings.HasPrefix(network, "tcp") {
				return nil
			}
			if failed := c.Control(func(fd uintptr) { err = userTimeout(int(fd), dead) }); failed != nil {
				return failed
			}
			return err
		}}
}

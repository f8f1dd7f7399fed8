package client

import (
	"context"
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"net/netip"
	"sync/atomic"

	"github.com/courant-platform/courant"
)

// Lost is the error of a request on a reused connection that was closed before the
// first byte of the response. The server may have closed it as idle just then, so the
// request may be retried, at the host's pace.
var Lost = courant.Errorf(courant.Busy, "%s", noAnswer)

const noAnswer = "the server closed the connection without a response"

// tracked cancels its request when the connection ends without a response. Otherwise
// net/http would retry at once, as often as there are idle connections to the host or
// the proxy; it does not retry a cancelled request.
type tracked struct {
	net.Conn
	lost atomic.Pointer[context.CancelCauseFunc] // until the first byte of the response
}

func (t *tracked) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	if n > 0 {
		t.lost.Store(nil)
	} else if end := t.lost.Swap(nil); err != nil && end != nil {
		(*end)(Lost)
	}
	return n, err
}

// once cancels a request when its connection is lost, and stores the server's address in at.
func once(ctx context.Context, end context.CancelCauseFunc, at *netip.Addr) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		*at = remote(i.Conn)
		conn := i.Conn
		if t, ok := conn.(*tls.Conn); ok && t.ConnectionState().NegotiatedProtocol != "h2" { // many requests share an HTTP/2 connection
			conn = t.NetConn()
		}
		if t, ok := conn.(*tracked); ok && i.Reused {
			t.lost.Store(&end)
		}
	}})
}

// remote is the address at the other end of a connection.
func remote(c net.Conn) netip.Addr {
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

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

// Lost is the error of a request on a connection that had been used before and was
// closed before anything of the answer came. The server may have closed it as idle
// just then, so that the request is worth another try, in its time.
var Lost = courant.Errorf(courant.Busy, "%s", noAnswer)

const noAnswer = "the server closed the connection without a response"

// tracked tells the request that it carries when it ends without an answer.
// net/http would ask again at once, and as often as there are idle connections to
// the host or the proxy; a request that has ended is not asked again.
type tracked struct {
	net.Conn
	lost atomic.Pointer[context.CancelCauseFunc] // while nothing of the answer has come
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

// once has a request end when its connection is lost, and says who was asked.
func once(ctx context.Context, end context.CancelCauseFunc, at *netip.Addr) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		*at = remote(i.Conn)
		conn := i.Conn
		if t, ok := conn.(*tls.Conn); ok && t.ConnectionState().NegotiatedProtocol != "h2" { // where many share one
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

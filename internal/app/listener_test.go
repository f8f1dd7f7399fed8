package app

import (
	"io"
	"net"
	"net/netip"
	"testing"
)

// dial connects from an address of this machine.
func dial(t *testing.T, from, to string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.DialContext(t.Context(), "tcp", to)
	if err != nil {
		t.Skip("connect from ", from, ": ", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestAClientHasALimitedNumberOfConnections(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	l := &fairListener{Listener: inner, each: 2, proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32")}}
	accepted := make(chan net.Conn, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- c
		}
	}()
	to := inner.Addr().String()
	dial(t, "127.0.0.3", to)
	dial(t, "127.0.0.3", to)
	first := <-accepted
	<-accepted
	third := dial(t, "127.0.0.3", to)
	if _, err := third.Read(make([]byte, 1)); err != io.EOF && err == nil {
		t.Error("a third connection is served")
	}
	dial(t, "127.0.0.4", to)
	<-accepted // another client is not concerned
	for range 5 {
		dial(t, "127.0.0.9", to)
		<-accepted // a proxy of ours has the connections of many
	}
	first.Close()
	first.Close() // counts once
	dial(t, "127.0.0.3", to)
	<-accepted
	if l.open["127.0.0.3"] != 2 || len(accepted) != 0 {
		t.Errorf("%d connections, %d more accepted", l.open["127.0.0.3"], len(accepted))
	}
}

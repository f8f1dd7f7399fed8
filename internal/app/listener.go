package app

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/courant-platform/courant/internal/kit/admission"
)

const (
	holdOff  = 500 * time.Millisecond // before a connection too many is closed, so that the client cannot connect anew at once
	mostHeld = 4096                   // of all clients; more are closed at once
)

// fairListener accepts a limited number of connections of each client, so that none can
// take all of them, or make the process parse thousands of requests at once.
type fairListener struct {
	net.Listener
	each    int            // connections of a client
	proxies []netip.Prefix // which bring the connections of many clients

	// mu guards open and held.
	mu   sync.Mutex
	open map[admission.Client]int
	held int
}

// Accept returns the next connection of a client that has not too many.
func (l *fairListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		a, ok := c.RemoteAddr().(*net.TCPAddr)
		if !ok || slices.ContainsFunc(l.proxies, func(p netip.Prefix) bool { return p.Contains(a.AddrPort().Addr().Unmap()) }) {
			return c, nil
		}
		who := admission.ClientOf(&http.Request{RemoteAddr: a.String()}, nil)
		if l.take(who) {
			return &counted{Conn: c, end: sync.OnceFunc(func() { l.give(who) })}, nil
		}
		l.holdOff(c)
	}
}

func (l *fairListener) take(who admission.Client) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[admission.Client]int{}
	}
	if l.open[who] >= l.each {
		return false
	}
	l.open[who]++
	return true
}

func (l *fairListener) give(who admission.Client) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[who]--; l.open[who] == 0 {
		delete(l.open, who)
	}
}

// holdOff closes a connection after a while.
func (l *fairListener) holdOff(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held >= mostHeld {
		c.Close()
		return
	}
	l.held++
	time.AfterFunc(holdOff, func() {
		c.Close()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.held--
	})
}

// counted is a connection that counts until it is closed.
type counted struct {
	net.Conn
	end func()
}

func (c *counted) Close() error {
	c.end()
	return c.Conn.Close()
}

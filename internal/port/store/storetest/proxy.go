package storetest

import (
	"net"
	"sync"
	"testing"
)

// Proxy is a TCP proxy in front of a server that can stop passing anything on, while its
// connections stay open: what a firewall that drops packets looks like to both sides.
type Proxy struct {
	Address string

	to []string // network and address of the server
	// mu guards the fields below.
	mu     sync.Mutex
	healed *sync.Cond
	cut    bool
	ended  bool
	conns  []net.Conn
}

// NewProxy starts a proxy that ends with the test.
func NewProxy(t testing.TB, network, address string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Address: l.Addr().String(), to: []string{network, address}}
	p.healed = sync.NewCond(&p.mu)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.serve(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		p.mu.Lock()
		p.ended = true
		for _, c := range p.conns {
			c.Close()
		}
		p.mu.Unlock()
		p.healed.Broadcast()
		all.Wait()
	})
	return p
}

// Cut stops passing anything on, or goes on with it.
func (p *Proxy) Cut(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = on
	p.healed.Broadcast()
}

// pass waits while the connection is cut; false at the end of the test.
func (p *Proxy) pass() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.cut && !p.ended {
		p.healed.Wait()
	}
	return !p.ended
}

func (p *Proxy) serve(c net.Conn) {
	defer c.Close()
	if !p.pass() {
		return
	}
	s, err := net.Dial(p.to[0], p.to[1])
	if err != nil {
		return
	}
	defer s.Close()
	p.mu.Lock()
	p.conns = append(p.conns, c, s)
	p.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.copy(s, c)
	}()
	p.copy(c, s)
	<-done
}

// copy passes on what arrives until one side ends.
func (p *Proxy) copy(to, from net.Conn) {
	defer to.Close()
	part := make([]byte, 32<<10)
	for {
		n, err := from.Read(part)
		if !p.pass() {
			return
		}
		if n > 0 {
			if _, err := to.Write(part[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

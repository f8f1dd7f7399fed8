package natsbus_test

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/bus/bustest"
	"github.com/courant-platform/courant/internal/port/bus/natsbus"
)

func TestAConnectionMayBreak(t *testing.T) {
	t.Parallel()
	server := open(t, natsbus.Config{Listen: anywhere, Timeout: timeout})
	p := startProxy(t, server)
	d := open(t, natsbus.Config{URL: p.url(), Timeout: timeout})
	handled, heard := make(chan int, 1e5), make(chan int, 1e5)
	bustest.Start(t, &bus.Bus{Driver: d},
		numbers.Handle("parse", 2, keep(handled)), numbers.Listen(keep(heard)))
	for range 2 {
		flows(t, d, handled)
		p.cut()
		t.Logf("flows again after %v and %v", flows(t, server, handled), flows(t, d, heard))
	}
}

func TestAConnectionThatHangsDoesNotBlockPublishersForLong(t *testing.T) {
	t.Parallel()
	server := open(t, natsbus.Config{Listen: anywhere, Timeout: timeout})
	p := startProxy(t, server)
	d := open(t, natsbus.Config{URL: p.url(), Timeout: timeout})
	handled := make(chan int, 1e5)
	bustest.Start(t, &bus.Bus{Driver: d}, numbers.Handle("parse", 2, keep(handled)))
	flows(t, d, handled)
	p.gate.Lock()
	start := time.Now()
	payloads := make([][]byte, 400) // more than the buffers on the way can hold
	for i := range payloads {
		payloads[i] = make([]byte, 64<<10)
	}
	if err := d.Publish(t.Context(), numbers.Name, payloads); err == nil {
		t.Error("publishing over a blocked connection succeeded")
	}
	if took := time.Since(start); took > 2*timeout {
		t.Errorf("publishing over a blocked connection took %v", took)
	}
	p.gate.Unlock()
	t.Logf("flows again after %v", flows(t, d, handled))
}

// proxy forwards TCP connections until they are cut, and blocks while gate is locked.
type proxy struct {
	// gate is locked to block the proxy; writers hold it for reading.
	gate     sync.RWMutex
	listener net.Listener
	target   string

	// mu guards open.
	mu   sync.Mutex
	open []net.Conn
}

func startProxy(t *testing.T, server *natsbus.Driver) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", anywhere)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, target: strings.TrimPrefix(server.URL(), "nats://")}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { p.pass(in) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		p.cut()
		running.Wait()
	})
	return p
}

func (p *proxy) url() string { return "nats://" + p.listener.Addr().String() }

func (p *proxy) pass(in net.Conn) {
	out, err := net.Dial("tcp", p.target)
	if err != nil {
		in.Close()
		return
	}
	p.mu.Lock()
	p.open = append(p.open, in, out)
	p.mu.Unlock()
	var back sync.WaitGroup
	back.Go(func() { p.copy(in, out) })
	p.copy(out, in)
	back.Wait()
}

func (p *proxy) copy(to, from net.Conn) {
	_, _ = io.Copy(gated{to, &p.gate}, from)
	to.Close()
}

// gated writes only while gate is not locked.
type gated struct {
	io.Writer
	// gate is the proxy's.
	gate *sync.RWMutex
}

func (g gated) Write(b []byte) (int, error) {
	g.gate.RLock()
	defer g.gate.RUnlock()
	return g.Writer.Write(b)
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		c.Close()
	}
	p.open = nil
}

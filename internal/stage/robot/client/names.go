package client

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// names caches the addresses of host names for a minute: hosts are fetched again and
// again, but may move. The system's resolver does not tell the TTL.
type names struct {
	ask func(ctx context.Context, network, host string) ([]netip.Addr, error)

	// mu guards known.
	mu    sync.Mutex
	known map[string]resolved
	once  singleflight.Group
}

type resolved struct {
	addresses []netip.Addr
	err       error
	until     time.Time
}

const (
	nameHolds   = time.Minute
	noNameHolds = 10 * time.Second // if the name does not exist
	mostNames   = 20_000
)

// lookup returns the addresses of a name in the resolver's order.
func (n *names) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	r, ok := n.known[host]
	n.mu.Unlock()
	if ok && time.Now().Before(r.until) {
		return r.addresses, r.err
	}
	found := n.once.DoChan(host, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second) // others wait for it too
		defer cancel()
		addresses, err := n.ask(ctx, "ip", host)
		n.keep(host, addresses, err)
		return addresses, err
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case f := <-found:
		addresses, _ := f.Val.([]netip.Addr)
		return addresses, f.Err
	}
}

func (n *names) keep(host string, addresses []netip.Addr, err error) {
	holds := nameHolds
	if err != nil {
		var dns *net.DNSError
		if !errors.As(err, &dns) || !dns.IsNotFound {
			return
		}
		holds = noNameHolds
	}
	now := time.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.known) >= mostNames {
		for name, r := range n.known {
			if now.After(r.until) {
				delete(n.known, name)
			}
		}
	}
	if n.known == nil || len(n.known) >= mostNames {
		n.known = map[string]resolved{}
	}
	n.known[host] = resolved{addresses, err, now.Add(holds)}
}

package app

import (
	"context"
	"net"
	"net/netip"
	"path/filepath"
	"slices"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/search"
	"github.com/courant-platform/courant/internal/search/fleet"
	"github.com/courant-platform/courant/internal/search/index"
)

// indexRole holds the index or some shards of it. The role search of the same process
// queries it directly; other processes do so over the network, if index.listen is set.
func indexRole(p *Platform) (unit, error) {
	c := p.Config.Index
	x := &index.Index{Store: p.Store, Config: c, RegionParam: p.Config.Catalog.RegionParam, Metrics: p.Metrics, Log: p.log("index"),
		Dir: filepath.Join(p.dir, "index")}
	if err := x.Open(); err != nil {
		return unit{}, err
	}
	p.index = x
	u := unit{handlers: x.Handlers(), runs: runs{x.Run}}
	if c.Listen == "" {
		if !p.has("search") {
			return unit{}, invalid("the role index without search needs index.listen, an address where processes with the role search can query it, such as 10.0.0.5:7400")
		}
		return u, nil
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return unit{}, courant.Errorf(courant.Conflict, "index.listen: %w", err)
	}
	p.close = append(p.close, func() error { l.Close(); return nil }) // the server has closed it, or never got it
	a := l.Addr().(*net.TCPAddr).AddrPort()
	p.listeners = append(p.listeners, netip.AddrPortFrom(a.Addr().Unmap(), a.Port()))
	s := &fleet.Server{Store: p.Store, Index: x, Name: p.Owner, Zone: p.zone(), Address: c.Address, Log: p.log("index")}
	if s.Address == "" && a.Addr().IsUnspecified() {
		return unit{}, invalid("index.listen: %s has no host that other machines can connect to; set index.address", c.Listen)
	}
	u.runs = append(u.runs, func(ctx context.Context) error { return s.Serve(ctx, l) })
	return u, nil
}

// searchRole is a front of the search. It queries only the index of this process,
// unless other processes have replicas.
func searchRole(p *Platform) (unit, error) {
	c := p.Config
	s := &search.Search{Store: p.Store, Config: c.Search, Index: c.Index, Zone: p.zone(), Metrics: p.Metrics, Log: p.log("search"), Admit: p.gate.Admit, Desk: p.desk}
	u := unit{runs: runs{s.Run}, register: s.Register}
	if p.index != nil && c.Index.Listen == "" {
		s.Backend = p.index
		return u, s.Open()
	}
	f := &fleet.Fleet{Store: p.Store, Zone: p.zone(), Own: p.Owner, Index: p.index, Shards: max(c.Index.Shards, 1), Metrics: p.Metrics, Log: p.log("search")}
	s.Backend, s.Fleet = f, f
	p.ready = append(p.ready, f.Ready)
	u.runs = append(u.runs, f.Run)
	return u, s.Open()
}

// CheckFiles reads the files that the configuration names for these roles, or for all
// roles if none is given, and returns the error of the first that cannot be used.
func (c Config) CheckFiles(roles ...string) error {
	needed := func(role string) bool { return len(roles) == 0 || slices.Contains(roles, role) }
	if needed("index") {
		if err := (&index.Index{Config: c.Index}).Open(); err != nil {
			return err
		}
	}
	if needed("search") {
		return (&search.Search{Config: c.Search, Index: c.Index}).Open()
	}
	return nil
}

// zone is the zone of this process.
func (p *Platform) zone() string {
	if p.options.Zone != "" {
		return p.options.Zone
	}
	return "main"
}

// has says whether this process has a role.
func (p *Platform) has(role string) bool { return p.roles[role] }

func (c Config) validateIndex() error {
	if n := c.Index.Shards; n < 1 || n > index.MaxShards {
		return invalid("index.shards must be from 1 to %d, not %d", index.MaxShards, n)
	}
	if c.Index.Floor < 0 || c.Index.Floor > 1 {
		return invalid("index.floor must be between 0 and 1, not %v", c.Index.Floor)
	}
	if _, err := c.Index.Held(); err != nil {
		return err
	}
	for name, address := range map[string]string{"listen": c.Index.Listen, "address": c.Index.Address} {
		if _, port, err := net.SplitHostPort(address); address != "" && (err != nil || port == "") {
			return invalid("index.%s must be an address such as 10.0.0.5:7400, not %q", name, address)
		}
	}
	if c.Index.Listen != "" && c.Store.URL == "" {
		return invalid("index.listen: only one process can use a SQLite store, so no other process could query the shards at %s; set store.url = \"postgres://…\"", c.Index.Listen)
	}
	return nil
}

package app

import (
	"context"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/search"
	"github.com/courant-platform/courant/internal/search/fleet"
	"github.com/courant-platform/courant/internal/search/index"
)

// shardRole holds an index. The role search of the same process asks it directly;
// others do over the network, if there is an address for that.
func shardRole(p *Platform) (unit, error) {
	c := p.Config.Search
	config, err := p.Config.index()
	if err != nil {
		return unit{}, err
	}
	x := &index.Index{Store: p.Store, Config: config, RegionParam: p.Config.Catalog.RegionParam, Metrics: p.Metrics, Log: p.log("shard"),
		Dir: filepath.Join(p.dir, "search")}
	if err := x.Open(); err != nil {
		return unit{}, err
	}
	p.index = x
	u := unit{handlers: x.Handlers(), runs: runs{x.Run}}
	if c.Listen == "" {
		if !p.has("search") {
			return unit{}, invalid("the role shard alone needs search.listen, an address at which fronts ask it, such as 10.0.0.5:7400")
		}
		return u, nil
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return unit{}, courant.Errorf(courant.Conflict, "search.listen: %w", err)
	}
	p.close = append(p.close, func() error { l.Close(); return nil }) // the server has closed it, or never got it
	a := l.Addr().(*net.TCPAddr).AddrPort()
	p.listeners = append(p.listeners, netip.AddrPortFrom(a.Addr().Unmap(), a.Port()))
	s := &fleet.Server{Store: p.Store, Index: x, Name: p.Owner, Zone: p.zone(), Address: c.Address, Log: p.log("shard")}
	if s.Address == "" && a.Addr().IsUnspecified() {
		return unit{}, invalid("search.listen: others cannot tell where %s is; set search.address to what they reach it by", c.Listen)
	}
	u.runs = append(u.runs, func(ctx context.Context) error { return s.Serve(ctx, l) })
	return u, nil
}

// searchRole is a front of the search. It asks the index of this process alone,
// unless there are replicas in others.
func searchRole(p *Platform) (unit, error) {
	c := p.Config.Search
	s := &search.Search{Store: p.Store, Config: c, Zone: p.zone(), Metrics: p.Metrics, Log: p.log("search"), Admit: p.gate.Admit, Desk: p.desk}
	u := unit{runs: runs{s.Run}, register: s.Register}
	if p.index != nil && c.Listen == "" {
		s.Backend = p.index
		return u, s.Open()
	}
	f := &fleet.Fleet{Store: p.Store, Zone: p.zone(), Own: p.Owner, Index: p.index, Shards: max(c.Shards, 1), Metrics: p.Metrics, Log: p.log("search")}
	s.Backend, s.Fleet = f, f
	p.ready = append(p.ready, f.Ready)
	u.runs = append(u.runs, f.Run)
	return u, s.Open()
}

// index is what the shards of this process need of the configuration.
func (c Config) index() (index.Config, error) {
	x := c.Search.Index()
	var err error
	x.Hold, err = shardNumbers(c.Search.Hold)
	return x, err
}

// CheckFiles reads the files that the configuration names for the roles, all of them if
// no role is named, and says whether they can be used.
func (c Config) CheckFiles(roles ...string) error {
	needed := func(role string) bool { return len(roles) == 0 || slices.Contains(roles, role) }
	if needed("shard") {
		x, err := c.index()
		if err != nil {
			return err
		}
		if err := (&index.Index{Config: x}).Open(); err != nil {
			return err
		}
	}
	if needed("search") {
		return (&search.Search{Config: c.Search}).Open()
	}
	return nil
}

// zone is the one that this process is in.
func (p *Platform) zone() string {
	if p.options.Zone != "" {
		return p.options.Zone
	}
	return "main"
}

// has says whether this process has a role.
func (p *Platform) has(role string) bool { return p.roles[role] }

// shardNumbers reads ranges such as 0-3.
func shardNumbers(ranges []string) (all []int, err error) {
	for _, r := range ranges {
		from, to, isRange := strings.Cut(r, "-")
		lo, err := strconv.Atoi(strings.TrimSpace(from))
		hi := lo
		if err == nil && isRange {
			hi, err = strconv.Atoi(strings.TrimSpace(to))
		}
		if err != nil || lo < 0 || hi < lo || hi > mostShards {
			return nil, invalid("search.hold: %q is no range of shards: write 0-3", r)
		}
		for n := lo; n <= hi; n++ {
			all = append(all, n)
		}
	}
	return all, nil
}

const mostShards = 1024

func (c Config) validateSearch() error {
	if n := c.Search.Shards; n < 1 || n > mostShards {
		return invalid("search.shards: %d is not from 1 to %d", n, mostShards)
	}
	if _, err := shardNumbers(c.Search.Hold); err != nil {
		return err
	}
	for name, address := range map[string]string{"listen": c.Search.Listen, "address": c.Search.Address} {
		if _, port, err := net.SplitHostPort(address); address != "" && (err != nil || port == "") {
			return invalid("search.%s: %q is not an address: write 10.0.0.5:7400", name, address)
		}
	}
	if c.Search.Listen != "" && c.Store.URL == "" {
		return invalid("search.listen: there is nobody to ask the shards at %s, for a SQLite store belongs to one process; set store.url = \"postgres://…\"", c.Search.Listen)
	}
	return nil
}

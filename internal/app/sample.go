package app

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/app/sample"
	"github.com/courant-platform/courant/internal/desk"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/setting"
)

// samplePort is the first of the sample's ports, so that the sources of one run
// are those of the next.
const samplePort = 18081

// sampleEvery is how often its feeds are asked, while somebody watches.
const sampleEvery = 4 * time.Second

// ourselves is Courant where nobody asked for what it changes.
var ourselves = courant.Visitor{Account: "courant", Role: courant.RoleOperator}

// startSample serves the built-in web, and lets robot ask its addresses. stop
// waits for the web to end.
func startSample(ctx context.Context, c *Config) (web *sample.Web, stop func() error, err error) {
	web = &sample.Web{Port: samplePort}
	if err := web.Open(); err != nil {
		return nil, nil, err
	}
	c.Robot.AllowAddresses = append(c.Robot.AllowAddresses, web.Addresses()...)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- web.Run(ctx) }()
	return web, func() error { cancel(); return <-ended }, nil
}

// addSample adds the web's feeds. Those of an earlier run at other addresses
// make room.
func (p *Platform) addSample(ctx context.Context, web *sample.Web) error {
	var sources []desk.NewSource
	for _, s := range web.Sources() {
		kind := courant.KindFeed
		if s.Shop {
			kind = courant.KindCatalog
		}
		sources = append(sources, desk.NewSource{Name: s.Name, Title: s.Title, URL: s.URL, Kind: kind, Every: setting.Duration(sampleEvery)})
	}
	added, err := p.desk.Add(ctx, ourselves, sources)
	if err != nil {
		return err
	}
	for i, a := range added {
		if a.Error == "" {
			continue
		}
		if _, err := p.desk.Remove(ctx, ourselves, sources[i].Name, onLoopback); err != nil {
			return err
		}
		if _, err := p.desk.Add(ctx, ourselves, sources[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// dropSample takes the web's feeds off that an earlier run has left: nobody
// serves them any more. Roles in processes of their own leave them alone.
func (p *Platform) dropSample(ctx context.Context, roles []string) error {
	if len(roles) > 0 {
		return nil
	}
	removed := 0
	for _, name := range sample.Names() {
		_, err := p.desk.Remove(ctx, ourselves, name, onLoopback)
		switch {
		case err == nil:
			removed++
		case !errors.Is(err, courant.NotFound):
			return err
		}
	}
	if removed > 0 {
		p.Logger.Info("the sample's sources are removed, since it does not run; its pages stay", "sources", removed)
	}
	return nil
}

// onLoopback tells the sample's sources from those that only have their names.
func onLoopback(s courant.Source) bool {
	host := link.Host(s.URL)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

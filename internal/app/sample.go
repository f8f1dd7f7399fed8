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

// samplePort is the first of the sample's ports. It is fixed, so that the sources stay
// the same from run to run.
const samplePort = 18081

// sampleEvery is the polling interval of the sample's feeds.
const sampleEvery = 4 * time.Second

// ourselves is the visitor for changes that Courant makes on its own.
var ourselves = courant.Visitor{Account: "courant", Role: courant.RoleOperator}

// startSample serves the built-in web, and allows robot to fetch from its addresses.
// stop stops it and waits until it has ended.
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

// addSample adds the web's feeds. Those of an earlier run at other addresses are
// replaced.
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

// dropSample removes the web's feeds that an earlier run has left, which nothing
// serves any more. A process that runs only some roles does not touch them.
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
		p.Logger.Info("sample sources removed; their pages stay", "sources", removed)
	}
	return nil
}

// onLoopback distinguishes the sample's sources from others with the same names.
func onLoopback(s courant.Source) bool {
	host := link.Host(s.URL)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

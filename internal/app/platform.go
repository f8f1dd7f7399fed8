// Package app puts the platform together: it reads the configuration, opens the
// backends, and runs the rows of the role table until it is told to stop.
package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/courant-platform/courant/internal/desk"
	"github.com/courant-platform/courant/internal/front/api"
	"github.com/courant-platform/courant/internal/front/gate"
	"github.com/courant-platform/courant/internal/kit/admission"
	"github.com/courant-platform/courant/internal/kit/guard"
	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/blob/folder"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/bus/membus"
	"github.com/courant-platform/courant/internal/port/bus/natsbus"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/postgres"
	"github.com/courant-platform/courant/internal/port/store/sqlite"
	"github.com/courant-platform/courant/internal/search/index"
	"github.com/courant-platform/courant/internal/stage/robot/client"
	"github.com/courant-platform/courant/internal/stage/robot/rules"
)

// Platform is the backends with what all roles share.
type Platform struct {
	Config  Config
	Store   *store.Store
	Blobs   blob.Bucket
	Bus     *bus.Bus
	Metrics *obs.Set
	Owner   string // names this process among those that share the store
	Logger  *slog.Logger

	gate *gate.Gate // the only one of the process
	desk *desk.Desk
	api  *api.API // likewise

	dir       string // the data folder
	options   Options
	roles     map[string]bool                   // of this process
	index     *index.Index                      // nil without the role index
	ready     []func(ctx context.Context) error // what /readyz asks beyond the store
	proxies   []netip.Prefix                    // http.trusted_proxies
	session   session
	listeners []netip.AddrPort // our own, which robot must not fetch from
	proxied   sync.Once        // to log only once that a proxy is used
	close     []func() error   // in the order of opening
}

// Open opens the backends of a configuration over a data folder.
func Open(ctx context.Context, c Config, dir string, log *slog.Logger) (*Platform, error) {
	p := &Platform{Config: c, Metrics: obs.New(), Logger: log, dir: dir}
	host, _ := os.Hostname()
	p.Owner = fmt.Sprintf("%s-%d-%s", cmp.Or(host, "host"), os.Getpid(), rand.Text()[:8])
	p.observe()
	for _, open := range []func(context.Context, string) error{p.openStore, p.openBlobs, p.openBus} {
		if err := open(ctx, dir); err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	var err error
	if p.proxies, err = c.proxies(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.gate = &gate.Gate{Store: p.Store, Log: p.log("api"), Password: c.HTTP.Password,
		Network: func(r *http.Request) admission.Client { return admission.ClientOf(r, p.proxies) }}
	p.desk = &desk.Desk{Store: p.Store, Blobs: p.Blobs}
	p.api = &api.API{Store: p.Store, Blobs: p.Blobs, Desk: p.desk, Log: p.log("api"), Admit: p.gate.Admit,
		CrawlDelay: func(text []byte) time.Duration { return rules.Parse(text, c.Robot.UserAgent).Delay }}
	return p, nil
}

func (p *Platform) openStore(ctx context.Context, dir string) (err error) {
	var d store.Driver
	if p.Config.Store.URL != "" {
		c := p.Config.Store
		d, err = postgres.Open(ctx, postgres.Config{URL: c.URL, MigrateURL: c.MigrateURL, Conns: c.Conns, Pooler: c.Pooler,
			DeadAfter: time.Duration(c.DeadAfter), StatementTimeout: time.Duration(c.StatementTimeout)})
	} else {
		d, err = sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "courant.db")})
	}
	if err != nil {
		return err
	}
	p.close = append(p.close, d.Close)
	p.Store, err = store.Open(ctx, d, p.log("store"))
	return err
}

func (p *Platform) openBlobs(_ context.Context, dir string) error {
	where := cmp.Or(p.Config.Blob.Dir, filepath.Join(dir, "blobs"))
	d, err := folder.Open(folder.Folder{Dir: where, Full: store.ErrFull})
	if err == nil {
		p.Blobs = blob.Bucket{Driver: d}
		p.close = append(p.close, d.Close)
	}
	return err
}

func (p *Platform) openBus(ctx context.Context, dir string) (err error) {
	var d bus.Driver = &membus.Driver{}
	if c := p.Config.Bus; c.Kind == "nats" {
		nc := natsbus.Config{URL: c.URL, Token: c.Token, Replicas: c.Replicas, MaxAge: time.Duration(c.MaxAge), MaxBytes: int64(c.MaxBytes),
			Prefix: c.Prefix, Creds: c.Creds, TLSCA: c.TLSCA, Log: p.log("bus"), Connected: func(on bool) { p.Metrics.Gauge("courant_bus_connected", oneIf(on)) }}
		if c.URL == "" {
			nc.Listen, nc.Dir = c.Listen, filepath.Join(dir, "bus")
		}
		if d, err = natsbus.Open(ctx, nc); err != nil {
			return err
		}
	}
	p.close = append(p.close, d.Close)
	p.Bus = &bus.Bus{Driver: d, Log: p.log("bus"), Observe: func(topic, group, verdict string, took time.Duration) {
		p.Metrics.Add("courant_bus_messages_total", 1, "topic", topic, "group", group, "verdict", verdict)
	}}
	return nil
}

// Close closes what Open opened, the last first.
func (p *Platform) Close() error {
	var errs []error
	for i := len(p.close) - 1; i >= 0; i-- {
		errs = append(errs, p.close[i]())
	}
	p.close = nil
	return errors.Join(errs...)
}

func (p *Platform) log(role string) *slog.Logger { return p.Logger.With("role", role) }

// client is robot's downloader with the guard of its addresses. own returns the
// addresses that this process listens on, which must not be fetched from; nil for none.
func (c Config) client(own func() []netip.AddrPort) (*client.Client, *guard.Guard, error) {
	exempts, err := c.exempts()
	if err != nil {
		return nil, nil, err
	}
	g := &guard.Guard{Allow: exempts, Own: own}
	down, err := client.New(client.Config{Guard: g, Proxy: c.Robot.Proxy, UserAgent: c.Robot.UserAgent, Timeout: time.Duration(c.Robot.Timeout)})
	return down, g, err
}

// client is the downloader of a role: robot, and websub for its requests to hubs. The
// first role of a process that uses a proxy logs that.
func (p *Platform) client(role string) (*client.Client, error) {
	c, _, err := p.Config.client(func() []netip.AddrPort { return p.listeners })
	if err == nil && c.Proxied() {
		p.proxied.Do(func() {
			p.log(role).Info("requests go through a proxy, which must block private addresses")
		})
	}
	return c, err
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

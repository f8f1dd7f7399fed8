// Package sample is a small built-in web to try Courant with: a newspaper that keeps
// publishing, a town hall, a broken feed, a feed that publishes under others' addresses,
// and a shop. It is served on loopback, needs no network, and its content depends only
// on the time of day.
package sample

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Web is the sites. Call Open, then Run.
type Web struct {
	Port int              // of the first site, the others follow; free ports if 0 or taken
	Now  func() time.Time // time.Now unless set

	started time.Time
	sites   []site
	album   album
}

// site is one site at its own address.
type site struct {
	name, title, feed string // of the source, and the path of its feed
	listener          net.Listener
	origin            string
	handler           http.Handler
}

// Source is a feed or, with Shop, a catalogue of the sample.
type Source struct {
	Name, Title, URL string
	Shop             bool
}

// Names are the names of all sources of the sample.
func Names() []string {
	return []string{"sample-news", "sample-town", "sample-broken", "sample-foreign", "sample-shop"}
}

// Open opens the listeners.
func (w *Web) Open() error {
	if w.Now == nil {
		w.Now = time.Now
	}
	w.started = w.Now()
	feeds := []string{"/feed.xml", "/notices.atom", "/rss", "/megaphone.xml", "/catalogue.yml"}
	titles := []string{"The Harbour Courier", "Town hall", "Радиокружок «Маяк»", "The Gull's Megaphone", "The Print Room"}
	for i, name := range Names() {
		s := site{name: name, title: titles[i], feed: feeds[i]}
		if err := s.listen(i, w.Port); err != nil {
			return errors.Join(fmt.Errorf("sample web: %w", err), w.close())
		}
		w.sites = append(w.sites, s)
	}
	news := w.sites[0].origin
	w.sites[0].handler = w.courier(news)
	w.sites[1].handler = w.town(w.sites[1].origin, news)
	w.sites[2].handler = w.broken(w.sites[2].origin)
	w.sites[3].handler = w.gull(w.sites[3].origin, news)
	w.sites[4].handler = w.shop(w.sites[4].origin)
	return nil
}

// listen gives every site its own address and so its own host, because a source may
// replace pages of its own host. If loopback has only one address, the later sites use
// the name localhost.
func (s *site) listen(i, first int) (err error) {
	port := first + i
	if first == 0 {
		port = 0
	}
	host := fmt.Sprintf("127.0.0.%d", i+1)
	name := host
	for _, try := range []struct {
		host string
		port int
	}{{host, port}, {host, 0}, {"127.0.0.1", port}, {"127.0.0.1", 0}} {
		if s.listener, err = net.Listen("tcp4", fmt.Sprintf("%s:%d", try.host, try.port)); err != nil {
			continue
		}
		if try.host != host {
			name = "localhost"
		}
		s.origin = fmt.Sprintf("http://%s:%d", name, s.listener.Addr().(*net.TCPAddr).Port)
		return nil
	}
	return err
}

// Sources are the feeds and the catalogue, one per site.
func (w *Web) Sources() (out []Source) {
	for _, s := range w.sites {
		out = append(out, Source{s.name, s.title, s.origin + s.feed, s.name == "sample-shop"})
	}
	return out
}

// Addresses are the addresses of the listeners, as IP:port.
func (w *Web) Addresses() (out []string) {
	for _, s := range w.sites {
		out = append(out, s.listener.Addr().String())
	}
	return out
}

// Run serves until ctx ends.
func (w *Web) Run(ctx context.Context) error {
	ended := make(chan error, len(w.sites))
	var servers []*http.Server
	for _, s := range w.sites {
		server := &http.Server{Handler: s.handler, ReadHeaderTimeout: 10 * time.Second}
		servers = append(servers, server)
		go func() { ended <- server.Serve(s.listener) }()
	}
	<-ctx.Done()
	var errs []error
	for _, server := range servers {
		errs = append(errs, server.Close())
	}
	for range servers {
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (w *Web) close() error {
	var errs []error
	for _, s := range w.sites {
		errs = append(errs, s.listener.Close())
	}
	return errors.Join(errs...)
}

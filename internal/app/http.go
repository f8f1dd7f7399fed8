package app

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/courant-platform/courant/internal/kit/admission"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/web"
)

// clientPatience is how long a client may take to receive a MiB of an answer.
const clientPatience = 2 * time.Minute

// listen opens the HTTP address.
func (p *Platform) listen() (net.Listener, error) {
	l, err := net.Listen("tcp", p.Config.HTTP.Listen)
	if err != nil {
		return nil, conflict("http.listen: %w; choose another address with --listen", err)
	}
	a := l.Addr().(*net.TCPAddr).AddrPort()
	p.listeners = append(p.listeners, netip.AddrPortFrom(a.Addr().Unmap(), a.Port()))
	p.session = newSession(a)
	p.gate.Session = p.session.Token
	return l, nil
}

// register adds the handlers that every process has, whatever its roles.
func (p *Platform) register(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") })
	mux.Handle("GET /readyz", p.newHealth())
	mux.HandleFunc("GET /api/v1/config", p.gate.Admit(web.Plain(http.HandlerFunc(p.showConfig))))
	for pattern, h := range map[string]http.Handler{
		"GET /metrics": p.Metrics.Handler(), "GET /debug/pprof/": http.HandlerFunc(pprof.Index), "GET /debug/pprof/profile": http.HandlerFunc(pprof.Profile),
	} {
		mux.HandleFunc(pattern, p.gate.Admit(web.Plain(h)))
	}
}

// showConfig answers with the effective configuration as a file, without passwords.
func (p *Platform) showConfig(w http.ResponseWriter, r *http.Request) {
	text, err := p.Config.Text()
	if err != nil {
		web.Fail(w, r, p.log("http"), err)
		return
	}
	w.Header().Set("Content-Type", "application/toml; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	io.WriteString(w, text) // the client may have gone
}

// http serves until ctx ends, then lets running requests finish.
func (p *Platform) http(ctx context.Context, mux *http.ServeMux, l net.Listener) error {
	s := &http.Server{Handler: p.handler(mux), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	done := make(chan error, 1)
	go func() {
		done <- s.Serve(&fairListener{Listener: l, each: p.Config.HTTP.ConnectionsPerClient, proxies: p.proxies})
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := s.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.Close()
	}
	<-done
	return err
}

// handler is all that a request passes before its handler: the log and the metrics, the
// check of its Host header, and the admission.
func (p *Platform) handler(mux *http.ServeMux) http.Handler {
	door := &admission.Door{Gate: p.admission(), Next: mux, Client: p.clientOf, Rule: func(r *http.Request) admission.Rule {
		_, pattern := mux.Handler(r)
		return rule(pattern)
	}}
	return &observer{platform: p, mux: mux, next: web.Hosts(p.hosts(), door), log: p.log("http")}
}

// admission is the gate of this process. Requests need a core with a SQLite store, and
// mostly wait for the network with PostgreSQL. One core is for all that is no request's turn:
// with all of them in use, Go looks for arriving requests only every 10 ms.
func (p *Platform) admission() *admission.Gate {
	slots := max(runtime.GOMAXPROCS(0)-1, 1)
	if p.Config.Store.URL != "" {
		slots = max(p.Config.Store.Conns/2, slots)
	}
	return &admission.Gate{Slots: slots}
}

// rule is how the requests of a pattern are admitted.
func rule(pattern string) admission.Rule {
	switch pattern {
	case "GET /healthz", "GET /readyz":
		return admission.Rule{}
	case "GET /search", "GET /api/v1/search", "GET /api/v1/suggest", "GET /debug/pprof/profile":
		return admission.Rule{Kind: pattern, Outside: true} // the search has an admission of its own
	}
	return admission.Rule{Kind: cmp.Or(pattern, "none")}
}

// clientOf is who sends a request: holders of a token are one client.
func (p *Platform) clientOf(r *http.Request) admission.Client {
	if p.gate.Known(r) {
		return admission.Holders
	}
	return admission.ClientOf(r, p.proxies)
}

// hosts are the names under which this server answers, besides those of this machine.
func (p *Platform) hosts() (allowed []string) {
	if u, err := url.Parse(p.Config.HTTP.PublicURL); err == nil && u.Host != "" {
		allowed = append(allowed, u.Host, u.Hostname(), link.Host(p.Config.HTTP.PublicURL)) // a proxy may leave out the port; IDNs come in ASCII
	}
	if host, _, err := net.SplitHostPort(p.Config.HTTP.Listen); err == nil {
		allowed = append(allowed, host)
	}
	return allowed
}

// observer counts requests, and logs them if log.access is set.
type observer struct {
	platform *Platform
	mux      *http.ServeMux
	next     http.Handler
	log      *slog.Logger
}

func (o *observer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	_, route := o.mux.Handler(r)
	if _, path, ok := strings.Cut(route, " "); ok {
		route = path
	}
	out := &web.Writer{ResponseWriter: w, Patience: clientPatience}
	defer func() {
		took, status := time.Since(began), cmp.Or(out.Status, http.StatusOK)
		if r.Context().Err() != nil && out.Status == 0 {
			status = web.ClientGone
		}
		m := o.platform.Metrics
		m.Add("courant_http_requests_total", 1, "route", cmp.Or(route, "none"), "method", method(r.Method), "code", strconv.Itoa(status))
		m.Observe("courant_http_seconds", took, "route", cmp.Or(route, "none"))
		if o.platform.Config.Log.Access {
			o.log.Info("request", "client", admission.ClientOf(r, o.platform.proxies), "method", r.Method, "path", r.URL.Path, "status", status,
				"bytes", out.Bytes, "seconds", took.Seconds())
		}
	}()
	o.next.ServeHTTP(out, r)
}

// method keeps the number of label values small: a client may send any word.
func method(name string) string {
	switch name {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return name
	}
	return "other"
}

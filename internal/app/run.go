package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/app/sample"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/store"
)

// Options are the parameters of one run beyond its configuration.
type Options struct {
	Roles  []string // all if empty
	Data   string   // folder
	Sample bool     // serve the built-in sample web and collect it
	Zone   string   // of this process
	Out    io.Writer

	sample *sample.Web // while Sample
}

// Run runs the roles until ctx ends or one of them fails.
func Run(ctx context.Context, c Config, o Options) error {
	roles, err := Named(o.Roles)
	if err != nil {
		return err
	}
	if err := c.CheckFiles(namesOf(roles, o.Roles)...); err != nil {
		return err
	}
	return run(ctx, c, o, roles)
}

// run opens the backends, builds all roles, prints the greeting, and then starts the
// roles: if one cannot be built, none is started and no token is shown.
func run(ctx context.Context, c Config, o Options, roles []Role) (err error) {
	held, err := OpenFolder(o.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	if o.Sample {
		var stop func() error
		if o.sample, stop, err = startSample(ctx, &c); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	p, err := Open(ctx, c, o.Data, NewLog(c.Log, os.Stderr))
	if err != nil {
		return err
	}
	p.options = o
	defer func() { err = errors.Join(err, p.Close()) }()
	for _, warning := range append(c.Renamed(), renamedIn(o.Roles)...) {
		p.Logger.Warn("old name used", "detail", warning)
	}
	listener, err := p.listen()
	if err != nil {
		return err
	}
	defer listener.Close() // the server has closed it, or never got it
	built, err := p.build(roles)
	if err != nil {
		return err
	}
	if err := p.greet(ctx, held); err != nil {
		return err
	}
	p.logStart(roles)
	return p.run(ctx, built, listener)
}

// Check says whether the configuration fits the roles: their names exist and, if the
// process runs only some roles, processes can share the bus and the store.
func (c Config) Check(roles []string) error {
	if err := c.validate(); err != nil {
		return err
	}
	if _, err := Named(roles); err != nil {
		return err
	}
	if len(roles) == 0 || c.Bus.Kind == "nats" && c.Store.URL != "" {
		return nil
	}
	return courant.Errorf(courant.Invalid, "roles in separate processes need a shared bus and store: set bus.kind = \"nats\" and store.url = \"postgres://…\"")
}

// newSession is what commands need to reach this process.
func newSession(a netip.AddrPort) session {
	return session{PID: os.Getpid(), Address: "http://" + reachable(a), Token: rand.Text()}
}

// reachable is the address as this machine itself can connect to it.
func reachable(a netip.AddrPort) string {
	if a.Addr().IsUnspecified() {
		return fmt.Sprintf("127.0.0.1:%d", a.Port())
	}
	return a.String()
}

// greet publishes the address for commands and prints it for people, with the first
// token when that is created.
func (p *Platform) greet(ctx context.Context, held *Folder) error {
	o := p.options
	var err error
	if o.sample != nil {
		err = p.addSample(ctx, o.sample)
	} else {
		err = p.dropSample(ctx, o.Roles)
	}
	if err != nil {
		return err
	}
	if err := held.publish(p.session); err != nil {
		return err
	}
	token, err := p.gate.FirstToken(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "courant %s\n  pages  %s/\n", Version(), p.session.Address)
	if token != "" {
		fmt.Fprintf(o.Out, "  token  %s   (for the API; shown only once)\n", token)
	}
	if o.sample != nil {
		fmt.Fprintln(o.Out, "The sample web publishes new articles while it runs. Ctrl-C stops it.")
	}
	return nil
}

// logStart logs what this process is.
func (p *Platform) logStart(roles []Role) {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = r.Name
	}
	c := p.Config
	p.Logger.Info("started", "version", Version(), "address", p.session.Address, "roles", strings.Join(names, " "), "data", p.dir,
		"store", cmp.Or(link.Redact(c.Store.URL), "SQLite"), "bus", cmp.Or(link.Redact(c.Bus.URL), c.Bus.Kind), "blobs", cmp.Or(c.Blob.Dir, "in the data folder"))
}

// built is the roles of a process, ready to start.
type built struct {
	handlers []bus.Handler
	tasks    []task
	mux      *http.ServeMux
}

// task is something that a role runs until its context ends.
type task struct {
	role string
	run  func(context.Context) error
}

// build builds roles. Nothing runs yet.
func (p *Platform) build(roles []Role) (built, error) {
	b := built{mux: http.NewServeMux()}
	p.roles = map[string]bool{}
	for _, role := range roles {
		p.roles[role.Name] = true
	}
	for _, role := range roles {
		u, err := role.build(p)
		if err != nil {
			return b, err
		}
		b.handlers = append(b.handlers, u.handlers...)
		if u.register != nil {
			u.register(b.mux)
		}
		for _, run := range u.runs {
			b.tasks = append(b.tasks, task{role.Name, run})
		}
	}
	p.register(b.mux)
	return b, nil
}

// run starts what was built. When ctx ends or a task fails, it stops the intake and
// gives running handlers their grace period. When it returns, nothing is running.
func (p *Platform) run(ctx context.Context, b built, l net.Listener) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for _, t := range append(b.tasks,
		task{"relay", store.Relay{Store: p.Store, Publish: p.Bus.Publish}.Run},
		task{"bus", func(ctx context.Context) error { return p.Bus.Run(ctx, b.handlers...) }},
		task{"http", func(ctx context.Context) error { return p.http(ctx, b.mux, l) }}) {
		all.Go(func() {
			if err := t.run(ctx); err != nil {
				cancel(fmt.Errorf("%s: %w", t.role, err))
			}
		})
	}
	<-ctx.Done()
	cause := context.Cause(ctx)
	p.Logger.Info("stopping", "reason", cause)
	if err := p.stopped(&all); err != nil {
		return err
	}
	p.Logger.Info("stopped")
	if !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// stopGrace is how long the roles may take to stop: more than running requests and messages
// are given.
const stopGrace = 20 * time.Second

// stopped waits until all roles have ended. After the grace time it gives up, and what they
// may still use is not closed: the end of the process does that.
func (p *Platform) stopped(all *sync.WaitGroup) error {
	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(ended)
	}()
	late := time.NewTimer(stopGrace)
	defer late.Stop()
	select {
	case <-ended:
		return nil
	case <-late.C:
		p.close = nil
		return fmt.Errorf("some roles have not stopped within %v; what they were doing is done again at the next start", stopGrace)
	}
}

package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/courant-platform/courant/internal/kit/guard"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/bus/faultbus"
	"github.com/courant-platform/courant/internal/port/bus/membus"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/faultstore"
	"github.com/courant-platform/courant/internal/stage/media"
	"github.com/courant-platform/courant/internal/stage/pages"
	"github.com/courant-platform/courant/internal/stage/parse"
	"github.com/courant-platform/courant/internal/stage/retain"
	"github.com/courant-platform/courant/internal/stage/robot"
	"github.com/courant-platform/courant/internal/stage/robot/client"
	"github.com/courant-platform/courant/internal/stage/schedule"
	"github.com/courant-platform/courant/internal/stage/websub"
)

// faults are the rates of injected faults, from 0 to 1.
type faults struct {
	drop, repeat, delay  float64 // messages
	before, after, crash float64 // transactions
}

// process is one process of the platform; the store and the blobs survive it.
type process struct {
	seed   uint64
	db     store.Driver
	blobs  blob.Bucket
	web    *pipes
	hub    *hub
	faults faults
	gap    time.Duration
	log    *slog.Logger
}

// run runs the platform until ctx ends or the fault injector crashes it; it reports
// which.
func (p process) run(ctx context.Context) (crashed bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	faulty := &faultstore.Driver{Driver: p.db, Seed: p.seed, Before: p.faults.before, After: p.faults.after, Crash: p.faults.crash, OnCrash: cancel}
	s, err := store.Open(ctx, faulty, p.log)
	if err != nil {
		return faulty.Dead(), nil // it may have crashed at its start
	}
	carrier := &faultbus.Driver{Driver: &membus.Driver{}, Seed: p.seed,
		Drop: p.faults.drop, Repeat: p.faults.repeat, Delay: p.faults.delay, MaxDelay: 20 * time.Second}
	defer carrier.Close()
	b := &bus.Bus{Log: p.log, Grace: time.Second, Driver: carrier}
	c, err := client.New(client.Config{Guard: &guard.Guard{}, UserAgent: "courant/sim", Dial: p.web.dial})
	if err != nil {
		return false, err
	}
	defer c.Close()
	handlers, runs, callbacks := p.stages(s, c)
	defer p.hub.live(callbacks)()
	runs = append(runs, store.Relay{Store: s, Publish: b.Publish}.Run)
	runs = append(runs, func(ctx context.Context) error { return b.Run(ctx, handlers...) })
	var all sync.WaitGroup
	errs := make([]error, len(runs))
	for i, run := range runs {
		all.Go(func() { errs[i] = run(ctx) })
	}
	all.Wait()
	if faulty.Dead() {
		return true, nil
	}
	return false, errors.Join(errs...)
}

func (p process) stages(s *store.Store, c *client.Client) (handlers []bus.Handler, runs []func(context.Context) error, callbacks *http.ServeMux) {
	owner := fmt.Sprint("process ", p.seed)
	rc, mc := robot.Defaults(), media.Defaults()
	rc.Gap, mc.Workers = setting.Duration(p.gap), 2
	sc := schedule.Config{MinInterval: setting.Duration(5 * time.Second), MaxInterval: setting.Duration(30 * time.Second), FirstInterval: setting.Duration(5 * time.Second)}
	ws := &websub.WebSub{Store: s, Blobs: p.blobs, Config: websub.Defaults(), Public: "http://platform.test", MaxFeed: 10 << 20,
		MinInterval: 5 * time.Second, Post: p.hub.Post, Log: p.log}
	callbacks = http.NewServeMux()
	ws.Register(callbacks)
	for _, stage := range []interface {
		Handlers() []bus.Handler
		Run(context.Context) error
	}{
		&schedule.Schedule{Store: s, Config: sc, Log: p.log},
		ws,
		&robot.Robot{Store: s, Blobs: p.blobs, Client: c, Config: rc, Owner: owner, Log: p.log},
		&parse.Parse{Store: s, Blobs: p.blobs, Config: parse.Defaults(), Pictures: true, Log: p.log},
		&media.Media{Store: s, Blobs: p.blobs, Config: mc, Log: p.log},
		&pages.Pages{Store: s, Config: pages.Config{Workers: 4}, Owner: owner, Log: p.log},
	} {
		handlers = append(handlers, stage.Handlers()...)
		runs = append(runs, stage.Run)
	}
	old := &retain.Retain{Store: s, Blobs: p.blobs, Config: retain.Config{Interval: setting.Duration(20 * time.Second)}, Owner: owner, Log: p.log}
	runs = append(runs, old.Run)
	return handlers, runs, callbacks
}

// pipes is an in-process network.
type pipes struct {
	accept chan net.Conn
	done   chan struct{}
}

func newPipes() *pipes { return &pipes{accept: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.accept <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.done:
		return nil, io.ErrClosedPipe
	}
}

// Accept, Close and Addr make it a net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accept:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.done:
	default:
		close(p.done)
	}
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// serve serves h on the pipes until stop is called.
func (p *pipes) serve(h http.Handler) (stop func()) {
	server := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() {
		defer close(done)
		server.Serve(p) // ends with Close
	}()
	return func() {
		server.Close()
		<-done
	}
}

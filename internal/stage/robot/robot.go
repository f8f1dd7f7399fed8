// Package robot downloads for all stages: it sends requests to each host at a pace
// that the host can bear, obeys its robots.txt, uses one connection, and never
// fetches what it has already. A host belongs to one robot at a time, by a lease that
// is checked before each request and again when the response is stored.
package robot

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/flow"
	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/read"
	"github.com/courant-platform/courant/internal/stage/robot/client"
)

// Config is the stage's section.
type Config struct {
	UserAgent          string           `toml:"user_agent" comment:"sent with every request; its first word selects the group in robots.txt"`
	Proxy              string           `toml:"proxy" comment:"http://host:port; if empty, the environment's HTTP_PROXY and HTTPS_PROXY"`
	AllowAddresses     []string         `toml:"allow_addresses" comment:"non-public addresses that may be fetched: IP[:port] or prefix[:port]"`
	Gap                setting.Duration `toml:"gap" comment:"minimum time between two requests to a host"`
	ConnectionsPerHost int              `toml:"connections_per_host"`
	Connections        int              `toml:"connections" comment:"maximum number of connections, over all hosts"`
	Timeout            setting.Duration `toml:"timeout" comment:"limit of a whole request"`
	MaxFeed            setting.Size     `toml:"max_feed" comment:"largest feed, after unpacking"`
	MaxCatalog         setting.Size     `toml:"max_catalog" comment:"largest catalogue, after unpacking"`
	MaxPicture         setting.Size     `toml:"max_picture"`
	KeepBodies         setting.Duration `toml:"keep_bodies" comment:"how long downloads are kept for subscribers"`
	KeepBodiesSize     setting.Size     `toml:"keep_bodies_size" comment:"maximum total size of the downloads that are kept"`
}

// Defaults returns the default configuration.
func Defaults() Config {
	return Config{
		UserAgent: "courant/0.1 (+https://github.com/courant-platform/courant)",
		Gap:       setting.Duration(500 * time.Millisecond), ConnectionsPerHost: 1, Connections: 256,
		Timeout: setting.Duration(30 * time.Second), MaxFeed: read.UsualFeed, MaxCatalog: 1 << 30, MaxPicture: 20 << 20,
		KeepBodies: setting.Duration(time.Hour), KeepBodiesSize: 1 << 30,
	}
}

// Robot is the stage.
type Robot struct {
	Store   *store.Store
	Blobs   blob.Bucket
	Client  *client.Client
	Config  Config
	Owner   string // this process, for leases
	Metrics *obs.Set
	Log     *slog.Logger

	// mu guards queue and its hosts, parts, sweptLast and errands.
	mu    sync.Mutex
	queue queue
	parts parts
	wake  chan struct{} // signals that a host may be ready
	want  chan struct{} // signals that a host is hungry
	look  chan struct{} // signals that the leases were renewed
	start sync.Once

	sweptLast int   // the partition that was swept last
	errands   int64 // id of the newest errand, below 0
}

// Handlers returns the stage's handlers. Every robot receives every notification and
// takes those for its hosts.
func (r *Robot) Handlers() []bus.Handler {
	return []bus.Handler{
		flow.SourceDue.Listen(func(_ context.Context, p flow.Poll) error {
			r.add(p.Origin, p.Partition, task{id: taskID{source: p.Source}, priority: pollPriority, wanted: p.AsOf})
			return nil
		}),
		flow.FetchWanted.Listen(func(_ context.Context, f flow.Fetch) error {
			if len(f.Hash) != len(taskID{}.hash) {
				return courant.Errorf(courant.Invalid, "fetch.wanted: digest must be %d bytes, not %d", len(taskID{}.hash), len(f.Hash))
			}
			r.add(f.Origin, f.Partition, task{id: taskID{hash: [16]byte(f.Hash)}, priority: int32(f.Priority), wanted: r.Store.Now().UnixMilli()})
			return nil
		}),
	}
}

// prepare sets up what a struct literal leaves empty.
func (r *Robot) prepare() {
	r.start.Do(func() {
		r.wake, r.want, r.look = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)
		r.queue.connections = r.Config.ConnectionsPerHost
		r.queue.groups.gap = r.gap()
	})
}

// add queues a task if its host is ours.
func (r *Robot) add(origin string, part int, t task) {
	r.prepare()
	r.mu.Lock()
	held, ok := r.parts[part]
	added := ok && r.queue.add(r.queue.host(origin, part, held.since.Add(r.gap())), t)
	r.mu.Unlock()
	if added {
		notify(r.wake)
	}
}

func notify(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

func (r *Robot) gap() time.Duration { return r.Config.Gap.Or(500 * time.Millisecond) }

// Run holds leases, looks for work and sends requests until ctx ends; then it waits
// for the requests under way.
func (r *Robot) Run(ctx context.Context) error {
	r.prepare()
	var all sync.WaitGroup
	all.Go(func() { r.hold(ctx) })
	all.Go(func() { r.clean(ctx) })
	all.Go(func() { r.sweeps(ctx) })
	all.Go(func() { r.fill(ctx) })
	all.Go(func() { r.dispatch(ctx) })
	all.Wait()
	return r.Store.Release(context.WithoutCancel(ctx), r.Owner)
}

// dispatch starts a goroutine for a task as soon as its host is ready.
func (r *Robot) dispatch(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	free := make(chan struct{}, max(r.Config.Connections, 1))
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		r.mu.Lock()
		h, t, wait := r.queue.pop(time.Now())
		r.mu.Unlock()
		if h == nil {
			if wait < 0 {
				wait = time.Hour
			}
			timer.Reset(wait)
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			case <-r.wake:
			}
			continue
		}
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return
		}
		running.Go(func() {
			defer func() { <-free }()
			r.serve(ctx, h, t)
		})
	}
}

// serve does the task if its preconditions hold: the lease, room on the disk, the
// host's state and its robots.txt. If not, it establishes them and puts the task back.
func (r *Robot) serve(ctx context.Context, h *host, t task) {
	now, part := time.Now(), h.part
	if t.errand() {
		part = t.trail.rules.part
	}
	left := r.lease(part).until.Sub(now)
	if ctx.Err() != nil || left < leaseReserve+time.Second {
		r.leave(h, t, now.Add(time.Second), false)
		return
	}
	if r.Store.Room(ctx) != nil {
		r.leave(h, t, now.Add(5*time.Second), false)
		return
	}
	ctx, cancel := r.whileHeld(context.WithoutCancel(ctx), part)
	defer cancel() // ends the requests; their results may be stored after it
	if known, learns := r.known(h, t, now); learns {
		next, errand := r.learn(ctx, h)
		r.learnt(h, t, errand, next)
		return
	} else if !known {
		r.leave(h, t, now.Add(time.Second), false)
		return
	}
	next, on := r.do(ctx, h, t)
	if on != nil {
		r.follow(h, t, *on, next)
		return
	}
	r.leave(h, t, next, true)
}

// whileHeld returns a context that ends shortly before the partition's lease ends.
// Renewals of the lease extend it.
func (r *Robot) whileHeld(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	first := r.lease(n)
	var check func()
	check = func() {
		now := r.lease(n)
		left := time.Until(now.until) - leaseReserve
		if now.lease.Epoch != first.lease.Epoch || left <= 0 {
			cancel()
			return
		}
		timer := time.AfterFunc(left, check)
		context.AfterFunc(ctx, func() { timer.Stop() })
	}
	check()
	return ctx, cancel
}

// do performs the task and returns the earliest time of the host's next request, and
// the task that continues elsewhere after a redirect.
func (r *Robot) do(ctx context.Context, h *host, t task) (time.Time, *task) {
	switch {
	case t.errand():
		return r.runErrand(ctx, h, t)
	case t.id.source != 0:
		return r.poll(ctx, h, t)
	}
	return r.fetch(ctx, h, t)
}

// leave gives the host back to the queue, and the task unless it is done.
func (r *Robot) leave(h *host, t task, next time.Time, done bool) {
	r.mu.Lock()
	if done {
		r.queue.done(h, t, next)
	} else {
		r.queue.back(h, t, next)
	}
	r.unlockAndNotify()
}

// Queued is the size of the queue in memory: hosts, and tasks that wait for them.
type Queued struct{ Hosts, Tasks int }

// Queued counts the queue.
func (r *Robot) Queued() (q Queued) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q.Hosts = len(r.queue.hosts)
	for _, h := range r.queue.hosts {
		q.Tasks += len(h.tasks)
	}
	return q
}

// unlockAndNotify unlocks r.mu, which its caller locked to give back a task, and wakes its waiters.
func (r *Robot) unlockAndNotify() {
	hungry := len(r.queue.hungry) > 0
	r.mu.Unlock()
	notify(r.wake)
	if hungry {
		notify(r.want)
	}
}

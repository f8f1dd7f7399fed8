package fleet

import (
	"context"
	"encoding/base64"
	"errors"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/search/degrade"
	"github.com/courant-platform/courant/internal/search/fleet/wire"
	"github.com/courant-platform/courant/internal/search/index"
	"github.com/courant-platform/courant/internal/search/shard"
)

// node is a replica: a process that holds some shards.
type node struct {
	name, zone, address string

	index  *index.Index // of this process; nil for others
	conn   *grpc.ClientConn
	client wire.ShardsClient

	state  index.Status // last reply to State
	docs   int
	silent int // calls of State in a row without a reply
	heard  bool
	asked  atomic.Int64 // queries since the last refresh
}

// row is a replica in the store.
type row struct{ name, zone, address string }

// read reads the replicas, and the zones that are off.
func (f *Fleet) read(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, refreshEvery)
	defer cancel()
	var rows []row
	off := map[string]bool{}
	err := f.Store.Read(ctx, func(r store.Reader) error {
		if err := r.Rows(func(s store.Rows) error {
			var n row
			err := s.Scan(&n.name, &n.zone, &n.address)
			rows = append(rows, n)
			return err
		}, readNodes); err != nil {
			return err
		}
		return r.Rows(func(s store.Rows) error {
			var zone string
			err := s.Scan(&zone)
			off[zone] = true
			return err
		}, readOff)
	})
	if err != nil {
		return err
	}
	key, err := token(ctx, f.Store)
	if err != nil {
		return err
	}
	return f.take(rows, off, key)
}

// take keeps known nodes, adds new ones, and ends those that are gone.
func (f *Fleet) take(rows []row, off map[string]bool, key string) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.nodes
	f.nodes, f.off = map[string]*node{}, off
	for _, r := range rows {
		n := before[r.name]
		delete(before, r.name)
		if n == nil {
			var failed error
			if n, failed = f.begin(r, key); failed != nil {
				err = errors.Join(err, failed)
				continue
			}
		}
		f.nodes[r.name] = n
	}
	for _, n := range before {
		n.end()
	}
	return err
}

// begin prepares calls to a replica. The first call connects.
func (f *Fleet) begin(r row, key string) (*node, error) {
	n := &node{name: r.name, zone: r.zone, address: r.address}
	if r.name == f.Own {
		n.index = f.Index
		return n, nil
	}
	conn, err := grpc.NewClient("passthrough:///"+r.address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithPerRPCCredentials(bearer(key)),
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: stateTime,
			Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second}}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 2 * time.Second}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(mostAnswer)))
	if err != nil {
		return nil, err
	}
	n.conn, n.client = conn, wire.NewShardsClient(conn)
	return n, nil
}

const (
	mostAnswer = 32 << 20        // bytes
	lastWords  = 5 * time.Second // for calls that are in flight
)

// end closes the connection after calls in flight have had time to finish.
func (n *node) end() { time.AfterFunc(lastWords, func() { n.close() }) }

func (n *node) close() error {
	if n.conn == nil {
		return nil
	}
	return n.conn.Close()
}

// seen is the reply of a replica to State.
type seen struct {
	state index.Status
	docs  int
	ok    bool // there was a reply
}

// look asks a replica for its state.
func (n *node) look(ctx context.Context) seen {
	if n.index != nil {
		return seen{n.index.Status(), n.index.Docs(), true}
	}
	ctx, cancel := context.WithTimeout(ctx, stateTime)
	defer cancel()
	r, err := n.client.State(ctx, &wire.StateRequest{})
	if err != nil {
		return seen{}
	}
	return seen{r.Status(), int(r.GetDocs()), true}
}

// take stores the reply of a replica.
func (n *node) take(s seen) {
	if !s.ok {
		n.silent++
		return
	}
	n.state, n.docs, n.heard, n.silent = s.state, s.docs, true, 0
}

// well reports whether a replica can be queried.
func (n *node) well() bool { return n.heard && n.silent < silences && n.state.Ready }

// ask queries a replica, and returns the load that it reports.
func (n *node) ask(ctx context.Context, a *index.Ask) (index.Part, degrade.Report, error) {
	n.asked.Add(1)
	if n.index != nil {
		p, err := n.index.Ask(ctx, a)
		return p, n.index.Status().Report, err
	}
	r, err := n.client.Find(ctx, wire.FromAsk(a))
	if err != nil {
		return index.Part{}, degrade.Report{}, err
	}
	load := r.GetLoad().Into()
	if why := r.GetRefused(); why != "" {
		return index.Part{}, load, courant.Errorf(courant.Busy, "%s", why)
	}
	return r.Into(), load, nil
}

// suggest has a replica complete a text.
func (n *node) suggest(ctx context.Context, b *index.Begin) ([]shard.Suggestion, error) {
	if n.index != nil {
		return n.index.Suggest(ctx, b)
	}
	all, err := n.client.Suggest(ctx, wire.FromBegin(b))
	return all.Into(), err
}

// token authenticates processes of one platform to each other.
func token(ctx context.Context, s *store.Store) (string, error) {
	key, err := s.Secret(ctx, "shards")
	return base64.RawURLEncoding.EncodeToString(key), err
}

// bearer sends the token with each call.
type bearer string

// GetRequestMetadata is the headers of a call.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// RequireTransportSecurity is false: replicas are in a private network.
func (b bearer) RequireTransportSecurity() bool { return false }

package fleet

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/search/fleet/wire"
	"github.com/courant-platform/courant/internal/search/index"
)

// Server serves the shards of this process to fronts of other processes.
type Server struct {
	Store   *store.Store
	Index   *index.Index
	Name    string // of this process
	Zone    string
	Address string // by which others reach it; that of the listener unless set
	Log     *slog.Logger

	wire.UnsafeShardsServer // so that a missing method is a compile error
}

// Serve serves on a listener and announces its address in the store until ctx ends; then
// it finishes the calls in flight.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	g := grpc.NewServer(grpc.UnaryInterceptor(s.guard), grpc.MaxRecvMsgSize(1<<20), grpc.ConnectionTimeout(5*time.Second),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}))
	wire.RegisterShardsServer(g, s)
	failed := make(chan error, 1)
	go func() { failed <- g.Serve(l) }()
	var all sync.WaitGroup
	all.Go(func() { s.announce(ctx, l.Addr().String()) })
	defer all.Wait()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	all.Wait() // first withdraw the address
	timer := time.AfterFunc(lastWords, g.Stop)
	defer timer.Stop()
	g.GracefulStop()
	return <-failed
}

const announceEvery = 5 * time.Second

// announce renews the row of this process in the store, and deletes it at the end.
func (s *Server) announce(ctx context.Context, address string) {
	if s.Address != "" {
		address = s.Address
	}
	tick := time.NewTicker(announceEvery)
	defer tick.Stop()
	for {
		err := s.Store.Write(ctx, func(tx *store.Tx) error {
			now := tx.Now()
			if _, err := tx.Exec(dropNodes, s.Name, address, store.Millis(now.Add(-forgetAfter))); err != nil {
				return err
			}
			_, err := tx.Exec(putNode, s.Name, s.Zone, address, store.Millis(now))
			return err
		})
		if err != nil && ctx.Err() == nil {
			s.Log.Warn("replica not announced; retrying", "error", err)
		}
		select {
		case <-ctx.Done():
			s.leave(context.WithoutCancel(ctx))
			return
		case <-tick.C:
		}
	}
}

// forgetAfter is the age at which a row that is not renewed is deleted.
const forgetAfter = 10 * time.Minute

func (s *Server) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := s.Store.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(dropNode, s.Name)
		return err
	}); err != nil {
		s.Log.Debug("replica not withdrawn; its row expires later", "error", err)
	}
}

// guard passes calls with the platform's token.
func (s *Server) guard(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	want, err := token(ctx, s.Store)
	if err != nil {
		return nil, status.Error(codes.Unavailable, "the store does not answer")
	}
	given := ""
	if m, ok := metadata.FromIncomingContext(ctx); ok {
		given = strings.TrimPrefix(strings.Join(m.Get("authorization"), ""), "Bearer ")
	}
	if subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 0 {
		return nil, status.Error(codes.Unauthenticated, "the token must be that of this platform")
	}
	return next(ctx, req)
}

// Find answers a query.
func (s *Server) Find(ctx context.Context, in *wire.Ask) (*wire.Part, error) {
	a := in.Into()
	if len(a.Shards) == 0 {
		return nil, status.Error(codes.InvalidArgument, "shards must not be empty")
	}
	p, err := s.Index.Ask(ctx, a)
	load := s.Index.Status().Report
	if errors.Is(err, courant.Busy) {
		return &wire.Part{Load: wire.FromLoad(load), Refused: err.Error()}, nil
	}
	if err != nil {
		return nil, status.FromContextError(err).Err()
	}
	return wire.FromPart(&p, load), nil
}

// Suggest completes a text.
func (s *Server) Suggest(ctx context.Context, in *wire.Begin) (*wire.Suggestions, error) {
	b := in.Into()
	if b.Most < 1 || b.Most > mostSuggestions || len(b.Shards) == 0 {
		return nil, status.Errorf(codes.InvalidArgument, "shards must not be empty, and most must be from 1 to %d", mostSuggestions)
	}
	all, err := s.Index.Suggest(ctx, b)
	if err != nil {
		return nil, err
	}
	return wire.FromSuggestions(all), nil
}

const mostSuggestions = 1000

// State returns the state of this replica.
func (s *Server) State(context.Context, *wire.StateRequest) (*wire.StateReply, error) {
	return wire.FromStatus(s.Index.Status(), s.Index.Docs()), nil
}

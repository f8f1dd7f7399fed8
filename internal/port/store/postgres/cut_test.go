package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/postgres"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

// behind opens a store over a proxy in front of a new server, with short time-outs, and
// returns its log too.
func behind(t *testing.T) (*store.Store, *storetest.Proxy, *lines) {
	t.Helper()
	dir := strings.TrimPrefix(strings.Fields(storetest.Postgres(t))[0], "host=")
	p := storetest.NewProxy(t, "unix", dir+"/.s.PGSQL.5432")
	host, port, err := net.SplitHostPort(p.Address)
	if err != nil {
		t.Fatal(err)
	}
	d, err := postgres.Open(t.Context(), postgres.Config{URL: "host=" + host + " port=" + port + " user=postgres dbname=postgres sslmode=disable connect_timeout=1",
		DeadAfter: time.Second, StatementTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	var l lines
	s, err := store.Open(t.Context(), d, slog.New(slog.NewTextHandler(&l, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return s, p, &l
}

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestASilentCutEndsWhatWaitsAndIsLoggedOnce(t *testing.T) {
	s, p, log := behind(t)
	write := func(name string) error {
		return s.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(`INSERT INTO secrets (name, value) VALUES ($1, $2)`, name, []byte{1})
			return err
		})
	}
	if err := write("before"); err != nil {
		t.Fatal(err)
	}
	p.Cut(true)
	began := time.Now()
	var all sync.WaitGroup
	for range 20 { // more than there are connections
		all.Go(func() {
			if err := write("during"); !errors.Is(err, courant.Busy) || !errors.Is(err, store.ErrAway) {
				t.Errorf("a write ends with %v", err)
			}
			if err := s.Rows(t.Context(), func(store.Rows) error { return nil }, `SELECT name FROM secrets`); !errors.Is(err, store.ErrAway) {
				t.Errorf("a read ends with %v", err)
			}
		})
	}
	all.Wait()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("they ended after %v", took)
	}
	if _, err := s.Secret(t.Context(), "other"); !errors.Is(err, store.ErrAway) {
		t.Errorf("%v", err)
	}
	if err := s.Healthy(t.Context()); !errors.Is(err, store.ErrAway) {
		t.Errorf("its health is %v", err)
	}
	p.Cut(false)
	healed := time.Now()
	for write("after") != nil {
		if time.Since(healed) > 30*time.Second {
			t.Fatal("it does not work again")
		}
	}
	if n := strings.Count(log.String(), "\n"); n != 2 || !strings.Contains(log.String(), "does not answer") || !strings.Contains(log.String(), "answers again") {
		t.Errorf("%d lines:\n%s", n, log)
	}
	if strings.Contains(log.String(), "busy") {
		t.Errorf("the kind of the error is in its text: %s", log)
	}
}

func TestTheEndOfACallerIsNoOutage(t *testing.T) {
	s, _, log := behind(t)
	err := s.Rows(expired(t), func(store.Rows) error { return nil }, `SELECT name FROM secrets`)
	if err == nil || errors.Is(err, store.ErrAway) || log.String() != "" {
		t.Errorf("%v, %s", err, log)
	}
}

func TestAStandbyIsReadOnlyAndBusy(t *testing.T) {
	s, _, log := behind(t)
	err := s.Write(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Exec(`SET TRANSACTION READ ONLY`); err != nil {
			return err
		}
		_, err := tx.Exec(`DELETE FROM secrets`)
		return err
	})
	if !errors.Is(err, store.ErrReadOnly) || !errors.Is(err, courant.Busy) {
		t.Errorf("%v", err)
	}
	if err := s.Healthy(t.Context()); err != nil {
		t.Errorf("afterwards: %v, %s", err, log)
	}
}

func TestAStatementThatTakesTooLongIsBusyAndNoOutage(t *testing.T) {
	s, _, log := behind(t)
	err := s.Rows(t.Context(), func(store.Rows) error { return nil }, `SELECT pg_sleep(20)`)
	if !errors.Is(err, courant.Busy) || errors.Is(err, store.ErrAway) || log.String() != "" {
		t.Errorf("%v, %s", err, log)
	}
}

// expired is the context of a caller that has ended.
func expired(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

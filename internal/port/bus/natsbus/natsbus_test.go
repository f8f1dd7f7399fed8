package natsbus_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/bus/bustest"
	"github.com/courant-platform/courant/internal/port/bus/natsbus"
)

const anywhere = "127.0.0.1:0"

func TestEmbedded(t *testing.T) {
	bustest.Run(t, func(t *testing.T) bus.Driver { return open(t, natsbus.Config{Dir: t.TempDir()}) })
}

func TestExternal(t *testing.T) {
	server := open(t, natsbus.Config{Listen: anywhere, Token: "secret"})
	var world atomic.Int64
	bustest.Run(t, func(t *testing.T) bus.Driver {
		prefix := "world" + strconv.FormatInt(world.Add(1), 10)
		return open(t, natsbus.Config{URL: server.URL(), Token: "secret", Prefix: prefix})
	})
}

func open(t testing.TB, config natsbus.Config) *natsbus.Driver {
	t.Helper()
	d, err := natsbus.Open(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

var numbers = bus.Topic[int]{Name: "number.drawn"}

func publish(t *testing.T, d bus.Driver, n ...int) {
	t.Helper()
	name, payloads := numbers.Encode(n...)
	if err := (&bus.Bus{Driver: d}).Publish(t.Context(), name, payloads); err != nil {
		t.Fatal(err)
	}
}

func TestProcessesShareAGroup(t *testing.T) {
	t.Parallel()
	here := open(t, natsbus.Config{Listen: anywhere})
	there := open(t, natsbus.Config{URL: here.URL()})
	var handled [2]atomic.Int64
	both := make(chan struct{})
	var busy atomic.Int64
	handler := func(i int) bus.Handler {
		return numbers.Handle("parse", 1, func(ctx context.Context, _ int) error {
			if busy.Add(1) == 2 {
				close(both)
			}
			select { // waits until both processes have one
			case <-both:
			case <-ctx.Done():
			}
			handled[i].Add(1)
			return nil
		})
	}
	bustest.Start(t, &bus.Bus{Driver: here, Grace: time.Millisecond}, handler(0))
	bustest.Start(t, &bus.Bus{Driver: there, Grace: time.Millisecond}, handler(1))
	publish(t, here, 1, 2, 3, 4, 5)
	publish(t, there, 6, 7, 8, 9, 10)
	bustest.Until(t, "all are handled", func() bool { return handled[0].Load()+handled[1].Load() == 10 })
	if handled[0].Load() == 0 || handled[1].Load() == 0 {
		t.Error("one process handled everything")
	}
}

func TestMessagesOfADeadProcessGoToOthers(t *testing.T) {
	t.Parallel()
	config := natsbus.Config{Listen: anywhere, Silence: time.Second}
	here := open(t, config)
	config.URL, config.Listen = here.URL(), ""
	there := open(t, config)
	dies, err := there.Subscribe(t.Context(), numbers.Name, "parse")
	if err != nil {
		t.Fatal(err)
	}
	publish(t, here, 1)
	if _, err := dies.Receive(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	there.Close() // without closing the subscription, so no message is given back
	handled := make(chan int, 10)
	bustest.Start(t, &bus.Bus{Driver: here}, numbers.Handle("parse", 1, keep(handled)))
	select {
	case <-handled:
	case <-time.After(bustest.Patience):
		t.Fatalf("the message was not delivered again within %v", bustest.Patience)
	}
	dies.Close()
}

func TestAMessageBeingHandledIsNotGivenToOthers(t *testing.T) {
	t.Parallel()
	d := open(t, natsbus.Config{Silence: time.Second})
	var begun atomic.Int64
	done := make(chan struct{})
	bustest.Start(t, &bus.Bus{Driver: d}, numbers.Handle("parse", 2, func(context.Context, int) error {
		if begun.Add(1) == 1 {
			<-time.After(2500 * time.Millisecond)
			close(done)
		}
		return nil
	}))
	publish(t, d, 1)
	<-done
	if begun.Load() != 1 {
		t.Errorf("the message was delivered %d times, want once", begun.Load())
	}
}

func keep(handled chan<- int) func(context.Context, int) error {
	return func(ctx context.Context, n int) error {
		select {
		case handled <- n:
		case <-ctx.Done():
		}
		return nil
	}
}

func TestAWrongConfigIsRefused(t *testing.T) {
	for name, config := range map[string]natsbus.Config{
		"open to the world without a token": {Listen: "0.0.0.0:0"},
		"listening everywhere":              {Listen: ":0"},
		"no address":                        {Listen: "localhost"},
		"no port":                           {Listen: "localhost:many"},
		"internal and external":             {Listen: anywhere, URL: "nats://localhost:1"},
		"a prefix of two words":             {Prefix: "a.b"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := natsbus.Open(t.Context(), config)
			if err == nil {
				d.Close()
			}
			if !errors.Is(err, courant.Invalid) {
				t.Errorf("got %v, want courant.Invalid", err)
			}
		})
	}
}

func TestAServerMayComeLater(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	var connected atomic.Int32
	connected.Store(-1)
	d := open(t, natsbus.Config{URL: "nats://" + at, Timeout: timeout, Connected: func(on bool) {
		connected.Store(0)
		if on {
			connected.Store(1)
		}
	}})
	began := time.Now()
	if err := d.Publish(t.Context(), numbers.Name, [][]byte{[]byte("1")}); !errors.Is(err, bus.Away) || !errors.Is(err, courant.Busy) {
		t.Errorf("publishing without a server: %v", err)
	}
	if took := time.Since(began); took > timeout {
		t.Errorf("it took %v", took)
	}
	if connected.Load() != 0 {
		t.Errorf("it says that it is connected: %d", connected.Load())
	}
	handled, heard := make(chan int, 1e5), make(chan int, 1e5)
	start(t, &bus.Bus{Driver: d}, numbers.Handle("parse", 2, keep(handled)), numbers.Listen(keep(heard)))
	server := open(t, natsbus.Config{Listen: at, Timeout: timeout})
	t.Logf("flows after %v and %v", flows(t, server, handled), flows(t, d, heard))
	if connected.Load() != 1 {
		t.Errorf("it does not say that it is connected: %d", connected.Load())
	}
}

// start runs a bus until the end of the test, without waiting for its subscriptions.
func start(t *testing.T, b *bus.Bus, handlers ...bus.Handler) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx, handlers...) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestAWrongTokenIsRefused(t *testing.T) {
	server := open(t, natsbus.Config{Listen: anywhere, Token: "secret"})
	if d, err := natsbus.Open(t.Context(), natsbus.Config{URL: server.URL(), Token: "guess"}); err == nil {
		d.Close()
		t.Error("a wrong token was accepted")
	}
}

func TestCloseLeavesNothingOfTheServer(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	before := serverGoroutines()
	d := open(t, natsbus.Config{Listen: anywhere})
	publish(t, d, 1, 2, 3)
	for range 2 {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	bustest.Until(t, "no goroutine of the server is left", func() bool { return serverGoroutines() <= before })
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "courant-bus-*")); len(left) > 0 {
		t.Errorf("temporary folders left: %v", left)
	}
}

func serverGoroutines() int {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return strings.Count(string(stacks), "nats-server/v2/server.(*Server).startGoRoutine")
}

func BenchmarkPublishHandle(b *testing.B) {
	bustest.Benchmark(b, open(b, natsbus.Config{Dir: b.TempDir()}))
}

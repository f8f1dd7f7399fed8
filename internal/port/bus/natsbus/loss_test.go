package natsbus_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/bus/bustest"
	"github.com/courant-platform/courant/internal/port/bus/natsbus"
)

// timeout is the Config.Timeout of these tests.
const timeout = 4 * time.Second

// flows publishes a unique fact through a driver, again and again, until a handler gets
// it, and returns how long that took. No publish may hang.
func flows(t *testing.T, from bus.Driver, handled <-chan int) time.Duration {
	t.Helper()
	start := time.Now()
	mark := int(start.UnixNano())
	name, payloads := numbers.Encode(mark)
	for time.Since(start) < bustest.Patience {
		begun := time.Now()
		err := from.Publish(t.Context(), name, payloads)
		if took := time.Since(begun); took > 2*timeout {
			t.Errorf("publish took %v: %v", took, err)
		}
		if arrives(handled, mark) {
			return time.Since(start)
		}
	}
	t.Fatalf("no message arrived within %v", bustest.Patience)
	return 0
}

// arrives waits a moment for the mark and discards everything before it.
func arrives(handled <-chan int, mark int) bool {
	moment := time.After(50 * time.Millisecond)
	for {
		select {
		case n := <-handled:
			if n == mark {
				return true
			}
		case <-moment:
			return false
		}
	}
}

func TestTheDataFolderMayBeDeletedWhileRunning(t *testing.T) {
	t.Parallel()
	for name, doomed := range map[string]func(dir string) string{
		"the whole folder":   func(dir string) string { return dir },
		"JetStream's folder": func(dir string) string { return filepath.Join(dir, "jetstream") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "bus")
			here := open(t, natsbus.Config{Dir: dir, Listen: anywhere, Timeout: timeout})
			there := open(t, natsbus.Config{URL: here.URL(), Timeout: timeout})
			handledHere, handledThere, heard := make(chan int, 1e5), make(chan int, 1e5), make(chan int, 1e5)
			bustest.Start(t, &bus.Bus{Driver: here}, numbers.Handle("parse", 2, keep(handledHere)))
			bustest.Start(t, &bus.Bus{Driver: there},
				numbers.Handle("media", 2, keep(handledThere)), numbers.Listen(keep(heard)))
			for range 2 {
				flows(t, here, handledHere)
				stop := busy(t, there)
				if err := os.RemoveAll(doomed(dir)); err != nil && !strings.Contains(err.Error(), "not empty") {
					t.Fatal(err)
				}
				t.Logf("flows again after %v, %v and %v",
					flows(t, here, handledThere), flows(t, there, handledHere), flows(t, there, heard))
				bustest.Until(t, "the folder exists again", func() bool {
					_, err := os.Stat(filepath.Join(dir, "jetstream", "in-use"))
					return err == nil
				})
				stop()
				flows(t, here, handledThere)
			}
		})
	}
}

// busy publishes all the time and ignores errors.
func busy(t *testing.T, d bus.Driver) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		name, payloads := numbers.Encode(make([]int, 100)...)
		for ctx.Err() == nil {
			_ = d.Publish(ctx, name, payloads)
			<-time.After(10 * time.Millisecond)
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

func TestAServerMayRestart(t *testing.T) {
	t.Parallel()
	for name, wiped := range map[string]bool{"with its data": false, "without its data": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "bus")
			server := open(t, natsbus.Config{Dir: dir, Listen: anywhere, Timeout: timeout})
			url := server.URL()
			here, there := open(t, natsbus.Config{URL: url, Timeout: timeout}), open(t, natsbus.Config{URL: url, Timeout: timeout})
			handled, heard := make(chan int, 1e5), make(chan int, 1e5)
			bustest.Start(t, &bus.Bus{Driver: here},
				numbers.Handle("parse", 2, keep(handled)), numbers.Listen(keep(heard)))
			flows(t, there, handled)
			server.Close()
			if wiped {
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
			}
			open(t, natsbus.Config{Dir: dir, Listen: strings.TrimPrefix(url, "nats://")})
			t.Logf("flows again after %v and %v", flows(t, there, handled), flows(t, there, heard))
		})
	}
}

func TestAQueueSurvivesARestart(t *testing.T) {
	t.Parallel()
	config := natsbus.Config{Dir: t.TempDir()}
	d := open(t, config)
	s, err := d.Subscribe(t.Context(), numbers.Name, "parse")
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	publish(t, d, 1, 2, 3)
	d.Close()
	handled := make(chan int, 10)
	bustest.Start(t, &bus.Bus{Driver: open(t, config)}, numbers.Handle("parse", 1, keep(handled)))
	bustest.Until(t, "all three are handled", func() bool { return len(handled) == 3 })
}

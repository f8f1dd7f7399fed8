package natsbus

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/courant-platform/courant"
)

// embedded is a NATS server in this process. It is restarted when its data folder was
// deleted or JetStream has disabled itself: nothing in the folder is needed.
type embedded struct {
	options   server.Options
	log       *slog.Logger
	temporary bool // remove the folder when the server stops
	done      chan struct{}
	watching  sync.WaitGroup

	// mu guards current.
	mu      sync.Mutex
	current *server.Server // nil during a restart
}

// startEmbedded starts a server and watches it until stop.
func startEmbedded(config Config) (*embedded, error) {
	e := &embedded{log: config.Log, done: make(chan struct{})}
	e.options = server.Options{
		ServerName:    config.Prefix,
		DontListen:    config.Listen == "",
		Authorization: config.Token,
		JetStream:     true,
		StoreDir:      config.Dir,
		NoSigs:        true, // otherwise it would end our process at an interrupt
		NoLog:         true,
	}
	if config.Listen != "" {
		if err := e.listen(config); err != nil {
			return nil, err
		}
	}
	if config.Dir == "" {
		dir, err := os.MkdirTemp("", "courant-bus-")
		if err != nil {
			return nil, err
		}
		e.options.StoreDir, e.temporary = dir, true
	}
	if err := e.start(); err != nil {
		return nil, errors.Join(err, e.removeTemporary())
	}
	e.watching.Go(e.watch)
	return e, nil
}

// listen sets the address in the options.
func (e *embedded) listen(config Config) error {
	host, text, err := net.SplitHostPort(config.Listen)
	if err != nil {
		return courant.Errorf(courant.Invalid, "bus.listen must be HOST:PORT, not %q: %w", config.Listen, err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return courant.Errorf(courant.Invalid, "bus.listen must be HOST:PORT, not %q: %w", config.Listen, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && !ip.IsLoopback() && config.Token == "" {
		return courant.Errorf(courant.Invalid, "bus.listen %q can be reached from other machines: set bus.token", config.Listen)
	}
	e.options.Host, e.options.Port = host, int(port)
	if port == 0 {
		e.options.Port = server.RANDOM_PORT
	}
	return nil
}

// start creates a server and waits until it is ready.
func (e *embedded) start() error {
	const recovery = time.Minute // large streams take long to recover
	options := e.options
	s, err := server.NewServer(&options)
	if err != nil {
		return err
	}
	s.SetLoggerV2(logger{e.log}, false, false, false)
	s.Start()
	if !s.ReadyForConnections(recovery) || !s.JetStreamEnabled() {
		end(s)
		return fmt.Errorf("not ready after %v, data folder %s", recovery, e.options.StoreDir)
	}
	if address, ok := s.Addr().(*net.TCPAddr); ok {
		e.options.Port = address.Port // so that a restart uses the same port
	}
	if err := os.WriteFile(e.marker(), nil, 0o600); err != nil {
		end(s)
		return err
	}
	e.replace(s)
	return nil
}

// marker is a file next to the streams, which is gone when their folder was deleted. The
// server itself may not notice for a long time, because its open files still work.
func (e *embedded) marker() string {
	return filepath.Join(e.options.StoreDir, server.JetStreamStoreDir, "in-use")
}

// watch restarts the server when it has failed.
func (e *embedded) watch() {
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-e.done:
			return
		}
		reason := e.failure()
		if reason == "" {
			continue
		}
		e.log.Warn("restarting the bus server", "reason", reason)
		e.replace(nil) // before start: both need the address and the folder
		if err := e.start(); err != nil {
			e.log.Error("bus server did not start; retrying", "error", err)
		}
	}
}

// failure returns why the server does not work; empty if it works.
func (e *embedded) failure() string {
	s := e.server()
	if s == nil || !s.Running() {
		return "not running"
	}
	if !s.JetStreamEnabled() {
		return "JetStream is disabled"
	}
	if _, err := os.Stat(e.marker()); errors.Is(err, os.ErrNotExist) {
		return "data folder was deleted"
	}
	return ""
}

// replace makes s the current server and stops the previous one.
func (e *embedded) replace(s *server.Server) {
	e.mu.Lock()
	old := e.current
	e.current = s
	e.mu.Unlock()
	if old != nil {
		end(old)
	}
}

// end stops a server. It must be called only once: a second Shutdown can panic.
func end(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

func (e *embedded) stop() error {
	close(e.done)
	e.watching.Wait()
	e.replace(nil)
	return e.removeTemporary()
}

func (e *embedded) removeTemporary() error {
	if !e.temporary {
		return nil
	}
	return os.RemoveAll(e.options.StoreDir)
}

func (e *embedded) server() *server.Server {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.current
}

// InProcessConn connects to the current server.
func (e *embedded) InProcessConn() (net.Conn, error) {
	s := e.server()
	if s == nil {
		return nil, errors.New("bus server is restarting")
	}
	return s.InProcessConn()
}

func (e *embedded) url() string {
	s := e.server()
	if s == nil || e.options.DontListen {
		return ""
	}
	return s.ClientURL()
}

// logger logs the server's warnings and errors.
type logger struct{ log *slog.Logger }

func (l logger) Warnf(format string, v ...any) {
	l.log.Warn("bus server warning", "text", fmt.Sprintf(format, v...))
}
func (l logger) Errorf(format string, v ...any) {
	l.log.Error("bus server error", "text", fmt.Sprintf(format, v...))
}
func (l logger) Fatalf(format string, v ...any) { l.Errorf(format, v...) }
func (l logger) Noticef(string, ...any)         {}
func (l logger) Debugf(string, ...any)          {}
func (l logger) Tracef(string, ...any)          {}

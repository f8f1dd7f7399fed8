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

// embedded is a NATS server in this process. It is started anew when its data
// folder is gone or JetStream has given up: the folder holds nothing that
// cannot be lost.
type embedded struct {
	options   server.Options
	log       *slog.Logger
	temporary bool // the folder goes with the server
	done      chan struct{}
	watching  sync.WaitGroup

	// mu guards current.
	mu      sync.Mutex
	current *server.Server // nil between two
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
		NoSigs:        true, // or it would end our process at an interrupt
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

// listen reads the address into the options.
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

// start makes a server and waits until it is ready.
func (e *embedded) start() error {
	const recovery = time.Minute // of large streams is slow
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
		e.options.Port = address.Port // also after the next start
	}
	if err := os.WriteFile(e.sign(), nil, 0o600); err != nil {
		end(s)
		return err
	}
	e.replace(s)
	return nil
}

// sign is a file beside the streams, which goes when their folder goes. The
// server itself may not notice for long, since its open files still work.
func (e *embedded) sign() string {
	return filepath.Join(e.options.StoreDir, server.JetStreamStoreDir, "in-use")
}

// watch starts the server anew when it cannot work any more.
func (e *embedded) watch() {
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-e.done:
			return
		}
		reason := e.ailment()
		if reason == "" {
			continue
		}
		e.log.Warn("restarting the bus server", "reason", reason)
		e.replace(nil) // first: both want the address and the folder
		if err := e.start(); err != nil {
			e.log.Error("bus server did not start; retrying", "error", err)
		}
	}
}

// ailment says why the server cannot work; empty if it can.
func (e *embedded) ailment() string {
	s := e.server()
	if s == nil || !s.Running() {
		return "not running"
	}
	if !s.JetStreamEnabled() {
		return "JetStream is disabled"
	}
	if _, err := os.Stat(e.sign()); errors.Is(err, os.ErrNotExist) {
		return "data folder was deleted"
	}
	return ""
}

// replace puts s in the place of the present server and ends that one.
func (e *embedded) replace(s *server.Server) {
	e.mu.Lock()
	old := e.current
	e.current = s
	e.mu.Unlock()
	if old != nil {
		end(old)
	}
}

// end may be called once a server: a second Shutdown can panic.
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

// InProcessConn connects to whichever server is the present one.
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

// logger passes the server's warnings and errors on.
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

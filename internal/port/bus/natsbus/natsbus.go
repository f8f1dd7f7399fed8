// Package natsbus is the bus between processes: NATS with JetStream, in an embedded
// server or in an external server or cluster.
//
// Each topic is a stream and each group a durable consumer. They are created at first
// use and created again when they are gone: the whole data folder may be deleted at any
// time. Listen uses plain NATS, which stores nothing.
package natsbus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/port/bus"
)

// Config says where the server is. Its zero value is a server in this process that no
// other process can reach and that keeps nothing after Close.
type Config struct {
	// URL has the addresses of external servers, separated by commas. Empty: the server
	// is in this process.
	URL string

	// Listen is the address at which the server in this process accepts other processes,
	// such as "127.0.0.1:4222"; port 0 takes a free port. Empty: it accepts none. An
	// address that other machines can reach requires a Token.
	Listen string
	// Dir is the data folder of the server in this process. Empty: a temporary folder.
	Dir string

	Token string // of the server, internal or external
	Creds string // path of a credentials file for an external server
	TLSCA string // path of CA certificates to trust instead of the system's

	Prefix   string        // of subjects and streams, so that platforms can share a server; "courant"
	Replicas int           // of each stream, in a cluster; 1
	MaxAge   time.Duration // of a message; 24 h
	MaxBytes int64         // of a topic; beyond it the oldest messages are dropped; 64 MiB
	Silence  time.Duration // after which a process counts as dead and its messages go to others; 30 s
	Timeout  time.Duration // of publishing up to 1,000 messages, and of any other request; 5 s

	Log *slog.Logger // may be nil
	// Connected, if set, is called when the driver gets or loses its connection.
	Connected func(bool)
}

func (c *Config) fill() error {
	c.Prefix = cmp.Or(c.Prefix, "courant")
	c.Replicas = cmp.Or(c.Replicas, 1)
	c.MaxAge = cmp.Or(c.MaxAge, 24*time.Hour)
	c.MaxBytes = cmp.Or(c.MaxBytes, 64<<20)
	c.Silence = cmp.Or(c.Silence, 30*time.Second)
	c.Timeout = cmp.Or(c.Timeout, 5*time.Second)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Connected == nil {
		c.Connected = func(bool) {}
	}
	if strings.ContainsAny(c.Prefix, " \t\r\n.*>/\\") {
		return courant.Errorf(courant.Invalid, "bus prefix must be one word without dots, wildcards or slashes, not %q", c.Prefix)
	}
	if c.URL != "" && (c.Listen != "" || c.Dir != "") {
		return courant.Errorf(courant.Invalid, "bus: the URL of an external server excludes a listen address and a data folder, which are for the server in this process")
	}
	return nil
}

// attempt is the time-out of one request; it leaves time for a second one if the server
// is restarting.
func (c *Config) attempt() time.Duration { return c.Timeout / 2 }

// Driver is a connection, and the server if it is in this process.
type Driver struct {
	config Config
	server *embedded // nil if the server is external
	conn   *nats.Conn
	js     jetstream.JetStream
	done   chan struct{} // closed by Close
	close  func() error  // shuts down at its first call

	// mu guards known.
	mu    sync.Mutex
	known map[string]jetstream.Stream // by topic; believed to exist
}

var _ bus.Driver = (*Driver)(nil)

// Open starts the server if it is in this process, and connects. If an external server
// does not answer, it connects later, and the driver's methods fail with bus.Away until then.
// A wrong Config is courant.Invalid; a server that rejects us is an error. The caller must
// call Close.
func Open(ctx context.Context, config Config) (*Driver, error) {
	if err := errors.Join(ctx.Err(), config.fill()); err != nil {
		return nil, err
	}
	d := &Driver{config: config, done: make(chan struct{}), known: map[string]jetstream.Stream{}}
	d.close = sync.OnceValue(d.shutdown)
	if config.URL == "" {
		server, err := startEmbedded(config)
		if err != nil {
			return nil, fmt.Errorf("start bus server: %w", err)
		}
		d.server = server
	}
	if err := d.connect(); err != nil {
		d.Close()
		return nil, fmt.Errorf("connect to bus %s: %w", cmp.Or(link.Redact(config.URL), "in this process"), redacted(err, config.URL))
	}
	return d, nil
}

// redacted is err without the password that an address may have.
func redacted(err error, address string) error {
	if text := err.Error(); address != "" && strings.Contains(text, address) {
		return errors.New(strings.ReplaceAll(text, address, link.Redact(address)))
	}
	return err
}

// connect opens a connection that reconnects without limit.
func (d *Driver) connect() error {
	options := d.options()
	conn, err := nats.Connect(d.config.URL, options...)
	if d.server == nil && unreachable(err) {
		d.config.Log.Warn("no bus server answers; work is found by looking for it until one does", "error", err)
		d.config.Connected(false)
		conn, err = nats.Connect(d.config.URL, append(options, nats.RetryOnFailedConnect(true), nats.ConnectHandler(func(*nats.Conn) {
			d.config.Log.Info("bus connected")
			d.config.Connected(true)
		}))...)
	} else if err == nil {
		d.config.Connected(true)
	}
	if err != nil {
		return err
	}
	d.conn = conn
	d.js, err = jetstream.New(d.conn, jetstream.WithPublishAsyncTimeout(d.config.attempt()))
	return err
}

// unreachable reports whether no server answered, as opposed to one that rejects us.
func unreachable(err error) bool {
	var network net.Error
	return errors.Is(err, nats.ErrNoServers) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, io.EOF) || errors.As(err, &network)
}

// away returns bus.Away while there is no connection.
func (d *Driver) away() error {
	if d.conn.IsConnected() {
		return nil
	}
	return d.closedOr(bus.Away)
}

func (d *Driver) options() []nats.Option {
	log := d.config.Log
	options := []nats.Option{
		nats.Name(d.config.Prefix),
		nats.Timeout(d.config.Timeout),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(200 * time.Millisecond),
		nats.IgnoreAuthErrorAbort(), // credentials may be about to change
		nats.PingInterval(2 * time.Second),
		nats.MaxPingsOutstanding(2),
		nats.FlusherTimeout(d.config.attempt()), // a write that hangs blocks every publish
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if d.closedOr(nil) == nil {
				log.Warn("bus disconnected", "error", err)
				d.config.Connected(false)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			log.Info("bus connected again")
			d.config.Connected(true)
			d.forgetAll() // it may be another server, without the streams
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Warn("bus client error", "error", err) }),
	}
	if d.server != nil {
		options = append(options, nats.InProcessServer(d.server))
	}
	if d.config.Token != "" {
		options = append(options, nats.Token(d.config.Token))
	}
	if d.config.Creds != "" {
		options = append(options, nats.UserCredentials(d.config.Creds))
	}
	if d.config.TLSCA != "" {
		options = append(options, nats.RootCAs(d.config.TLSCA))
	}
	return options
}

// URL returns the address for other processes; empty if they cannot connect.
func (d *Driver) URL() string {
	if d.server == nil {
		return d.config.URL
	}
	return d.server.url()
}

// Close closes the connection, and stops the server if it is in this process.
func (d *Driver) Close() error { return d.close() }

func (d *Driver) shutdown() error {
	close(d.done)
	if d.conn != nil {
		if d.conn.IsConnected() {
			_ = d.conn.FlushTimeout(time.Second) // sends the last acknowledgements; without them messages are delivered again
		}
		d.conn.Close()
	}
	if d.server == nil {
		return nil
	}
	return d.server.stop()
}

// closedOr returns bus.Closed if the driver is closed, otherwise err.
func (d *Driver) closedOr(err error) error {
	select {
	case <-d.done:
		return bus.Closed
	default:
		return err
	}
}

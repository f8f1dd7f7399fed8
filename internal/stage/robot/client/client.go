// Package client sends one request to one address: it follows no redirect, retries
// nothing, and bounds everything (addresses, header, time, decoded size).
package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/guard"
	"github.com/courant-platform/courant/internal/kit/link"
)

// Config is what a client needs; zero means default.
type Config struct {
	Guard     *guard.Guard
	Proxy     string // URL; the process's environment unless set
	UserAgent string
	Timeout   time.Duration // of a whole request, unless it has its own; 60 s
	Header    time.Duration // until the response header; 20 s
	Idle      time.Duration // between two reads of a body; 15 s
	// Dial replaces the guarded dialer, and Lookup the system's resolver, for tests.
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Client sends requests. It is safe for concurrent use.
type Client struct {
	config    Config
	proxy     func(*url.URL) (*url.URL, error)
	proxies   map[string]bool // host:port of the configured proxies
	transport *http.Transport
	buffers   sync.Pool // of *bytes.Buffer
	names     names
}

// Request is one GET.
type Request struct {
	URL            string
	ETag, Modified string // validators of what we have
	Accept         string
	Max            int64          // decoded bytes; 10 MiB unless set
	Timeout        time.Duration  // of the whole request; that of the client unless set
	Known          []byte         // digest of a body that need not be unpacked again
	Jar            http.CookieJar // cookies to send; nil for none
	// Keep gets the decoded body of a Complete response as it arrives; Answer.Body is then
	// empty. Get returns its error.
	Keep func(io.Reader) error
}

// Answer is a response.
type Answer struct {
	Status         int
	Header         http.Header
	Body           []byte // decoded; only of a Complete response, and not if Known
	Raw            []byte // digest of the body as received
	Digest         []byte // digest of the decoded body, if Keep got it
	Known          bool   // Raw equals the request's Known
	ETag, Modified string
	Type           string
	Location       string         // of a redirect, absolute
	Cookies        []*http.Cookie // that a redirect sets
	RetryAfter     time.Duration  // 0 without the header
	Fresh          time.Duration  // how long it stays fresh by its header
	Wall           string         // the bot wall that answered instead of the host, "" if none did
	Address        netip.Addr     // of the server; unknown behind a proxy
	Latency        time.Duration  // until the header
}

// Complete reports whether the response brings the whole document: 200, or 203, with
// which a proxy says that it has changed something (RFC 9110 section 15.3.4).
func (a *Answer) Complete() bool {
	return a.Status == http.StatusOK || a.Status == http.StatusNonAuthoritativeInfo
}

// New builds the client.
func New(c Config) (*Client, error) {
	env := httpproxy.FromEnvironment()
	if c.Proxy != "" {
		env = &httpproxy.Config{HTTPProxy: c.Proxy, HTTPSProxy: c.Proxy}
	}
	client := &Client{config: c, proxy: env.ProxyFunc(), proxies: map[string]bool{}, names: names{ask: c.Lookup}}
	if c.Lookup == nil {
		client.names.ask = net.DefaultResolver.LookupNetIP
	}
	for _, p := range []string{env.HTTPProxy, env.HTTPSProxy} {
		if p == "" {
			continue
		}
		u, err := url.Parse(p)
		if err != nil || u.Host == "" {
			return nil, courant.Errorf(courant.Invalid, "robot.proxy, HTTP_PROXY and HTTPS_PROXY must be of the form http://host:port, not %q", link.Redact(p))
		}
		client.proxies[net.JoinHostPort(u.Hostname(), strconv.Itoa(guard.Port(u)))] = true
	}
	perHost := 2
	if c.Guard != nil {
		c.Guard.Proxied = len(client.proxies) > 0
	}
	if len(client.proxies) > 0 {
		perHost = 512 // all connections go to the proxy
	}
	client.transport = &http.Transport{
		Proxy: client.choose, DialContext: client.dial,
		DisableCompression: true, ForceAttemptHTTP2: true,
		MaxResponseHeaderBytes: 256 << 10, MaxIdleConns: 2048, MaxIdleConnsPerHost: perHost,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 15 * time.Second,
		ResponseHeaderTimeout: or(c.Header, 20*time.Second),
		ReadBufferSize:        16 << 10,
	}
	return client, nil
}

func or(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return d
}

// Proxied reports whether requests go through a proxy, which then resolves names.
func (c *Client) Proxied() bool { return len(c.proxies) > 0 }

// Close closes idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

func addrPort(a netip.Addr, u *url.URL) netip.AddrPort {
	return netip.AddrPortFrom(a, uint16(guard.Port(u)))
}

// choose returns the proxy for a request; nil for an exempt address.
func (c *Client) choose(r *http.Request) (*url.URL, error) {
	if a, ok := guard.Literal(r.URL.Hostname()); ok && c.config.Guard.Exempts(addrPort(a, r.URL)) {
		return nil, nil
	}
	return c.proxy(r.URL)
}

func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.reach(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &tracked{Conn: conn}, nil
}

// reach connects to an address that the guard allows.
func (c *Client) reach(ctx context.Context, network, address string) (net.Conn, error) {
	if c.config.Dial != nil {
		return c.config.Dial(ctx, network, address)
	}
	d := net.Dialer{Timeout: 15 * time.Second}
	if c.proxies[address] {
		return d.DialContext(ctx, network, address)
	}
	d.Control = c.config.Guard.Control
	host, port, err := net.SplitHostPort(address)
	if _, number := netip.ParseAddr(host); err != nil || number == nil {
		return d.DialContext(ctx, network, address)
	}
	found, err := c.names.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	return dialOne(ctx, d, network, found, port)
}

// mostAddresses bounds how many addresses of a name are tried.
const mostAddresses = 4

// dialOne tries addresses one after the other. All but the last get 5 s, the last 15 s.
func dialOne(ctx context.Context, d net.Dialer, network string, found []netip.Addr, port string) (conn net.Conn, err error) {
	found = found[:min(len(found), mostAddresses)]
	for i, a := range found {
		if i < len(found)-1 {
			d.Timeout = 5 * time.Second
		} else {
			d.Timeout = 15 * time.Second
		}
		conn, err = d.DialContext(ctx, network, net.JoinHostPort(a.String(), port))
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	return conn, err
}

// Get sends a GET request. A response of any status is no error; a response that is
// truncated, too large or cannot be decoded is one.
func (c *Client) Get(ctx context.Context, r Request) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, or(r.Timeout, or(c.config.Timeout, time.Minute)))
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "address %q: %w", r.URL, err)
	}
	var at netip.Addr
	req = req.WithContext(once(ctx, end, &at))
	c.headers(req, r)
	resp, a, err := c.send(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if !c.Proxied() {
		a.Address = at
	}
	idle := or(c.config.Idle, 15*time.Second)
	timer := time.AfterFunc(idle, func() { end(courant.Errorf(courant.Busy, "the response stalled: no data for %v", idle)) })
	defer timer.Stop()
	resp.Body = &watched{resp.Body, timer, idle}
	if a.Complete() {
		if err := c.read(resp, r, a); err != nil {
			return a, explain(because(ctx, err))
		}
		return a, nil
	}
	a.Wall = wall(resp)
	drain(resp)
	return a, nil
}

func (c *Client) timeout() time.Duration { return or(c.config.Timeout, time.Minute) }

// send sends a request that the guard allows. The caller closes the body.
func (c *Client) send(req *http.Request) (*http.Response, *Answer, error) {
	if err := c.config.Guard.URL(req.URL); err != nil {
		return nil, nil, err
	}
	start := time.Now()
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return nil, nil, explain(because(req.Context(), err))
	}
	a := answer(resp)
	a.Latency = time.Since(start)
	return resp, a, nil
}

// watched is a body that restarts the idle timer at each read.
type watched struct {
	io.ReadCloser
	timer *time.Timer
	idle  time.Duration
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	w.timer.Reset(w.idle)
	return n, err
}

// because returns the cause of a context's end instead of an error that follows from it.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(err, context.Canceled) && cause != nil || errors.Is(cause, Lost) {
		return cause
	}
	return err
}

// MaxValidator is the longest validator, in bytes, that is kept and sent back: some
// servers send headers that they refuse in a request.
const MaxValidator = 1 << 10

// validator returns a header value, "" if it is too long.
func validator(value string) string {
	if len(value) > MaxValidator {
		return ""
	}
	return value
}

func (c *Client) headers(req *http.Request, r Request) {
	h := req.Header
	h.Set("User-Agent", c.config.UserAgent)
	h.Set("Accept-Encoding", "gzip, br, zstd")
	if r.Accept != "" {
		h.Set("Accept", r.Accept)
	}
	if tag := validator(r.ETag); tag != "" {
		h.Set("If-None-Match", tag)
	}
	if date := validator(r.Modified); date != "" {
		h.Set("If-Modified-Since", date)
	}
	if r.Jar != nil {
		for _, cookie := range r.Jar.Cookies(req.URL) {
			req.AddCookie(cookie)
		}
	}
}

func answer(resp *http.Response) *Answer {
	h := resp.Header
	now := time.Now()
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date // times are by the server's clock, even if it is wrong
	}
	a := &Answer{
		Status: resp.StatusCode, Header: h, Type: validator(h.Get("Content-Type")),
		ETag: validator(h.Get("Etag")), Modified: validator(h.Get("Last-Modified")),
		Fresh: fresh(h, now),
	}
	for _, value := range h.Values("Retry-After") {
		a.RetryAfter = max(a.RetryAfter, RetryAfter(value, now))
	}
	if to := location(resp); to != "" && redirects(resp.StatusCode) {
		a.Location, a.Cookies = to, resp.Cookies()
	}
	return a
}

// location is the target of a redirect as browsers read it (the URL standard): what is
// not allowed in an address, such as a blank, is escaped. An address of another scheme
// or with a password is returned, so that it is refused with the reason.
func location(resp *http.Response) string {
	value := resp.Header.Get("Location")
	if value == "" || resp.Request == nil {
		return ""
	}
	to, _, _ := strings.Cut(link.Resolve(resp.Request.URL.String(), link.Feed(value)), "#")
	if other, err := resp.Location(); to == "" && err == nil && (other.Host != "" || !strings.HasPrefix(other.Scheme, "http")) {
		other.Fragment = ""
		return other.String()
	}
	return to
}

// redirects reports whether a status redirects to the Location header. Status 305 does
// not: its Location would be a proxy (RFC 9110 section 15.4).
func redirects(status int) bool {
	switch status {
	case http.StatusMultipleChoices, http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// MostRetryAfter is the longest Retry-After that is obeyed.
const MostRetryAfter = 7 * 24 * time.Hour

// RetryAfter parses the header of RFC 9110 section 10.2.3 in both forms; the result is
// at most MostRetryAfter, and 0 if the value is malformed.
func RetryAfter(value string, now time.Time) time.Duration {
	if value == "" {
		return 0
	}
	value = strings.TrimSpace(value)
	if s, err := strconv.ParseInt(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) { // out of range: s is the nearest value
		return time.Duration(min(max(s, 0), int64(MostRetryAfter/time.Second))) * time.Second
	}
	t, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	// a date has whole seconds: round up
	return min(max(t.Sub(now)+time.Second, 0), MostRetryAfter)
}

// explain turns an error into one sentence, with its kind where the cause is known.
func explain(err error) error {
	var dns *net.DNSError
	switch {
	case err == nil, errors.Is(err, courant.Forbidden), errors.Is(err, courant.Invalid), errors.Is(err, courant.Busy):
		return err
	case errors.As(err, &dns) && dns.IsNotFound:
		return courant.Errorf(courant.NotFound, "host %s not found", dns.Name)
	case errors.Is(err, io.EOF):
		return courant.Errorf(courant.Busy, "%s", noAnswer)
	case errors.Is(err, context.DeadlineExceeded):
		return courant.Errorf(courant.Busy, "timeout before the response was complete")
	}
	return fmt.Errorf("no response: %w", err)
}

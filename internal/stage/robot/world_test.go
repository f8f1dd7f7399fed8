package robot_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/guard"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/blob/memory"
	"github.com/courant-platform/courant/internal/port/bus"
	"github.com/courant-platform/courant/internal/port/bus/membus"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/stage/robot"
	"github.com/courant-platform/courant/internal/stage/robot/client"
)

// world is a robot over a store in memory and a small web behind pipes, in fake
// time. Unless a test sends notifications, the robot finds its work by its sweep.
type world struct {
	t      *testing.T
	store  *store.Store
	blobs  blob.Bucket
	config robot.Config
	pages  map[string]http.HandlerFunc // by address; 404 for the others

	// mu guards asked, and pages once the robot runs.
	mu    sync.Mutex
	asked []asked
	conns chan net.Conn
	stop  func()
	bus   *bus.Bus

	metrics *obs.Set
	log     slog.Handler // the robot's; nil discards it
}

// asked is a request that reached the web.
type asked struct {
	at     time.Time
	url    string
	header http.Header
}

// in runs a test; its robot begins to work at the first wait.
func in(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, store: storetest.Memory(t), blobs: blob.Bucket{Driver: &memory.Memory{}}, config: robot.Defaults(),
			pages: map[string]http.HandlerFunc{}, conns: make(chan net.Conn)}
		server := &http.Server{Handler: w}
		var serving sync.WaitGroup
		serving.Go(func() { server.Serve(pipes(w.conns)) })
		w.others()
		defer func() {
			if w.stop != nil {
				w.stop()
			}
			server.Close()
			serving.Wait()
		}()
		test(t, w)
	})
}

// others are 42 more robots, which hold all partitions except those of the test's
// hosts: leases are written every five seconds, and few of them keep long tests fast.
func (w *world) others() {
	w.t.Helper()
	w.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 255)
		INSERT INTO leases (name, owner, until, epoch) SELECT 'robot/' || i, 'other', $1, 1 FROM n
		WHERE i NOT IN ($2, $3, $4, $5, $6, $7)`, int64(1)<<60, part("http://a.example"), part("http://b.example"), part("http://c.example"),
		part("http://127.0.0.1"), part("http://169.254.169.254"), part("file:///etc/passwd"))
	w.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 42)
		INSERT INTO leases (name, owner, until, epoch) SELECT 'robot-alive/' || i, 'other', $1, 1 FROM n`, int64(1)<<60)
}

// run starts a robot; stop ends it.
func (w *world) run(owner string) {
	w.t.Helper()
	c, err := client.New(client.Config{Guard: &guard.Guard{}, UserAgent: w.config.UserAgent, Timeout: time.Duration(w.config.Timeout), Dial: w.dial})
	if err != nil {
		w.t.Fatal(err)
	}
	r := &robot.Robot{Store: w.store, Blobs: w.blobs, Client: c, Config: w.config, Owner: owner, Metrics: w.metrics, Log: slog.New(slog.DiscardHandler)}
	if w.log != nil {
		r.Log = slog.New(w.log)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	w.bus = &bus.Bus{Driver: &membus.Driver{}}
	var ringing sync.WaitGroup
	ringing.Go(func() { w.bus.Run(ctx, r.Handlers()...) })
	w.stop = func() {
		cancel()
		ringing.Wait()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
		c.Close()
	}
}

func (w *world) dial(ctx context.Context, _, address string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case w.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// put changes the web while the robot runs.
func (w *world) put(address string, page http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pages[address] = page
}

// ServeHTTP records the request and calls the page's handler.
func (w *world) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	address := "http://" + r.Host + r.URL.RequestURI()
	w.mu.Lock()
	w.asked = append(w.asked, asked{time.Now(), address, r.Header})
	page := w.pages[address]
	w.mu.Unlock()
	if page == nil {
		http.NotFound(out, r)
		return
	}
	page(out, r)
}

// pipes is a listener for the connections that dial makes.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, io.EOF
}

// Close is called once, by the server.
func (p pipes) Close() error {
	close(p)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	if err := w.store.Write(w.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
}

func part(address string) int { return courant.Partition(link.Domain(link.Host(address))) }

// source registers a source under an id.
func (w *world) source(id int64, address string) {
	w.t.Helper()
	w.exec(`INSERT INTO sources (id, name, kind, url, host, title, trusted, added) VALUES ($1, $2, 'feed', $2, $3, '', FALSE, 0) ON CONFLICT DO NOTHING`,
		id, address, link.Host(address))
	w.exec(`INSERT INTO answers (source, url, origin, partition) VALUES ($1, $2, $3, $4)`, id, address, link.Origin(address), part(address))
	w.exec(`INSERT INTO readings (source, as_of) VALUES ($1, 1)`, id)
}

// ring sends the robot notifications.
func (w *world) ring(topic string, facts [][]byte) {
	w.t.Helper()
	if err := w.bus.Publish(w.t.Context(), topic, facts); err != nil {
		w.t.Fatal(err)
	}
}

// ask requests a poll of a source, as schedule does, and gives the robot time.
func (w *world) ask(id int64, wait time.Duration) {
	w.t.Helper()
	w.exec(`UPDATE answers SET asked = $2 WHERE source = $1`, id, w.store.Now().UnixMilli())
	w.wait(wait)
}

func (w *world) wait(d time.Duration) {
	if w.stop == nil {
		w.run("first")
	}
	time.Sleep(d)
	synctest.Wait()
}

// want requests a picture, as media does.
func (w *world) want(address string) {
	w.t.Helper()
	key := link.Digest(address)
	w.exec(`INSERT INTO fetches (hash, url, origin, partition, kind, priority, wanted, due) VALUES ($1, $2, $3, $4, 'picture', 5, 1, 1)`,
		key[:], address, link.Origin(address), part(address))
}

// scan reads one value of the store.
func (w *world) scan(to any, query string, args ...any) {
	w.t.Helper()
	if err := w.store.Read(w.t.Context(), func(r store.Reader) error { return r.Row(query, args...).Scan(to) }); err != nil {
		w.t.Fatal(err)
	}
}

// poll is the state of a source in the store.
type poll struct {
	answered, open      bool // the newest poll is answered; a download waits for parse
	status, failures    int
	problem             string
	blob, url, kind     string
	etag, modified      string
	pendingTag, changed string
	digest              []byte
}

func (w *world) poll(id int64) (p poll) {
	w.t.Helper()
	err := w.store.Read(w.t.Context(), func(r store.Reader) error {
		return r.Row(`SELECT a.answered >= a.asked, p.source IS NOT NULL, a.status, a.failures, a.problem, COALESCE(p.blob, ''), COALESCE(p.url, ''), COALESCE(p.type, ''),
			CASE WHEN a.refused >= r.as_of THEN '' WHEN a.confirmed > r.as_of THEN a.etag ELSE r.etag END,
			CASE WHEN a.refused >= r.as_of THEN '' WHEN a.confirmed > r.as_of THEN a.modified ELSE r.modified END,
			COALESCE(p.etag, ''), COALESCE(p.modified, ''), p.body
			FROM answers a JOIN readings r ON r.source = a.source LEFT JOIN pending p ON p.source = a.source WHERE a.source = $1`, id).Scan(&p.answered, &p.open, &p.status, &p.failures,
			&p.problem, &p.blob, &p.url, &p.kind, &p.etag, &p.modified, &p.pendingTag, &p.changed, &p.digest)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// fetch is a row of fetches.
type fetch struct {
	answered         bool
	status, attempts int
	blob, kind       string
	problem          string
}

func (w *world) fetched(address string) (f fetch) {
	w.t.Helper()
	key := link.Digest(address)
	err := w.store.Read(w.t.Context(), func(r store.Reader) error {
		return r.Row(`SELECT answered > 0, status, attempts, blob, type, problem FROM fetches WHERE hash = $1`, key[:]).Scan(&f.answered,
			&f.status, &f.attempts, &f.blob, &f.kind, &f.problem)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// body is the blob under a key.
func (w *world) body(key string) string {
	w.t.Helper()
	b, err := w.blobs.Get(w.t.Context(), key)
	if err != nil {
		w.t.Error(err)
	}
	return string(b)
}

// all are the requests so far.
func (w *world) all() []asked {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

// seen are the requests for an address, or, without one, for all but robots.txt.
func (w *world) seen(address string) (all []asked) {
	for _, a := range w.all() {
		u, _ := url.Parse(a.url)
		if a.url == address || address == "" && u.Path != "/robots.txt" {
			all = append(all, a)
		}
	}
	return all
}

func digest(body string) []byte {
	sum := sha256.Sum256([]byte(body))
	return sum[:16]
}

// page answers with a body and a header, name and value in turn.
func page(body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		http.ServeContent(w, &http.Request{Method: http.MethodGet}, "", time.Time{}, bytes.NewReader([]byte(body)))
	}
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

package bench

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/guard"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/blob/folder"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/sqlite"
	"github.com/courant-platform/courant/internal/stage/robot"
	"github.com/courant-platform/courant/internal/stage/robot/client"
	"github.com/courant-platform/courant/internal/stage/robot/rules"
)

// robotWorld is a robot with a store in a file; its web is a forward proxy.
type robotWorld struct {
	b     *testing.B
	store *store.Store
	robot *robot.Robot
}

func newRobot(b *testing.B, proxy string, gap time.Duration) *robotWorld {
	b.Helper()
	dir := b.TempDir()
	db, err := sqlite.Open(b.Context(), sqlite.Config{Path: dir + "/courant.db"})
	if err != nil {
		b.Fatal(err)
	}
	s, err := store.Open(b.Context(), db, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	files, err := folder.Open(folder.Folder{Dir: dir + "/blobs"})
	if err != nil {
		b.Fatal(err)
	}
	c, err := client.New(client.Config{Guard: &guard.Guard{}, Proxy: "http://" + proxy, UserAgent: "courant/bench"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	config := robot.Defaults()
	config.Gap = setting.Duration(gap)
	return &robotWorld{b, s, &robot.Robot{Store: s, Blobs: blob.Bucket{Driver: files}, Client: c, Config: config, Owner: "bench", Log: slog.New(slog.DiscardHandler)}}
}

// want adds n wanted addresses of a host.
func (w *robotWorld) want(host, n int) {
	w.b.Helper()
	origin := fmt.Sprintf("http://h%d.example", host)
	part := courant.Partition(link.Domain(link.Host(origin)))
	err := w.store.Write(w.b.Context(), func(tx *store.Tx) error {
		for i := range n {
			url := origin + "/" + strconv.Itoa(i)
			key := link.Digest(url)
			if _, err := tx.Exec(`INSERT INTO fetches (hash, url, origin, partition, kind, priority, wanted, due) VALUES ($1, $2, $3, $4, 'bench', 5, $5, 1)`,
				key[:], url, origin, part, i+1); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.b.Fatal(err)
	}
}

func (w *robotWorld) count(query string) (n int) {
	w.b.Helper()
	if err := w.store.Read(w.b.Context(), func(r store.Reader) error { return r.Row(query).Scan(&n) }); err != nil {
		w.b.Fatal(err)
	}
	return n
}

// start runs the robot until stop is called.
func (w *robotWorld) start() (stop func()) {
	ctx, cancel := context.WithCancel(w.b.Context())
	done := make(chan error)
	go func() { done <- w.robot.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			w.b.Error(err)
		}
	}
}

// The same job as test/bench/peers/colly; COURANT_PROXY is the address of its web.
const peerHosts, peerPages = 200, 100

func peer(b *testing.B) (proxy string) {
	b.Helper()
	proxy = os.Getenv("COURANT_PROXY")
	if proxy == "" {
		b.Skip("set COURANT_PROXY to the address of `colly serve`: see test/bench/peers/colly")
	}
	return proxy
}

// BenchmarkClient downloads pages as fast as possible, obeys robots.txt and stores
// nothing, as "colly crawl" does.
func BenchmarkClient(b *testing.B) {
	c, err := client.New(client.Config{Guard: &guard.Guard{}, Proxy: "http://" + peer(b), UserAgent: "courant/bench"})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	crawl := func(host int) error {
		origin := fmt.Sprintf("http://h%d.example", host)
		a, err := c.Get(b.Context(), client.Request{URL: origin + "/robots.txt"})
		if err != nil {
			return err
		}
		robots := rules.Parse(a.Body, "courant")
		for i := range peerPages {
			path := "/" + strconv.Itoa(i)
			if a, err = c.Get(b.Context(), client.Request{URL: origin + path}); err != nil {
				return err
			}
			if !robots.Allowed(path) || a.Status != http.StatusOK {
				return fmt.Errorf("%s%s: %d", origin, path, a.Status)
			}
		}
		return nil
	}
	for b.Loop() {
		before, began := computed(b), time.Now()
		var all errgroup.Group
		for h := range peerHosts {
			all.Go(func() error { return crawl(h) })
		}
		if err := all.Wait(); err != nil {
			b.Fatal(err)
		}
		report(b, time.Since(began), computed(b)-before)
	}
}

// report reports the rates of a run.
func report(b *testing.B, took, used time.Duration) {
	b.Helper()
	b.ReportMetric(peerHosts*peerPages/took.Seconds(), "pages/s")
	b.ReportMetric(peerHosts*peerPages/used.Seconds(), "pages/cpu-s")
}

// BenchmarkFetch downloads the same pages with all rules except the gap, and stores each
// with its row; "colly save" does the same without the rows.
func BenchmarkFetch(b *testing.B) {
	proxy := peer(b)
	for b.Loop() {
		w := newRobot(b, proxy, time.Nanosecond)
		for h := range peerHosts {
			w.want(h, peerPages)
		}
		before, began := computed(b), time.Now()
		stop := w.start()
		for w.count(`SELECT COUNT(*) FROM fetches WHERE answered = 0`) > 0 {
			time.Sleep(100 * time.Millisecond) // the robot works in real time, and counting takes CPU time from it
		}
		took, used := time.Since(began), computed(b)-before
		if bad := w.count(`SELECT COUNT(*) FROM fetches WHERE status <> 200`); bad > 0 {
			b.Errorf("%d of %d pages were not downloaded", bad, peerHosts*peerPages)
		}
		stop()
		report(b, took, used)
	}
}

// BenchmarkBacklog starts a robot with a million addresses of 100,000 hosts, half of them
// of one host: how much memory they take, how long it takes until all hosts are in the
// queue, and whether the large host delays others. Nothing answers, so that only the queue
// is measured.
func BenchmarkBacklog(b *testing.B) {
	if os.Getenv("COURANT_BACKLOG") == "" {
		b.Skip("takes minutes; set COURANT_BACKLOG to run it")
	}
	const hosts, all = 100_000, 1_000_000
	for b.Loop() {
		w := newRobot(b, "127.0.0.1:9", time.Hour) // no request is made within this hour
		w.want(0, all/2)
		for h := 1; h < hosts; h++ {
			w.want(h, all/2/hosts)
		}
		before := heap()
		began := time.Now()
		stop := w.start()
		for w.robot.Queued().Hosts < hosts {
			time.Sleep(10 * time.Millisecond) // the robot works in real time
		}
		took := time.Since(began)
		q := w.robot.Queued()
		b.Logf("%d hosts with %d addresses in memory after %v", q.Hosts, q.Tasks, took)
		b.ReportMetric(took.Seconds(), "s-to-queue")
		b.ReportMetric(float64(heap()-before)/1e6, "MB")
		stop()
	}
}

// computed returns the CPU time that this process has used.
func computed(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

package bench

import (
	"bufio"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/courant-platform/courant/test/rig"
)

const (
	victim   = "127.0.0.2" // addresses of the clients
	attacker = "127.0.0.3"
	watched  = 10 * time.Second
	articles = 10_000
	perFeed  = 1000
)

type attack func(ctx context.Context, server string, c *counts)

// attacks are what one address may do, by name.
var attacks = map[string]attack{
	"listing": func(ctx context.Context, s string, c *counts) { loop(ctx, 80, s, "/api/v1/pages?limit=1000", c) },
	"at once": atOnce,
	"slow":    slow,
	"polls": func(ctx context.Context, s string, c *counts) {
		loop(ctx, 1000, s, "/api/v1/changes?after=10000&wait=30s", c)
	},
	"searches": searches,
}

// together runs all attacks.
func together(ctx context.Context, server string, c *counts) {
	var all sync.WaitGroup
	for _, a := range attacks {
		all.Go(func() { a(ctx, server, c) })
	}
	all.Wait()
}

// counts counts the attacker's answers.
type counts struct{ ok, later, failed atomic.Int64 }

func (c *counts) add(r *http.Response, err error) {
	switch {
	case err != nil:
		c.failed.Add(1)
	case r.StatusCode == http.StatusTooManyRequests || r.StatusCode == http.StatusServiceUnavailable:
		c.later.Add(1)
	default:
		c.ok.Add(1)
	}
}

// from returns a client with an address of its own.
func from(address string, most int) *http.Client {
	d := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: 10 * time.Second}
	return &http.Client{Transport: &http.Transport{DialContext: d.DialContext, MaxIdleConnsPerHost: most}, Timeout: time.Minute}
}

func fetch(ctx context.Context, c *http.Client, address string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.Do(r)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	return resp, err
}

// loop sends requests one after the other over n connections.
func loop(ctx context.Context, n int, server, path string, c *counts) {
	client := from(attacker, n)
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ctx.Err() == nil {
				r, err := fetch(ctx, client, server+path)
				c.add(r, err)
				if err != nil || r.StatusCode != http.StatusOK {
					rig.Pass(10 * time.Millisecond) // an attacker that spins would measure itself
				}
			}
		})
	}
	all.Wait()
}

// atOnce sends 2,000 requests at the same time, again and again.
func atOnce(ctx context.Context, server string, c *counts) {
	client := from(attacker, 2000)
	for ctx.Err() == nil {
		var all sync.WaitGroup
		for range 2000 {
			all.Go(func() { c.add(fetch(ctx, client, server+"/api/v1/pages?limit=1000")) })
		}
		all.Wait()
		rig.Pass(200 * time.Millisecond)
	}
}

// slow holds 1,500 connections that receive a long answer a few bytes at a time.
func slow(ctx context.Context, server string, c *counts) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(attacker)}}
	var all sync.WaitGroup
	for range 1500 {
		all.Go(func() {
			conn, err := d.DialContext(ctx, "tcp", strings.TrimPrefix(server, "http://"))
			if err != nil {
				c.failed.Add(1)
				return
			}
			defer conn.Close()
			fmt.Fprintf(conn, "GET /api/v1/pages?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n")
			in := bufio.NewReaderSize(conn, 16)
			for ctx.Err() == nil {
				if _, err := in.ReadByte(); err != nil {
					return
				}
				rig.Pass(time.Second)
			}
		})
	}
	all.Wait()
}

// searches sends 100 searches a second.
func searches(ctx context.Context, server string, c *counts) {
	client := from(attacker, 200)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var all sync.WaitGroup
	for i := 0; ctx.Err() == nil; i++ {
		<-tick.C
		all.Go(func() { c.add(fetch(ctx, client, fmt.Sprintf("%s/api/v1/search?text=number+%d", server, i))) })
	}
	all.Wait()
}

// attackVariable names the attack in the environment of a process that only attacks.
const attackVariable = "COURANT_TEST_ATTACK"

// attackOnly runs an attack until its standard input is closed, and prints what it got.
func attackOnly(name, server string) {
	ctx, stop := context.WithCancel(context.Background()) // of a whole process
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	var c counts
	if a := attacks[name]; a != nil {
		a(ctx, server, &c)
	} else {
		together(ctx, server, &c)
	}
	fmt.Printf("%d answered, %d refused, %d failed", c.ok.Load(), c.later.Load(), c.failed.Load())
}

// BenchmarkFair measures how long a reader waits for pages while another address attacks.
// The attacker is a process of its own that leaves the processors to the others.
func BenchmarkFair(b *testing.B) {
	c := programs.Courant(b, rig.Config(`log.level = "error"`))
	c.Start(b)
	dir, args := b.TempDir(), []string{"import"}
	for first := 0; first < articles; first += perFeed {
		file := filepath.Join(dir, fmt.Sprintf("articles%d.xml", first))
		if err := os.WriteFile(file, feedOf(first, perFeed), 0o600); err != nil {
			b.Fatal(err)
		}
		args = append(args, file)
	}
	if r := c.Do(b, args...); r.Status != 0 {
		b.Fatal(r)
	}
	printed(b, c, articles)
	for _, name := range []string{"", "listing", "at once", "slow", "polls", "searches", "together"} {
		b.Run("beside "+or(name, "nobody"), func(b *testing.B) {
			for b.Loop() {
				beside(b, c, name)
			}
		})
	}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func beside(b *testing.B, c *rig.Courant, name string) {
	attack := func() string { return "" }
	if name != "" {
		attack = attackFrom(b, c.Address, name)
	}
	rig.Pass(2 * time.Second)
	client := from(victim, 100)
	took := map[string][]time.Duration{}
	var mu sync.Mutex
	var all sync.WaitGroup
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end, i := time.Now().Add(watched), 0; time.Now().Before(end); i++ {
		<-tick.C
		kind, path := "page", "/page?url="+url.QueryEscape(addressOf(i*7919%articles))
		if i%2 == 0 {
			kind, path = "front", "/"
		}
		all.Go(func() {
			began := time.Now()
			r, err := fetch(b.Context(), client, c.Address+path)
			d := time.Since(began)
			if err != nil || r.StatusCode != http.StatusOK {
				d = time.Minute
			}
			mu.Lock()
			defer mu.Unlock()
			took[kind] = append(took[kind], d)
		})
	}
	all.Wait()
	said := attack()
	for kind, all := range took {
		slices.Sort(all)
		p50, p99 := all[len(all)/2], all[len(all)*99/100]
		b.ReportMetric(float64(p50.Microseconds())/1000, kind+"-p50-ms")
		b.ReportMetric(float64(p99.Microseconds())/1000, kind+"-p99-ms")
		b.Logf("%s: %d requests, p50 %v, p99 %v, longest %v; attacker: %s", kind, len(all), p50, p99, all[len(all)-1], said)
	}
}

// attackFrom starts an attack in a process; what it returns ends it.
func attackFrom(b *testing.B, server, name string) (stop func() string) {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), attackVariable+"="+name, "COURANT_TEST_SERVER="+server)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if err := syscall.Setpriority(syscall.PRIO_PROCESS, cmd.Process.Pid, 19); err != nil {
		b.Log(err)
	}
	return func() string {
		in.Close()
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
		return out.String()
	}
}

func addressOf(n int) string { return fmt.Sprintf("http://articles.example/number/%d", n) }

// feedOf is an RSS feed with n articles of a few paragraphs.
func feedOf(first, n int) []byte {
	var text strings.Builder
	text.WriteString(`<rss version="2.0"><channel><title>Articles</title><link>http://articles.example/</link>`)
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&text, "<item><title>Article number %d</title><link>%s</link><description>", i, addressOf(i))
		for j := range 8 {
			xml.EscapeText(&text, fmt.Appendf(nil, "<p>Paragraph %d of number %d has some words about %x and %x.</p>", j, i, i*2654435761, j*i))
		}
		text.WriteString("</description></item>")
	}
	text.WriteString("</channel></rss>")
	return []byte(text.String())
}

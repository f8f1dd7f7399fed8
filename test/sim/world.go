// Package sim runs all stages on fake time, over a simulated web and with fault
// injectors under bus and store, and compares what is live in the end with what was
// published. The oracle is what was published, never our own code.
package sim

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// article is what was published at one address.
type article struct {
	host      int
	n         int
	revision  int
	withdrawn bool
	listed    bool     // a feed has shown it; before that, nobody can know its address
	pictures  []string // paths; those that begin with /lost answer 404
	published time.Time
}

func (a *article) path() string { return fmt.Sprintf("/a/%d", a.n) }

func (a *article) url() string { return fmt.Sprintf("http://h%d.test%s", a.host, a.path()) }

// text returns the body, which differs for every address and revision.
func (a *article) text() string {
	return fmt.Sprintf("Body of %s in revision %d.", a.url(), a.revision)
}

// world is the web: hosts, each with a feed, articles and pictures. The first host has a
// second feed with the same articles; the last host's feed claims an address of another
// host.
type world struct {
	// mu guards the fields below and what they refer to, except hub.
	mu       sync.Mutex
	rand     *rand.Rand
	hosts    int
	gap      time.Duration
	articles []*article
	asked    map[string]*visits
	changed  []time.Time // when each host's feed last changed
	hub      hub
	faults   []string
}

// visits is how a host was requested.
type visits struct {
	last   time.Time
	busy   int
	robots bool
}

func newWorld(seed uint64, hosts int, gap time.Duration) *world {
	w := &world{rand: rand.New(rand.NewPCG(seed, 1)), hosts: hosts, gap: gap, asked: map[string]*visits{}, changed: make([]time.Time, hosts)}
	for h := range hosts {
		for range 4 {
			w.publish(h)
		}
	}
	return w
}

func (w *world) publish(host int) {
	a := &article{host: host, n: len(w.articles), published: time.Now()}
	for range w.rand.IntN(4) {
		name := "/img"
		if w.rand.IntN(6) == 0 {
			name = "/lost"
		}
		a.pictures = append(a.pictures, fmt.Sprintf("%s/%d.png", name, w.rand.IntN(40)))
	}
	w.articles = append(w.articles, a)
	w.touch(host)
}

// touch marks a host's feed as changed and tells its hub.
func (w *world) touch(host int) {
	w.changed[host] = time.Now()
	if host%2 == 1 {
		w.hub.changed(w.topic(host), w.text(host), w.rand.IntN(int(40*time.Second)))
	}
}

func (w *world) topic(host int) string { return fmt.Sprintf("http://h%d.test/feed.xml", host) }

// live publishes, edits, withdraws and restores articles, one change per step, with
// random pauses of pause on average.
func (w *world) live(steps int, pause time.Duration) {
	for range steps {
		time.Sleep(time.Duration(w.random(int(2 * pause))))
		w.mu.Lock()
		h := w.rand.IntN(w.hosts)
		if w.rand.IntN(2) == 0 {
			w.publish(h)
		} else {
			w.change(w.articles[w.rand.IntN(len(w.articles))])
		}
		w.mu.Unlock()
	}
}

func (w *world) random(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rand.IntN(n)
}

// change edits, withdraws or restores an article.
func (w *world) change(a *article) {
	switch {
	case a.withdrawn:
		a.withdrawn = false
		a.revision++
	case w.rand.IntN(4) == 0:
		a.withdrawn = true
	default:
		a.revision++
	}
	w.touch(a.host)
}

// shown returns the articles in a host's feed: all of the host's, because a change that
// left the feed before the next poll could not be known.
func (w *world) shown(host int) (shown []*article) {
	for i := len(w.articles) - 1; i >= 0; i-- {
		if w.articles[i].host == host {
			shown = append(shown, w.articles[i])
		}
	}
	return shown
}

// ServeHTTP answers for all hosts and records impolite requests.
func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.begin(r)
	time.Sleep(time.Duration(5+w.random(60)) * time.Millisecond)
	defer w.end(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	var host int
	if _, err := fmt.Sscanf(r.Host, "h%d.test", &host); err != nil || host >= w.hosts {
		http.NotFound(rw, r)
		return
	}
	switch {
	case r.URL.Path == "/robots.txt":
		fmt.Fprint(rw, "User-agent: *\nDisallow: /closed/\n")
	case r.URL.Path == "/feed.xml", r.URL.Path == "/second.xml":
		w.feed(rw, r, host)
	case strings.HasPrefix(r.URL.Path, "/img/"):
		rw.Header().Set("Content-Type", "image/png")
		rw.Write(picture(r.Host + r.URL.Path))
	default:
		http.NotFound(rw, r)
	}
}

func (w *world) begin(r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.asked[r.Host]
	if v == nil {
		v = &visits{}
		w.asked[r.Host] = v
	}
	if v.busy > 0 {
		w.faults = append(w.faults, "two requests at once to "+r.Host)
	}
	if since := time.Since(v.last); !v.last.IsZero() && since < w.gap*9/10 {
		w.faults = append(w.faults, fmt.Sprintf("%s requested %v after the last request", r.Host, since))
	}
	if r.URL.Path == "/robots.txt" {
		v.robots = true
	} else if !v.robots {
		w.faults = append(w.faults, r.Host+" requested before its robots.txt")
	}
	v.last = time.Now()
	v.busy++
}

func (w *world) end(r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[r.Host].busy--
}

// feed writes a host's feed as Atom with an ETag; withdrawn articles have tombstones
// (RFC 6721).
func (w *world) feed(rw http.ResponseWriter, r *http.Request, host int) {
	tag := fmt.Sprintf(`"%d"`, w.changed[host].UnixNano())
	rw.Header().Set("Etag", tag)
	if r.Header.Get("If-None-Match") == tag {
		rw.WriteHeader(http.StatusNotModified)
		return
	}
	for _, a := range w.shown(host) {
		a.listed = a.listed || !a.withdrawn
	}
	rw.Header().Set("Content-Type", "application/atom+xml")
	if r.URL.Path == "/second.xml" {
		fmt.Fprint(rw, w.atom(host, r.URL.Path))
		return
	}
	fmt.Fprint(rw, w.text(host))
}

// text returns a host's first feed.
func (w *world) text(host int) string { return w.atom(host, "/feed.xml") }

func (w *world) atom(host int, path string) string {
	var b strings.Builder
	b.WriteString(`<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0"><title>t</title>`)
	if host%2 == 1 {
		b.WriteString(`<link rel="hub" href="http://hub.test/"/>`)
	}
	for _, a := range w.shown(host) {
		id := fmt.Sprintf("tag:%s:%s", path, a.path())
		if a.withdrawn {
			fmt.Fprintf(&b, `<at:deleted-entry ref="%s" when="2000-01-01T00:00:00Z"/>`, id)
			continue
		}
		fmt.Fprintf(&b, `<entry><id>%s</id><title>Title %d</title><link href="%s"/><published>%s</published><content type="html">&lt;p>%s&lt;/p>`,
			id, a.n, a.url(), a.published.UTC().Format(time.RFC3339), a.text())
		for _, p := range a.pictures {
			fmt.Fprintf(&b, `&lt;img src="%s">`, p)
		}
		b.WriteString(`</content></entry>`)
	}
	if host == w.hosts-1 && path == "/feed.xml" { // claims another host's article
		fmt.Fprintf(&b, `<entry><id>claim</id><title>Claimed</title><link href="http://h0.test/a/0"/><content type="html">&lt;p>claimed&lt;/p></content></entry>`)
	}
	b.WriteString(`</feed>`)
	return b.String()
}

// picture returns a small PNG, the same for the same name.
func picture(name string) []byte {
	h := fnv.New32a()
	h.Write([]byte(name))
	v := h.Sum32()
	img := image.NewRGBA(image.Rect(0, 0, 8, 8))
	for i := range 64 {
		img.Set(i%8, i/8, color.RGBA{uint8(v), uint8(v >> 8), uint8(v >> 16), 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil
	}
	return b.Bytes()
}

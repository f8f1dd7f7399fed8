package robot

import (
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strconv"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/stage/robot/client"
)

const maxHops = 10

// trail is a redirect chain. Cookies that servers set along the chain are sent with its
// later requests and then forgotten.
type trail struct {
	url     string // current address; "" at the start
	hops    int
	been    []string // addresses that redirected
	lasting string   // target of the permanent redirects at its start
	jar     http.CookieJar
	rules   *host // of an errand: the host whose robots.txt is fetched; else nil
}

// errand reports whether the task is a delegated fetch: of the robots.txt of another
// host, which redirects here.
func (t task) errand() bool { return t.trail != nil && t.trail.rules != nil }

// start is the address where a chain began: home, the source's own address, or asked,
// the address that is polled instead.
func (w *trail) start(asked, home string) string {
	if w.url == home || slices.Contains(w.been, home) {
		return home
	}
	return asked
}

// short reports whether the chain may get longer.
func (w *trail) short() bool { return w == nil || w.hops < maxHops }

// once is the task with one more request for the same address, counted as a hop.
func (t task) once(address string) *task {
	on := trail{}
	if t.trail != nil {
		on = *t.trail
	}
	on.url = address
	on.hops++
	t.trail = &on
	return &t
}

// cookies are those that were set along the chain.
func (w *trail) cookies() http.CookieJar {
	if w == nil {
		return nil
	}
	return w.jar
}

// on extends the chain by a redirect from an address, or returns why it ends.
func (w *trail) on(from string, a *client.Answer) (next *trail, why string) {
	if w == nil {
		w = &trail{}
	}
	n := *w
	n.hops++
	n.been = append(slices.Clip(n.been), from)
	permanent := a.Status == http.StatusMovedPermanently || a.Status == http.StatusPermanentRedirect
	switch {
	case n.hops > maxHops:
		return nil, "more than " + strconv.Itoa(maxHops) + " redirects"
	case slices.Contains(n.been, a.Location) && len(a.Cookies) == 0:
		return nil, "redirect loop: " + a.Location + " leads back to itself"
	case permanent && (n.hops == 1 || n.lasting == from):
		n.lasting = a.Location
	}
	n.url = a.Location
	n.jar = keepCookies(n.jar, from, a.Cookies)
	return &n, ""
}

const mostCookies = 20

func keepCookies(jar http.CookieJar, from string, set []*http.Cookie) http.CookieJar {
	u, err := url.Parse(from)
	if err != nil || len(set) == 0 {
		return jar
	}
	if jar == nil {
		jar, _ = cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List}) // never fails
	}
	jar.SetCookies(u, set[:min(len(set), mostCookies)])
	return jar
}

func origin(address string) string { return link.Origin(address) }

func partOf(address string) int { return courant.Partition(link.Domain(link.Host(address))) }

// ours reports whether we hold the partition of an address.
func (r *Robot) ours(address string) bool {
	return r.lease(partOf(address)).until.After(time.Now())
}

// elsewhere reports whether an address belongs to another host.
func (h *host) elsewhere(address string) bool { return origin(address) != h.origin }

// follow ends the task at this host and queues it at the host that it is redirected
// to.
func (r *Robot) follow(h *host, t, on task, next time.Time) {
	r.mu.Lock()
	r.queue.done(h, t, next)
	r.goTo(on)
	r.unlockAndNotify()
}

// learnt puts the task back after learn, and queues an errand if there is one.
func (r *Robot) learnt(h *host, t task, errand *task, next time.Time) {
	r.mu.Lock()
	h.learning = false
	r.queue.back(h, t, next)
	if errand != nil {
		r.goTo(*errand)
	}
	r.unlockAndNotify()
}

// goTo queues a task at the end of its redirect chain. An errand may also go to a host
// of another robot: there are few, and this robot keeps to the host's pace for its own.
func (r *Robot) goTo(t task) {
	part := partOf(t.trail.url)
	if held, ours := r.parts[part]; ours || t.errand() {
		r.queue.add(r.queue.host(origin(t.trail.url), part, held.since.Add(r.gap())), t)
	}
}

const (
	// movedAfter is how often a permanent redirect is seen before the target is polled
	// instead of the source's address.
	movedAfter = 2
	// settleAfter is how long the target is polled before it becomes the source's
	// address, if the old one still redirects there.
	settleAfter = 7 * 24 * time.Hour
	// strayAfter is how many failures of the target in a row make polls return to the old address.
	strayAfter = 3
)

// setOut is where a poll begins if not at p.url: at the redirect target that another
// robot handed over, or at the old address of a source that moved some time ago, to
// check whether it still redirects to the new one.
func (r *Robot) setOut(p *polled) *trail {
	switch {
	case p.redirectURL != "":
		return &trail{url: p.redirectURL, hops: p.redirectHops}
	case p.moved == p.url && p.url != p.home && r.settles(p):
		return &trail{url: p.home}
	}
	return nil
}

// strayed reports whether the target of a permanent redirect has turned out not to be
// the source.
func (p *polled) strayed(status int) bool {
	if p.moved == "" || p.home == p.moved || p.start != p.moved {
		return false
	}
	return status == http.StatusNotFound || status == http.StatusGone || p.failures+1 >= strayAfter
}

// askHome makes polls of the source return to its own address.
func askHome(tx *store.Tx, p *polled) error {
	if _, err := tx.Exec(noteMoved, p.source, "", 0, 0); err != nil {
		return err
	}
	_, err := tx.Exec(askAt, p.source, p.home, origin(p.home), partOf(p.home))
	return err
}

// moves learns the source's address from a good response.
func (r *Robot) moves(ctx context.Context, h *host, p *polled, way *trail) {
	lasting := way.movedFrom(p.home)
	var change func(*store.Tx) error
	switch {
	case lasting != "":
		change = func(tx *store.Tx) error { return r.movedTo(tx, p, lasting) }
	case p.moved != "" && p.url == p.home:
		change = func(tx *store.Tx) error { return askHome(tx, p) } // it does not redirect any more
	default:
		return
	}
	r.writeFor(ctx, h, p.url, change)
}

// settles reports whether a move has lasted long enough to be permanent.
func (r *Robot) settles(p *polled) bool { return r.Store.Now().Sub(p.movedSince) > settleAfter }

// movedTo notes that the source's address redirects permanently to at.
func (r *Robot) movedTo(tx *store.Tx, p *polled, at string) error {
	if at == p.moved && r.settles(p) {
		return settleAt(tx, p)
	}
	return seenAt(tx, p, at)
}

// movedFrom is the end of the chain if it began at home and has only permanent
// redirects, else "".
func (w *trail) movedFrom(home string) string {
	if w == nil || w.lasting != w.url || len(w.been) == 0 || w.been[0] != home {
		return ""
	}
	return w.lasting
}

// seenAt counts a permanent redirect, and makes polls go to its target from the second
// time on.
func seenAt(tx *store.Tx, p *polled, at string) error {
	seen, since := 0, p.movedSince
	if err := tx.Row(seenMoved, p.source, at).Scan(&seen); err != nil && !store.NoRow(err) {
		return err
	}
	if seen++; seen == 1 {
		since = tx.Now()
	}
	if _, err := tx.Exec(noteMoved, p.source, at, seen, store.Millis(since)); err != nil || seen < movedAfter {
		return err
	}
	_, err := tx.Exec(askAt, p.source, at, origin(at), partOf(at))
	return err
}

// settleAt makes the target the source's address, unless another source has it.
func settleAt(tx *store.Tx, p *polled) error {
	n, err := tx.Exec(settle, p.source, p.moved, link.Host(p.moved))
	if err != nil {
		return err
	}
	since, moved := int64(0), ""
	if n == 0 {
		since, moved = tx.Now().UnixMilli(), p.moved // try again later
	}
	if _, err := tx.Exec(noteMoved, p.source, moved, movedAfter, since); err != nil {
		return err
	}
	_, err = tx.Exec(askAt, p.source, p.moved, origin(p.moved), partOf(p.moved))
	return err
}

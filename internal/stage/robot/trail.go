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

// trail is where redirects have led. Cookies that servers set on the way go along,
// and end with it.
type trail struct {
	url     string // where it is now; "" at the start
	hops    int
	been    []string // addresses that led on
	lasting string   // where the permanent redirects at its start have led
	jar     http.CookieJar
	rules   *host // whose robots.txt it is that is asked for; nil of other trails
}

// errand says whether the task is another host's, whose robots.txt lies here.
func (t task) errand() bool { return t.trail != nil && t.trail.rules != nil }

// start is where a trail began, which is an address of its source: home, or what is
// asked in its place.
func (w *trail) start(asked, home string) string {
	if w.url == home || slices.Contains(w.been, home) {
		return home
	}
	return asked
}

// short says whether the trail may still get longer.
func (w *trail) short() bool { return w == nil || w.hops < maxHops }

// once is the task that asks for an address once more, as one more step of its trail.
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

// cookies are those that were set on the way.
func (w *trail) cookies() http.CookieJar {
	if w == nil {
		return nil
	}
	return w.jar
}

// on is the trail that goes on where an answer from an address leads, or why it ends.
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

// ours says whether the host of an address is in a part that we hold.
func (r *Robot) ours(address string) bool {
	return r.lease(partOf(address)).until.After(time.Now())
}

// elsewhere says whether an address is another host's.
func (h *host) elsewhere(address string) bool { return origin(address) != h.origin }

// follow ends the task at this host and goes on with it at the one that its trail
// leads to, in whose queue it waits like any other.
func (r *Robot) follow(h *host, t, on task, next time.Time) {
	r.mu.Lock()
	r.queue.done(h, t, next)
	r.goTo(on)
	r.freed()
}

// learnt puts the task back after its host was learnt about, and sends an errand off.
func (r *Robot) learnt(h *host, t task, errand *task, next time.Time) {
	r.mu.Lock()
	h.learning = false
	r.queue.back(h, t, next)
	if errand != nil {
		r.goTo(*errand)
	}
	r.freed()
}

// goTo queues a task where its trail leads. An errand also goes to a host of another
// robot: there are few, and this robot keeps the host's pace for those that it has.
func (r *Robot) goTo(t task) {
	part := partOf(t.trail.url)
	if held, ours := r.parts[part]; ours || t.errand() {
		r.queue.add(r.queue.host(origin(t.trail.url), part, held.since.Add(r.gap())), t)
	}
}

const (
	// movedAfter is how often a permanent redirect is seen before the target is asked
	// in place of the source's address.
	movedAfter = 2
	// settleAfter is how long the target is asked before it becomes the source's
	// address, if the old one leads there still.
	settleAfter = 7 * 24 * time.Hour
	// strayAfter is how many failures in a row of the target lead back to the old address.
	strayAfter = 3
)

// setOut is where a poll begins if not at what is asked: where another robot was
// led, or at the old address of a source that moved some time ago, to see whether
// it still leads to the new one.
func (r *Robot) setOut(p *polled) *trail {
	switch {
	case p.led != "":
		return &trail{url: p.led, hops: p.ledHops}
	case p.moved == p.url && p.url != p.home && r.settles(p):
		return &trail{url: p.home}
	}
	return nil
}

// strayed says whether the target of a permanent redirect has turned out not to be
// the source.
func (p *polled) strayed(status int) bool {
	if p.moved == "" || p.home == p.moved || p.start != p.moved {
		return false
	}
	return status == http.StatusNotFound || status == http.StatusGone || p.failures+1 >= strayAfter
}

// askHome has the source asked again at its own address.
func askHome(tx *store.Tx, p *polled) error {
	if _, err := tx.Exec(noteMoved, p.source, "", 0, 0); err != nil {
		return err
	}
	_, err := tx.Exec(askAt, p.source, p.home, origin(p.home), partOf(p.home))
	return err
}

// moves learns from a good answer where the source is.
func (r *Robot) moves(ctx context.Context, h *host, p *polled, way *trail) {
	lasting := way.movedFrom(p.home)
	var change func(*store.Tx) error
	switch {
	case lasting != "":
		change = func(tx *store.Tx) error { return r.movedTo(tx, p, lasting) }
	case p.moved != "" && p.url == p.home:
		change = func(tx *store.Tx) error { return askHome(tx, p) } // it leads nowhere any more
	default:
		return
	}
	r.writeFor(ctx, h, p.url, change)
}

// settles says whether a move has lasted long enough to be for good.
func (r *Robot) settles(p *polled) bool { return r.Store.Now().Sub(p.movedSince) > settleAfter }

// movedTo notes where permanent redirects have led from the source's address.
func (r *Robot) movedTo(tx *store.Tx, p *polled, at string) error {
	if at == p.moved && r.settles(p) {
		return settleAt(tx, p)
	}
	return seenAt(tx, p, at)
}

// movedFrom is where the trail has led from an address, if by permanent redirects alone.
func (w *trail) movedFrom(home string) string {
	if w == nil || w.lasting != w.url || len(w.been) == 0 || w.been[0] != home {
		return ""
	}
	return w.lasting
}

// seenAt notes that a permanent redirect led somewhere, and asks there from the
// second time on.
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
		since, moved = tx.Now().UnixMilli(), p.moved // see again later
	}
	if _, err := tx.Exec(noteMoved, p.source, moved, movedAfter, since); err != nil {
		return err
	}
	_, err = tx.Exec(askAt, p.source, p.moved, origin(p.moved), partOf(p.moved))
	return err
}

package robot

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"github.com/courant-platform/courant/internal/stage/robot/rules"
)

// host is what robot knows of one host while it has it. The queue's fields are
// guarded by Robot.mu; the others belong to the goroutine that has the host's
// connection, or to Robot.mu where several are allowed.
type host struct {
	origin string // scheme, name and port
	part   int
	next   time.Time // may be asked from then on
	tasks  taskHeap
	hands  []taskID // tasks that were popped
	wanted int      // tasks in memory that are no polls
	worst  int32    // the highest priority of these since there were none
	more   bool     // the store may have more
	hungry bool     // and they are to be read
	turn   bool     // next is a turn that its groups gave it
	at     int      // in the heap, -1 outside
	gone   bool     // dropped while a task of it was in hand

	loaded   bool
	learning bool   // somebody finds out what is to be known before it is asked
	way      *trail // where redirects have led its robots.txt, if that is here still
	errand   int64  // names the errand for its robots.txt, 0 if there never was one
	rules    rules.Rules
	robots   int        // 200 rules, 404 none, 503 nothing is allowed, 0 not known
	until    time.Time  // when robots.txt must be asked for again
	failures int        // in a row
	refusals int        // answers of 403 in a row
	lost     bool       // its last connection was closed without an answer
	address  netip.Addr // where it was asked last; not known behind a proxy
	latency  time.Duration
	limit    time.Duration // the pace that its limits (429) have taught
	streak   int           // good answers since limit changed
}

// has says whether a wanted address is in the queue or in hand. There are few.
func (h *host) has(id taskID) bool {
	return slices.Contains(h.hands, id) || slices.ContainsFunc(h.tasks, func(t task) bool { return t.id == id })
}

// mostDelay bounds the pace by latency.
const mostDelay = 20 * time.Second

// pace is the time from the start of one request to the start of the next: the
// configured gap, the host's Crawl-delay, what its limits have taught, and twice what
// it takes to answer, so that it rests as long as it works for us.
func (h *host) pace(gap time.Duration) time.Duration {
	return max(gap, h.rules.Delay, h.limit, min(2*h.latency, mostDelay))
}

// limited doubles the pace of a host that was asked too often. Good answers make it
// less again, slowly, for the limit may have been raised.
func (h *host) limited(gap time.Duration) {
	h.limit, h.streak = min(2*h.pace(gap), mostLimit), 0
}

const (
	mostLimit  = time.Minute
	goodStreak = 50
)

// answered smooths the host's latency and ends its back-off.
func (h *host) answered(latency, gap time.Duration) {
	h.failures = 0
	if h.streak++; h.limit > 0 && h.streak >= goodStreak {
		if h.limit, h.streak = h.limit-h.limit/8, 0; h.limit <= gap {
			h.limit = 0
		}
	}
	if h.latency == 0 {
		h.latency = latency
	}
	h.latency += (latency - h.latency) / 4
}

// failed begins or widens the back-off: half a minute, doubled for each failure
// in a row up to an hour, with jitter. A host may ask for more, and the first time for
// less.
func (h *host) failed(retryAfter time.Duration) time.Duration {
	h.failures++
	if h.failures == 1 && retryAfter > 0 {
		return retryAfter + rand.N(retryAfter/8+time.Second)
	}
	return max(backOff(30*time.Second, h.failures-1, time.Hour), retryAfter)
}

const (
	fewRefusals = 3 // answers of 403 in a row before they are taken to be meant for us
	refusedWait = time.Hour
	refusedMost = 24 * time.Hour
)

// refused begins or widens the back-off from a host that wants no robots: at once
// if a bot wall says so, else after a few answers of 403 in a row.
func (h *host) refused(wall bool) time.Duration {
	if h.refusals++; h.refusals < fewRefusals && !wall {
		return 0
	}
	wait := backOff(refusedWait, h.failures, refusedMost)
	h.failures++
	return wait
}

// backOff is the first wait, doubled n times up to the longest, of which it may be
// half by chance.
func backOff(first time.Duration, n int, most time.Duration) time.Duration {
	wait := min(first<<min(n, 12), most)
	return wait/2 + rand.N(wait/2+1)
}

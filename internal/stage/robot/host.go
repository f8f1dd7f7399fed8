package robot

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"github.com/courant-platform/courant/internal/stage/robot/rules"
)

// host is the state of one host in memory. Robot.mu guards the queue's fields; the
// others belong to the goroutine that has the host's connection, or to Robot.mu where
// several connections are allowed.
type host struct {
	origin string // scheme, name and port
	part   int
	next   time.Time // earliest time of the next request
	tasks  taskHeap
	hands  []taskID // tasks in hand: popped and not yet given back
	wanted int      // tasks in memory other than polls
	worst  int32    // the largest priority (least urgent) of these since wanted was 0
	more   bool     // the store may have more tasks
	hungry bool     // in the queue's list of hosts whose tasks are to be read
	turn   bool     // next is a slot that its groups gave it
	at     int      // index in the heap, -1 outside
	gone   bool     // dropped, perhaps while a task was in hand

	loaded   bool
	learning bool   // a goroutine is loading its state or robots.txt
	way      *trail // redirect chain of its robots.txt, while on this host
	errand   int64  // id of the errand for its robots.txt, 0 if there never was one
	rules    rules.Rules
	robots   int        // 200 has rules, 404 has none, 503 nothing is allowed, 0 unknown
	until    time.Time  // when robots.txt must be fetched again
	failures int        // in a row
	refusals int        // 403 responses in a row
	lost     bool       // its last connection was closed without a response
	address  netip.Addr // IP address of the last request; unknown behind a proxy
	latency  time.Duration
	limit    time.Duration // the pace learnt from 429 responses
	streak   int           // good responses since limit changed
}

// has reports whether a wanted address is in the queue or in hand. There are few.
func (h *host) has(id taskID) bool {
	return slices.Contains(h.hands, id) || slices.ContainsFunc(h.tasks, func(t task) bool { return t.id == id })
}

// mostDelay bounds the pace by latency.
const mostDelay = 20 * time.Second

// pace is the time from the start of one request to the start of the next: the
// longest of the configured gap, the host's Crawl-delay, the pace learnt from its
// limits, and twice its latency, so that it rests for as long as it works for us.
func (h *host) pace(gap time.Duration) time.Duration {
	return max(gap, h.rules.Delay, h.limit, min(2*h.latency, mostDelay))
}

// limited doubles the time between requests after a 429 response. Good responses
// shorten it again, slowly, since the limit may have been raised.
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

// failed begins or extends the back-off: half a minute, doubled for each failure
// in a row up to an hour, with jitter. A host may ask for more, and the first time also
// for less (Retry-After).
func (h *host) failed(retryAfter time.Duration) time.Duration {
	h.failures++
	if h.failures == 1 && retryAfter > 0 {
		return retryAfter + rand.N(retryAfter/8+time.Second)
	}
	return max(backOff(30*time.Second, h.failures-1, time.Hour), retryAfter)
}

const (
	fewRefusals = 3 // 403 responses in a row before they count as a refusal of robots
	refusedWait = time.Hour
	refusedMost = 24 * time.Hour
)

// refused begins or extends the back-off from a host that refuses robots: at once
// after a bot wall, else after a few 403 responses in a row.
func (h *host) refused(wall bool) time.Duration {
	if h.refusals++; h.refusals < fewRefusals && !wall {
		return 0
	}
	wait := backOff(refusedWait, h.failures, refusedMost)
	h.failures++
	return wait
}

// backOff is the first wait, doubled n times up to most; a random part, up to half,
// is taken off.
func backOff(first time.Duration, n int, most time.Duration) time.Duration {
	wait := min(first<<min(n, 12), most)
	return wait/2 + rand.N(wait/2+1)
}

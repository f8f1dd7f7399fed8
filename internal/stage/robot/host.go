package robot

import (
	"math/rand/v2"
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
	busy   int
	at     int  // in the heap, -1 outside
	gone   bool // dropped while a task of it was in hand

	loaded   bool
	rules    rules.Rules
	robots   int       // 200 rules, 404 none, 503 nothing is allowed, 0 not known
	until    time.Time // when robots.txt must be asked for again
	failures int       // in a row
	latency  time.Duration
}

// pace is the time from the start of one request to the start of the next: the
// configured gap, the host's Crawl-delay, and the more the longer it takes to
// answer.
func (h *host) pace(gap time.Duration) time.Duration {
	return max(gap, h.rules.Delay, min(h.latency, 10*time.Second))
}

// answered smooths the host's latency and ends its back-off.
func (h *host) answered(latency time.Duration) {
	h.failures = 0
	if h.latency == 0 {
		h.latency = latency
	}
	h.latency += (latency - h.latency) / 4
}

// failed begins or widens the back-off: half a minute, doubled for each failure
// in a row up to an hour, with jitter. A host may ask for more.
func (h *host) failed(retryAfter time.Duration) time.Duration {
	wait := min(30*time.Second<<min(h.failures, 10), time.Hour)
	h.failures++
	wait = wait/2 + rand.N(wait/2+1)
	return max(wait, retryAfter)
}

// Package degrade keeps a search within its capacity: under load it ranks a smaller
// share of the matching candidates, but still filters and counts all of them. It has
// policies that turn load into a share, admission control, and a picker of replicas.
// Only Meter does I/O, and time is passed in, so that a simulation runs the code that
// serves.
package degrade

import "time"

// Reason is why not everything was ranked.
type Reason string

// The reasons, as answers name them.
const (
	None     Reason = "none"     // everything was ranked
	Load     Reason = "load"     // the policy expected more work than the machine can do
	Queue    Reason = "queue"    // the query had waited, or the queue was full
	Deadline Reason = "deadline" // too little of the deadline was left
	Missing  Reason = "missing"  // the shard did not answer
)

// Period is the interval between calls of a policy.
const Period = 250 * time.Millisecond

// DefaultFloor is the least share of all policies.
const DefaultFloor = 0.05

// Signals are what a policy sees of the time since its last call. Work is measured in
// cores: CPU seconds per second.
type Signals struct {
	Elapsed  time.Duration
	Capacity float64       // cores
	Used     float64       // cores in use by all programs, at most Capacity
	Queries  float64       // cores that finished queries used
	Arrivals int           // queries, including refused ones
	Cost     Estimate      // of one query
	Wait     time.Duration // mean wait in the gate's queue
	Quota    bool          // Capacity is a quota: throttling alone makes runnable threads wait
	RunDelay float64       // cores' worth of threads that were runnable and did not run
	Pressure float64       // fraction of the time in which some thread waited for a CPU
}

// Policy turns load into the share of candidates to rank, from 0 to 1. Share is called
// every Period, by one goroutine at a time.
type Policy interface {
	Share(Signals) float64
}

// Fixed is a policy with the same share under any load.
type Fixed float64

// Share is f, whatever the load.
func (f Fixed) Share(Signals) float64 { return between(0, float64(f), 1) }

// Report is the load of a server, which it sends with every reply.
type Report struct {
	Share    float64       `json:"share"`     // of its policy
	InFlight int           `json:"in_flight"` // queries running
	Waiting  int           `json:"waiting"`   // queries in its queue
	Wait     time.Duration `json:"wait"`      // that a query which arrives now can expect
}

// Together is the share that all shards of a query rank: the least of their reports.
// Unequal shares would favour the documents of some shards.
func Together(reports ...Report) (share float64, why Reason) {
	share, why = 1, None
	for _, r := range reports {
		if r.Share < share {
			share, why = r.Share, Load
		}
	}
	return share, why
}

func between(low, x, high float64) float64 { return max(low, min(x, high)) }

// or is x unless that is zero.
func or(x, otherwise float64) float64 {
	if x == 0 {
		return otherwise
	}
	return x
}

// Package degrade keeps a search within its capacity by ranking less, never by
// filtering or counting less: policies that turn load into a share, a gate that hands
// the share to queries, a picker of replicas. It does no I/O save in Meter, and
// time comes in as values, so that a simulation runs the very code that serves.
package degrade

import "time"

// Reason says why less than everything was ranked.
type Reason string

// The reasons, as answers name them.
const (
	None     Reason = "none"     // everything was ranked
	Load     Reason = "load"     // the policy foresaw more work than the machine can do
	Queue    Reason = "queue"    // the query had waited, or the queue was full
	Deadline Reason = "deadline" // too little of the deadline was left
	Missing  Reason = "missing"  // the shard did not answer
)

// Period is how often a policy is asked.
const Period = 250 * time.Millisecond

// DefaultFloor is the share that no policy goes below.
const DefaultFloor = 0.05

// Signals are what a policy sees of the time since it was last asked. Work is counted
// in cores: CPU seconds a second.
type Signals struct {
	Elapsed  time.Duration
	Capacity float64       // cores
	Used     float64       // cores in use by whatever runs, at most Capacity
	Queries  float64       // cores that finished queries took
	Arrivals int           // queries, those refused too
	Cost     Estimate      // of one query
	Wait     time.Duration // mean wait in the own queue
	Quota    bool          // the capacity is what a quota leaves: threads that are ready stand still for that alone
	RunDelay float64       // cores' worth of threads that were ready and did not run
	Pressure float64       // part of the time in which some thread waited for a CPU
}

// Policy turns load into the share of candidates to rank, from 0 to 1. It is asked
// every Period by one goroutine at a time.
type Policy interface {
	Share(Signals) float64
}

// Fixed is a share that somebody has set, whatever the load.
type Fixed float64

// Share is the share that was set.
func (f Fixed) Share(Signals) float64 { return between(0, float64(f), 1) }

// Report is what a server says of itself on every reply.
type Report struct {
	Share    float64       `json:"share"`     // of its policy
	InFlight int           `json:"in_flight"` // queries running
	Waiting  int           `json:"waiting"`   // queries in its queue
	Wait     time.Duration `json:"wait"`      // what a query that comes now may expect
}

// Together is the one share for all shards of a query: the least that one of them
// would give. Shards that rank unequal shares would favour the documents of some.
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

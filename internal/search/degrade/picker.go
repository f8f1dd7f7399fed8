package degrade

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Replica is one of the servers that hold a shard.
type Replica struct {
	Name string
	Zone string
}

// Picker chooses among the replicas of one shard, for callers in one zone. It stays in
// that zone while enough replicas there are healthy, and takes the better of two random
// ones by queries in flight × latency. New and returning replicas start slowly; failing
// ones are ejected for a while.
//
// All methods may be called by several goroutines at once.
type Picker struct {
	Zone string     // of the callers
	Rand *rand.Rand // for all random choices

	// mu guards the fields below, and the use of Rand.
	mu    sync.Mutex
	all   []replica
	off   map[string]bool // zones that are switched off
	spill spill
	slow  quantile // the 95th percentile of latencies
	hedge budget
	retry budget
}

// replica is what a picker knows of one.
type replica struct {
	Replica
	off      bool // its zone is switched off
	inFlight int
	latency  float64 // seconds, averaged; 0 if unknown
	report   Report
	heard    time.Time // when it last reported
	since    time.Time // when it started to serve; zero for a replica of the first Set
	failures int       // in a row
	until    time.Time // ejected until then
	ejected  int       // times in a row
	trying   bool      // one request tries it after an ejection
}

// Result is how a request to a replica ended.
type Result struct {
	Took    time.Duration
	Failed  bool
	Dropped bool   // abandoned, because another replica was faster
	Report  Report // sent with the reply
}

const (
	slowStart     = 2 * time.Second
	slowLeast     = 0.05 // weight at the start
	ejectAfter    = 3    // failures in a row
	ejectFor      = 5 * time.Second
	ejectLongest  = time.Minute
	latencyWeight = 0.05
	fresh         = 2 * time.Second // older reports are ignored
	hedgePart     = 0.02            // of requests
	hedgeSaved    = 5
	retryPart     = 0.1
	retrySaved    = 20
)

// Set replaces the list of replicas. New ones start slowly, except in the first call.
func (p *Picker) Set(now time.Time, replicas []Replica) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := p.all == nil
	before := p.all
	p.all = make([]replica, 0, len(replicas))
	for _, r := range replicas {
		i := slices.IndexFunc(before, func(b replica) bool { return b.Replica == r })
		switch {
		case i >= 0:
			p.all = append(p.all, before[i])
		case first:
			p.all = append(p.all, replica{Replica: r, off: p.off[r.Zone]})
		default:
			p.all = append(p.all, replica{Replica: r, since: now, off: p.off[r.Zone]})
		}
	}
	if first {
		p.hedge, p.retry = budget{part: hedgePart, most: hedgeSaved}, budget{part: retryPart, most: retrySaved, saved: retrySaved}
		p.slow.at = 0.95
	}
}

// Switch switches a zone on or off.
func (p *Picker) Switch(now time.Time, zone string, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.off[zone] == !on {
		return
	}
	if p.off == nil {
		p.off = map[string]bool{}
	}
	p.off[zone] = !on
	for i := range p.all {
		r := &p.all[i]
		if r.off = p.off[r.Zone]; on && r.Zone == zone {
			r.since, r.until, r.ejected, r.failures, r.trying = now, time.Time{}, 0, 0, false
		}
	}
}

// Pick chooses a replica for a request; "" if there is none. Done must follow.
func (p *Picker) Pick(now time.Time) (name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hedge.earn()
	p.retry.earn()
	return p.take(now, p.choose(now, ""))
}

// Retry chooses another replica after one has failed; "" if there is none, or if so many
// requests fail that retries would only add to the load.
func (p *Picker) Retry(now time.Time, failed string) (name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.choose(now, failed)
	if i < 0 || !p.retry.spend() {
		return ""
	}
	return p.take(now, i)
}

// HedgeAfter is how long to wait for an answer before asking Hedge.
func (p *Picker) HedgeAfter() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return seconds(p.slow.value)
}

// Hedge chooses a second replica for a request that is slow; "" if there is none, if one
// in fifty requests has already had one, or if any replica ranks a reduced share: then
// the load makes requests slow, and another request would add to it.
func (p *Picker) Hedge(now time.Time, slow string) (name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.all {
		if r := &p.all[i]; now.Sub(r.heard) < fresh && r.report.Share < 1 {
			return ""
		}
	}
	i := p.choose(now, slow)
	if i < 0 || !p.hedge.spend() {
		return ""
	}
	return p.take(now, i)
}

// Done reports how a request ended.
func (p *Picker) Done(now time.Time, name string, result Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.find(name)
	if i < 0 {
		return // Set has removed it
	}
	r := &p.all[i]
	r.inFlight = max(r.inFlight-1, 0)
	if result.Dropped {
		return
	}
	if result.Failed {
		r.failures++
		if r.failures >= ejectAfter || r.ejected > 0 {
			p.eject(now, r)
		}
		return
	}
	if r.trying { // it works again
		r.trying, r.ejected, r.since, r.until = false, 0, now, time.Time{}
	}
	r.failures, r.report, r.heard = 0, result.Report, now
	took := result.Took.Seconds()
	p.slow.add(took)
	if r.latency == 0 {
		r.latency = took
	}
	r.latency += (took - r.latency) * latencyWeight
}

// Hear takes a report that a replica sent without a request of ours.
func (p *Picker) Hear(now time.Time, name string, report Report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := p.find(name); i >= 0 {
		p.all[i].report, p.all[i].heard = report, now
	}
}

// Report is the last report of a replica; ok is false if it is too old.
func (p *Picker) Report(now time.Time, name string) (r Report, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.find(name)
	if i < 0 || p.all[i].heard.IsZero() || now.Sub(p.all[i].heard) > fresh {
		return Report{Share: 1}, false
	}
	return p.all[i].report, true
}

func (p *Picker) find(name string) int {
	return slices.IndexFunc(p.all, func(r replica) bool { return r.Name == name })
}

func (p *Picker) take(now time.Time, i int) string {
	if i < 0 {
		return ""
	}
	r := &p.all[i]
	r.inFlight++
	if r.ejected > 0 && !now.Before(r.until) {
		r.trying, r.until = true, now.Add(ejectFor) // one request tries it; the others wait for its result
	}
	return r.Name
}

// eject takes a replica out of use for a while, longer each time. At most half of the
// replicas are ejected: when most fail, the fault lies elsewhere.
func (p *Picker) eject(now time.Time, r *replica) {
	used, ejected := 0, 0
	for i := range p.all {
		if o := &p.all[i]; !o.off {
			used++
			if o != r && o.ejected > 0 {
				ejected++
			}
		}
	}
	if 2*(ejected+1) > used {
		return
	}
	r.trying, r.until = false, now.Add(min(ejectFor<<r.ejected, ejectLongest))
	r.ejected = min(r.ejected+1, 8)
}

// weight is the fraction of its usual load that a replica can take.
func (p *Picker) weight(now time.Time, r *replica) float64 {
	switch {
	case r.off || now.Before(r.until):
		return 0
	case r.ejected > 0:
		return slowLeast // a trial
	case r.since.IsZero():
		return 1
	}
	return between(slowLeast, float64(now.Sub(r.since))/float64(slowStart), 1)
}

package degrade

import "time"

// zone sums up the replicas of a zone.
type zone struct {
	name   string
	size   int     // replicas
	weight float64 // sum of those that can be asked
	share  float64 // mean of their reports, 1 if there is none
	known  bool    // there is a report
}

// spill is the fraction of the zone's requests that go to another zone because that one
// has a higher share; it follows the difference of the shares slowly.
type spill struct {
	part float64
	at   time.Time
}

const (
	enough    = 1.4 // times the healthy replicas of a zone must reach all of them, or requests leave it
	spillGain = 0.5 // rise per second, times the difference of the shares
	spillOff  = 0.1 // fall per second
	spillMost = 0.5
	uneven    = 0.05 // smaller differences of shares are ignored
	trySpill  = 0.01 // fraction sent to zones without a report, to get one
)

// choose picks a replica other than not; -1 if there is none. It stays in the callers'
// zone except for the fraction that goesOut.
func (p *Picker) choose(now time.Time, not string) int {
	var at [8]zone
	zones := p.zones(now, not, at[:0])
	total, own := 0.0, -1
	for i, z := range zones {
		total += z.weight
		if z.name == p.Zone {
			own = i
		}
	}
	if total <= 0 {
		return p.any(not)
	}
	if own < 0 {
		return p.among(now, not, zones[p.draw(zones, -1, total)].name)
	}
	if others := total - zones[own].weight; others > 0 && p.Rand.Float64() < p.goesOut(now, zones, own) {
		if i := p.draw(zones, own, others); zones[i].weight > 0 {
			own = i
		}
	}
	return p.among(now, not, zones[own].name)
}

// zones sums up the replicas by zone.
func (p *Picker) zones(now time.Time, not string, all []zone) []zone {
	for i := range p.all {
		r := &p.all[i]
		z := -1
		for j := range all {
			if all[j].name == r.Zone {
				z = j
			}
		}
		if z < 0 {
			z, all = len(all), append(all, zone{name: r.Zone})
		}
		all[z].size++
		w := p.weight(now, r)
		if r.Name == not || w <= 0 {
			continue
		}
		all[z].weight += w
		share := 1.0
		if now.Sub(r.heard) < fresh {
			share, all[z].known = r.report.Share, true
		}
		all[z].share += w * share
	}
	for i := range all {
		if z := &all[i]; z.weight > 0 {
			z.share /= z.weight
		}
	}
	return all
}

// goesOut is the fraction of requests that leave the callers' zone: what its unhealthy
// replicas would have taken, or the spill if that is more.
func (p *Picker) goesOut(now time.Time, zones []zone, own int) float64 {
	o := &zones[own]
	lacks := 1 - min(enough*o.weight/float64(o.size), 1)
	best, known := 0.0, false
	for i, z := range zones {
		if i != own && z.weight > 0 {
			best, known = max(best, z.share), known || z.known
		}
	}
	s := &p.spill
	if o.share >= 1 && s.part == 0 {
		return lacks
	}
	dt := min(now.Sub(s.at).Seconds(), 1)
	switch more := best - o.share; {
	case !known:
		s.part = trySpill
	case more > uneven:
		s.part += more * spillGain * dt
	default:
		s.part -= spillOff * dt
	}
	s.part, s.at = between(0, s.part, spillMost), now
	return max(lacks, s.part)
}

// draw picks a random zone by weight, other than the one numbered except.
func (p *Picker) draw(zones []zone, except int, total float64) int {
	x := p.Rand.Float64() * total
	last := except
	for i, z := range zones {
		if i == except || z.weight <= 0 {
			continue
		}
		last = i
		if x -= z.weight; x < 0 {
			break
		}
	}
	return last
}

// among picks the better of two random replicas of a zone. A replica takes part in the
// fraction of draws that is its weight.
func (p *Picker) among(now time.Time, not, zone string) int {
	var at, weak [16]int
	here, others := at[:0], weak[:0]
	for i := range p.all {
		r := &p.all[i]
		w := p.weight(now, r)
		switch {
		case r.Zone != zone || r.Name == not || w <= 0:
		case w >= 1 || p.Rand.Float64() < w:
			here = append(here, i)
		default:
			others = append(others, i)
		}
	}
	if len(here) == 0 {
		here = others
	}
	a := p.Rand.IntN(len(here))
	if len(here) == 1 {
		return here[0]
	}
	b := p.Rand.IntN(len(here) - 1)
	if b >= a {
		b++
	}
	if p.load(now, here[b]) < p.load(now, here[a]) {
		return here[b]
	}
	return here[a]
}

// load is the expected time of a request in seconds: the wait that the replica reports,
// then our requests in flight and this one at the replica's latency.
func (p *Picker) load(now time.Time, i int) float64 {
	r := &p.all[i]
	if r.latency == 0 {
		return float64(r.inFlight) * 1e-9 // latency unknown: try it
	}
	wait := 0.0
	if now.Sub(r.heard) < fresh {
		wait = r.report.Wait.Seconds()
	}
	return wait + float64(r.inFlight+1)*r.latency
}

// any is a random replica of a zone in use, ejected or not: better than none.
func (p *Picker) any(not string) int {
	best, seen := -1, 0
	for i := range p.all {
		if r := &p.all[i]; !r.off && r.Name != not {
			if seen++; p.Rand.IntN(seen) == 0 {
				best = i
			}
		}
	}
	return best
}

// budget allows something for a fraction of requests, and saves up some of it.
type budget struct{ part, most, saved float64 }

func (b *budget) earn() { b.saved = min(b.saved+b.part, b.most) }

func (b *budget) spend() bool {
	if b.saved < 1 {
		return false
	}
	b.saved--
	return true
}

// quantile estimates a quantile of a stream in steps proportional to the estimate.
type quantile struct{ at, value float64 }

func (q *quantile) add(x float64) {
	const step = 0.02
	switch {
	case q.value == 0:
		q.value = 2 * x
	case x > q.value:
		q.value *= 1 + step*q.at
	default:
		q.value *= 1 - step*(1-q.at)
	}
}

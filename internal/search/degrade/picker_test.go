package degrade

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// picking is a picker in zone a with replicas in each of some zones.
func picking(zones string, each int) *Picker {
	p := &Picker{Zone: "a", Rand: rand.New(rand.NewPCG(1, 1))}
	p.Set(ms(0), replicasIn(zones, each))
	return p
}

func replicasIn(zones string, each int) (all []Replica) {
	for _, z := range zones {
		for i := range each {
			all = append(all, Replica{Name: fmt.Sprintf("%c%d", z, i), Zone: string(z)})
		}
	}
	return all
}

// ask sends requests one after another, and says how many each replica and each zone
// got.
func ask(p *Picker, at time.Time, n int, how func(name string) Result) map[string]int {
	got := map[string]int{}
	for range n {
		name := p.Pick(at)
		got[name]++
		if name == "" {
			continue
		}
		got[name[:1]]++
		p.Done(at, name, how(name))
	}
	return got
}

func well(string) Result { return Result{Took: 10 * time.Millisecond, Report: Report{Share: 1}} }

func TestTheCallersZoneComesFirst(t *testing.T) {
	if got := ask(picking("abc", 2), ms(0), 1000, well); got["a"] != 1000 || got["a0"] < 300 || got["a1"] < 300 {
		t.Error(got)
	}
	p := &Picker{Zone: "x", Rand: rand.New(rand.NewPCG(1, 1))}
	p.Set(ms(0), replicasIn("abc", 1))
	if got := ask(p, ms(0), 999, well); got["a"] < 250 || got["b"] < 250 || got["c"] < 250 {
		t.Errorf("from a zone without replicas: %v", got)
	}
}

func TestTheReplicaWithLessToDoIsChosen(t *testing.T) {
	p := picking("a", 2)
	slow := func(name string) Result {
		r := well(name)
		if name == "a0" {
			r.Took *= 10
		}
		return r
	}
	ask(p, ms(0), 200, slow)
	if got := ask(p, ms(0), 1000, slow); got["a1"] < 900 {
		t.Errorf("by latency: %v", got)
	}
	queued := func(name string) Result {
		r := well(name)
		if name == "a0" {
			r.Report.Wait = 30 * time.Millisecond
		}
		return r
	}
	p = picking("a", 2)
	ask(p, ms(0), 200, queued)
	if got := ask(p, ms(0), 1000, queued); got["a1"] != 1000 {
		t.Errorf("by the wait that it reports: %v", got)
	}
	p = picking("a", 2)
	ask(p, ms(0), 200, well)
	for p.Pick(ms(0)) != "a0" {
	}
	held := p.all[0].inFlight - p.all[1].inFlight
	if held < 0 || held > 1 {
		t.Errorf("those in flight differ by %d", held)
	}
}

func TestAZoneThatIsOffGetsNothingAndComesBackSlowly(t *testing.T) {
	p := picking("abc", 1)
	p.Switch(ms(0), "a", false)
	if got := ask(p, ms(0), 1000, well); got["a"] != 0 || got["b"] < 400 || got["c"] < 400 {
		t.Errorf("off: %v", got)
	}
	p.Switch(ms(1000), "a", true)
	p.Switch(ms(1000), "a", true) // does nothing
	before := 0
	for _, after := range []int{0, 700, 1400, 2000} {
		got := ask(p, ms(1000+after), 1000, well)
		if got["a"] < before || after == 0 && got["a"] > 150 || after == 700 && got["a"] > 700 || after == 2000 && got["a"] != 1000 {
			t.Errorf("%d ms after: %v", after, got)
		}
		before = got["a"]
	}
	for _, z := range []string{"a", "b", "c"} {
		p.Switch(ms(5000), z, false)
	}
	if name := p.Pick(ms(5000)); name != "" {
		t.Errorf("with all zones off %s was picked", name)
	}
}

func TestANewReplicaBeginsSlowly(t *testing.T) {
	p := picking("a", 2)
	ask(p, ms(0), 100, well)
	p.Set(ms(1000), replicasIn("a", 3))
	if got := ask(p, ms(1000), 1000, well); got["a2"] > 200 {
		t.Errorf("at once: %v", got)
	}
	if got := ask(p, ms(4000), 1000, well); got["a2"] < 200 {
		t.Errorf("later: %v", got)
	}
	p.Set(ms(5000), replicasIn("a", 1))
	if got := ask(p, ms(5000), 10, well); got["a0"] != 10 {
		t.Errorf("when others are gone: %v", got)
	}
	p.Done(ms(5000), "a2", well("a2")) // of one that is not named any more
}

func TestAReplicaThatFailsIsEjectedForAWhile(t *testing.T) {
	p := picking("abc", 2)
	broken := true
	how := func(name string) Result {
		r := well(name)
		r.Failed = broken && name == "a0"
		return r
	}
	ask(p, ms(0), 100, how)
	if got := ask(p, ms(1000), 1000, how); got["a0"] != 0 || got["a"] < 600 || got["b"] < 50 {
		t.Errorf("left alone: %v", got)
	}
	if got := ask(p, ms(6000), 1000, how); got["a0"] != 1 {
		t.Errorf("tried again: %v", got)
	}
	broken = false
	if got := ask(p, ms(12000), 1000, how); got["a0"] != 0 {
		t.Errorf("the second time it is left alone longer: %v", got)
	}
	ask(p, ms(17000), 1000, how)
	if got := ask(p, ms(20000), 1000, how); got["a0"] < 300 {
		t.Errorf("come back: %v", got)
	}
}

func TestMostReplicasAreNeverEjected(t *testing.T) {
	p := picking("ab", 3)
	ask(p, ms(0), 1000, func(string) Result { return Result{Failed: true} })
	left := 0
	for i := range p.all {
		if p.all[i].ejected > 0 {
			left++
		}
	}
	if left != 3 {
		t.Errorf("%d of 6 are left alone", left)
	}
	one := picking("a", 1)
	if got := ask(one, ms(0), 10, func(string) Result { return Result{Failed: true} }); got["a0"] != 10 {
		t.Errorf("the only one: %v", got)
	}
}

func TestAnOverloadedZoneIsHelpedByThoseWithRoom(t *testing.T) {
	p := picking("abc", 1)
	strained := func(name string) Result {
		r := well(name)
		if name[0] == 'a' {
			r.Report.Share = 0.6
		}
		return r
	}
	out := 0
	for s := range 5 {
		got := ask(p, ms(1000*s), 1000, strained)
		if got["b"]+got["c"] < out-60 {
			t.Errorf("second %d: %v", s, got)
		}
		out = got["b"] + got["c"]
	}
	if out < 200 || out > 600 {
		t.Errorf("%d of 1000 went out", out)
	}
	for s := range 10 {
		out = 1000 - ask(p, ms(5000+1000*s), 1000, well)["a"]
	}
	if out != 0 {
		t.Errorf("%d still go out", out)
	}
	even := func(name string) Result { return Result{Took: 1, Report: Report{Share: 0.6}} }
	for s := range 10 {
		out = 1000 - ask(p, ms(20000+1000*s), 1000, even)["a"]
	}
	if out > 50 {
		t.Errorf("%d go out though all are as bad", out)
	}
}

func TestHedgesAreFewAndNoneUnderLoad(t *testing.T) {
	p := picking("ab", 2)
	for i := range 4000 {
		name := p.Pick(ms(0))
		p.Done(ms(0), name, Result{Took: time.Duration(1+i%100) * time.Millisecond, Report: Report{Share: 1}})
	}
	if after := p.HedgeAfter(); after < 85*time.Millisecond || after > 105*time.Millisecond {
		t.Errorf("hedges begin after %v", after)
	}
	hedges := 0
	for range 10000 {
		name := p.Pick(ms(0))
		if second := p.Hedge(ms(0), name); second != "" {
			hedges++
			if second == name {
				t.Fatal("the same one was asked twice")
			}
			p.Done(ms(0), second, well(second))
		}
		p.Done(ms(0), name, well(name))
	}
	if hedges < 190 || hedges > 206 {
		t.Errorf("%d of 10000 were hedged", hedges)
	}
	ask(p, ms(0), 1000, well)
	p.Done(ms(0), "b0", Result{Took: 1, Report: Report{Share: 0.99}})
	if second := p.Hedge(ms(0), "a0"); second != "" {
		t.Error("hedged under load")
	}
	if second := p.Hedge(ms(3000), "a0"); second == "" {
		t.Error("an old report forbids hedges")
	}
}

func TestRetriesEndWhenMostRequestsFail(t *testing.T) {
	p := picking("ab", 2)
	retries := 0
	for range 10000 {
		name := p.Pick(ms(0))
		p.Done(ms(0), name, Result{Failed: true})
		if second := p.Retry(ms(0), name); second != "" {
			retries++
			if second == name {
				t.Fatal("the same one was asked again")
			}
			p.Done(ms(0), second, Result{Failed: true})
		}
	}
	if retries > 1050 {
		t.Errorf("%d retries for 10000 requests", retries)
	}
	if alone := picking("a", 1); alone.Retry(ms(0), "a0") != "a0" {
		return
	}
	t.Error("the only replica was asked again")
}

func TestReportsGrowOld(t *testing.T) {
	p := picking("a", 1)
	if r, ok := p.Report(ms(0), "a0"); ok || r.Share != 1 {
		t.Errorf("%+v", r)
	}
	p.Done(ms(0), "a0", Result{Took: 1, Report: Report{Share: 0.5}})
	if r, ok := p.Report(ms(1000), "a0"); !ok || r.Share != 0.5 {
		t.Errorf("%+v", r)
	}
	if r, ok := p.Report(ms(3000), "a0"); ok || r.Share != 1 {
		t.Errorf("%+v", r)
	}
	if _, ok := p.Report(ms(0), "x"); ok {
		t.Error("a replica that is not there reports")
	}
}

func TestManyGoroutinesShareAPicker(t *testing.T) {
	p := picking("abc", 2)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { ask(p, ms(0), 500, well) })
	}
	all.Wait()
	for i := range p.all {
		if n := p.all[i].inFlight; n != 0 {
			t.Errorf("%s: %d in flight", p.all[i].Name, n)
		}
	}
}

func BenchmarkPicker(b *testing.B) {
	p := picking("abc", 3)
	b.ReportAllocs()
	for b.Loop() {
		name := p.Pick(ms(0))
		p.Done(ms(0), name, Result{Took: time.Millisecond, Report: Report{Share: 1}})
	}
}

func TestAnAbandonedRequestSaysNothingOfItsReplica(t *testing.T) {
	p := &Picker{Zone: "a", Rand: rand.New(rand.NewPCG(1, 1))}
	now := time.Unix(1000, 0)
	p.Set(now, []Replica{{"a1", "a"}})
	for range 2 * ejectAfter {
		p.Done(now, p.Pick(now), Result{Took: time.Hour, Failed: true, Dropped: true})
	}
	if r := p.all[0]; r.inFlight != 0 || r.failures != 0 || r.latency != 0 || !r.heard.IsZero() {
		t.Errorf("%+v", r)
	}
}

func TestAReportWithoutARequestIsTaken(t *testing.T) {
	p := &Picker{Zone: "a", Rand: rand.New(rand.NewPCG(1, 1))}
	now := time.Unix(1000, 0)
	p.Set(now, []Replica{{"a1", "a"}})
	p.Hear(now, "a1", Report{Share: 0.5})
	p.Hear(now, "nobody", Report{Share: 0.1})
	if r, ok := p.Report(now, "a1"); !ok || r.Share != 0.5 {
		t.Errorf("%+v %v", r, ok)
	}
}

package degrade

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func ms(n int) time.Time { return time.Unix(0, 0).Add(time.Duration(n) * time.Millisecond) }

// offered collects the tickets of queries in the order in which they are given.
type offered struct {
	names   []string
	tickets map[string]*Ticket
}

func (o *offered) offer(g *Gate, now time.Time, name string, a Ask) {
	g.Offer(now, a, func(t Ticket) {
		if o.tickets == nil {
			o.tickets = map[string]*Ticket{}
		}
		o.names = append(o.names, name)
		o.tickets[name] = &t
	})
}

// taught is a gate of one slot whose queries take 10 ms, of which 1 ms does not depend on the share.
func taught(g *Gate) *Gate {
	g.Slots = 1
	g.Tick(ms(0), Machine{})
	for range 100 {
		g.cost.Learn(Work{1000, 1000, 10 * time.Millisecond})
	}
	return g
}

func TestAGateLetsInAsManyAsItHasSlots(t *testing.T) {
	var o offered
	g := &Gate{Slots: 2}
	for _, name := range []string{"a", "b", "c", "d"} {
		o.offer(g, ms(0), name, Ask{})
	}
	if !slices.Equal(o.names, []string{"a", "b"}) {
		t.Fatal(o.names)
	}
	if r := g.Report(); r.InFlight != 2 || r.Waiting != 2 || r.Share != 1 {
		t.Errorf("%+v", r)
	}
	o.tickets["b"].DoneAt(ms(5), Work{})
	o.tickets["b"].DoneAt(ms(5), Work{}) // does nothing
	if !slices.Equal(o.names, []string{"a", "b", "c"}) {
		t.Fatal(o.names)
	}
	if c := o.tickets["c"]; c.Refused || c.Share != 1 || c.Reason != None || c.Waited != 5*time.Millisecond {
		t.Errorf("%+v", c)
	}
}

func TestAWaitCostsShare(t *testing.T) {
	for _, c := range []struct {
		waited int
		share  float64
		why    Reason
	}{{0, 1, None}, {10, 1, None}, {35, 0.5, Queue}, {60, DefaultFloor, Queue}, {900, DefaultFloor, Queue}} {
		var o offered
		g := taught(&Gate{})
		o.offer(g, ms(0), "before", Ask{})
		o.offer(g, ms(0), "it", Ask{})
		o.tickets["before"].DoneAt(ms(c.waited), Work{})
		it := o.tickets["it"]
		near(t, "the share", it.Share, c.share, 1e-9)
		if it.Reason != c.why {
			t.Errorf("after %d ms the reason is %s", c.waited, it.Reason)
		}
	}
}

func TestADeadlineThatIsNearCostsShare(t *testing.T) {
	var o offered
	g := taught(&Gate{})
	e := g.cost.Average()
	o.offer(g, ms(0), "near", Ask{Deadline: ms(8)})
	near(t, "the share", o.tickets["near"].Share, (safety*0.008-e.Fixed)/e.Ranked, 1e-9)
	if why := o.tickets["near"].Reason; why != Deadline {
		t.Error(why)
	}
}

func TestWhatCannotBeAnsweredInTimeIsRefusedAtOnce(t *testing.T) {
	var o offered
	g := taught(&Gate{})
	o.offer(g, ms(0), "running", Ask{})
	o.offer(g, ms(0), "late", Ask{Deadline: ms(20)})
	o.offer(g, ms(1), "patient", Ask{})
	g.Tick(ms(19), Machine{})
	late := o.tickets["late"]
	if late == nil || !late.Refused || late.Reason != Deadline || late.Waited != 19*time.Millisecond {
		t.Fatalf("%+v", late)
	}
	late.Done(Work{}) // does nothing
	if r := g.Report(); r.InFlight != 1 || r.Waiting != 1 {
		t.Errorf("%+v", r)
	}
	o.offer(g, ms(30), "gone", Ask{Deadline: ms(25)})
	o.tickets["running"].DoneAt(ms(31), Work{})
	if patient := o.tickets["patient"]; patient == nil || patient.Refused {
		t.Errorf("%+v", patient)
	}
}

func TestAGateWithRoomRefusesWhatIsPastItsDeadline(t *testing.T) {
	var o offered
	o.offer(&Gate{Slots: 1}, ms(30), "gone", Ask{Deadline: ms(25)})
	if gone := o.tickets["gone"]; !gone.Refused || gone.Reason != Deadline {
		t.Errorf("%+v", gone)
	}
}

func TestProgramsWaitBehindPeopleAndGoFirst(t *testing.T) {
	var o offered
	g := &Gate{Slots: 1, Most: 2}
	o.offer(g, ms(0), "running", Ask{})
	o.offer(g, ms(0), "bot", Ask{Program: true})
	o.offer(g, ms(1), "person", Ask{})
	o.tickets["running"].DoneAt(ms(2), Work{})
	if !slices.Equal(o.names, []string{"running", "person"}) {
		t.Fatal(o.names)
	}
	o.offer(g, ms(3), "second", Ask{})
	o.offer(g, ms(3), "third", Ask{}) // three wait now
	if bot := o.tickets["bot"]; bot == nil || !bot.Refused || bot.Reason != Queue {
		t.Fatalf("%+v", bot)
	}
	o.offer(g, ms(3), "fourth", Ask{})
	if second := o.tickets["second"]; second == nil || !second.Refused || second.Reason != Queue {
		t.Fatalf("the oldest person was not sent back: %+v", second)
	}
	g.share = 0.1
	o.offer(g, ms(4), "another bot", Ask{Program: true})
	if bot := o.tickets["another bot"]; bot == nil || bot.Reason != Load {
		t.Fatalf("%+v", bot)
	}
}

func TestAShareThatIsAskedForIsOnlyLowered(t *testing.T) {
	for _, c := range []struct {
		policy float64
		ask    Ask
		share  float64
		why    Reason
	}{
		{1, Ask{Share: 0.4}, 0.4, Load}, {1, Ask{Share: 0.4, Reason: Queue}, 0.4, Queue},
		{0.3, Ask{Share: 0.4}, 0.3, Load}, {0.3, Ask{}, 0.3, Load}, {1, Ask{}, 1, None},
	} {
		var o offered
		g := &Gate{Slots: 1, share: c.policy}
		o.offer(g, ms(0), "it", c.ask)
		if it := o.tickets["it"]; it.Share != c.share || it.Reason != c.why {
			t.Errorf("%+v gives %g, %s", c, it.Share, it.Reason)
		}
	}
}

func TestABlindGateFollowsThePolicyAlone(t *testing.T) {
	var o offered
	g := taught(&Gate{Blind: true, Most: 1})
	o.offer(g, ms(0), "running", Ask{})
	o.offer(g, ms(0), "a", Ask{Deadline: ms(101)})
	o.offer(g, ms(0), "b", Ask{Deadline: ms(90)})
	o.tickets["running"].DoneAt(ms(100), Work{})
	if a := o.tickets["a"]; a == nil || a.Share != 1 || a.Refused {
		t.Errorf("%+v", a)
	}
	o.tickets["a"].DoneAt(ms(110), Work{})
	if b := o.tickets["b"]; b == nil || !b.Refused {
		t.Errorf("%+v", b)
	}
}

func TestEnterWaitsForAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &Gate{Slots: 1}
		first := g.Enter(t.Context(), Ask{})
		go func() {
			time.Sleep(20 * time.Millisecond)
			first.Done(Work{10, 10, time.Millisecond})
		}()
		second := g.Enter(t.Context(), Ask{})
		if second.Refused || second.Waited != 20*time.Millisecond || second.Reason != Queue {
			t.Errorf("%+v", second)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		began := time.Now()
		third := g.Enter(ctx, Ask{})
		if !third.Refused || third.Reason != Deadline || time.Since(began) > 30*time.Millisecond {
			t.Errorf("%+v after %v", third, time.Since(began))
		}
		stopped, stop := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Millisecond, stop)
		if fourth := g.Enter(stopped, Ask{}); !fourth.Refused || fourth.Waited != 5*time.Millisecond {
			t.Errorf("%+v", fourth)
		}
		second.Done(Work{})
		if r := g.Report(); r.InFlight != 0 || r.Waiting != 0 {
			t.Errorf("%+v", r)
		}
	})
}

func TestRunCallsThePolicyUntilItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := &counting{}
		g := &Gate{Slots: 1, Policy: policy}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second+time.Millisecond)
		defer cancel()
		if err := g.Run(ctx, &Meter{Root: files{}}); err != nil {
			t.Fatal(err)
		}
		if policy.asked != 39 { // the first tick has no time before it
			t.Errorf("asked %d times", policy.asked)
		}
		near(t, "the share", g.Report().Share, 0.8, 1e-9)
	})
}

type counting struct{ asked int }

func (c *counting) Share(s Signals) float64 {
	c.asked++
	if s.Elapsed != Period || s.Capacity != 1 {
		return 0
	}
	return 0.8
}

func TestManyGoroutinesShareAGate(t *testing.T) {
	g := &Gate{Slots: 3}
	var all sync.WaitGroup
	var mu sync.Mutex
	inside, most := 0, 0
	for i := range 8 {
		all.Go(func() {
			for range 200 {
				ticket := g.Enter(t.Context(), Ask{Program: i%2 == 0})
				if ticket.Refused {
					t.Error("refused")
					return
				}
				mu.Lock()
				inside++
				most = max(most, inside)
				mu.Unlock()
				g.Report()
				mu.Lock()
				inside--
				mu.Unlock()
				ticket.Done(Work{1, 1, time.Microsecond})
			}
		})
	}
	all.Wait()
	if r := g.Report(); r.InFlight != 0 || r.Waiting != 0 || most > 3 {
		t.Errorf("%+v, %d inside at once", r, most)
	}
}

func BenchmarkGate(b *testing.B) {
	g := &Gate{Slots: 1 << 20}
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		t := g.Enter(ctx, Ask{})
		t.Done(Work{50000, 40000, time.Millisecond})
	}
}

func TestAFractionOfACoreStretchesQueries(t *testing.T) {
	for capacity, want := range map[float64]float64{0.4: 2.5, 1: 1, 1.5: 4.0 / 3, 8: 1} {
		g := &Gate{}
		g.Tick(time.Unix(0, 0), Machine{Capacity: capacity})
		near(t, "the stretch", g.stretch(), want, 1e-9)
	}
}

func TestClientsTakeTurns(t *testing.T) {
	var o offered
	g := &Gate{Slots: 1, Most: 6}
	o.offer(g, ms(0), "running", Ask{Client: "greedy"})
	for _, name := range []string{"a1", "a2", "a3", "a4"} {
		o.offer(g, ms(1), name, Ask{Client: "greedy"})
	}
	o.offer(g, ms(2), "b1", Ask{Client: "other"})
	o.offer(g, ms(3), "c1", Ask{Client: "third"})
	last := "running"
	for i := range 6 {
		o.tickets[last].DoneAt(ms(4+i), Work{})
		last = o.names[len(o.names)-1]
	}
	if want := []string{"running", "a1", "b1", "c1", "a2", "a3", "a4"}; !slices.Equal(o.names, want) {
		t.Errorf("%v, want %v", o.names, want)
	}
	for i := range 6 {
		o.offer(g, ms(20), fmt.Sprint("more", i), Ask{Client: "greedy"})
	}
	o.offer(g, ms(21), "last", Ask{Client: "other"}) // one too many
	if first := o.tickets["more0"]; first == nil || !first.Refused || first.Reason != Queue {
		t.Errorf("the client with most queries was not refused: %+v", first)
	}
	if it := o.tickets["last"]; it != nil {
		t.Errorf("the other client was decided on: %+v", it)
	}
}

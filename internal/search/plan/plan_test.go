package plan

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/search/degrade"
)

// drilled plays the loss that the policies are compared by: of three zones at a load of
// 82 % one goes, so that the others have 123 %.
func drilled(t *testing.T, name string, d Drill) Outcome {
	t.Helper()
	for _, way := range Ways() {
		if way.Name != name {
			continue
		}
		o, err := d.Play(t.Context(), way, nil)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	t.Fatalf("there is no way %q", name)
	return Outcome{}
}

func zoneLost() Drill {
	return Drill{World: World{Shards: 1, Load: Steady(0.82)}, Lost: 1, Normal: 12 * time.Second, Outage: 32 * time.Second, After: 8 * time.Second}
}

func TestThePoliciesCompareAsTheyShould(t *testing.T) {
	none := drilled(t, "no degradation", zoneLost())
	ten := drilled(t, "linear 90-100 %, CPU averaged over 10 s", zoneLost())
	five := drilled(t, "linear, averaged over 5 s", zoneLost())
	raw := drilled(t, "linear, raw 250 ms", zoneLost())
	ours := drilled(t, "feed-forward and the brake", zoneLost())
	for _, o := range []Outcome{none, ten, five, raw, ours} {
		t.Logf("%-42s %6d of %d failed, p99 %3.0f ms, share %.3f ± %.3f", o.Name, o.Outage.Errors, o.Outage.Queries, milliseconds(o.Outage.P99), o.Steady.Share, o.Steady.Sway)
	}
	if e := none.Outage; e.Errors < e.Queries*8/10 {
		t.Errorf("without degradation %d of %d fail", e.Errors, e.Queries)
	}
	if !(none.Outage.Errors > ten.Outage.Errors && ten.Outage.Errors > five.Outage.Errors && five.Outage.Errors > 0) {
		t.Error("the longer the average, the more errors")
	}
	if raw.Outage.Errors > 0 || raw.Steady.Sway < 0.15 || raw.Steady.Sway < 4*max(ten.Steady.Sway, five.Steady.Sway) {
		t.Errorf("the raw CPU gives %d errors and a share that swings by %.3f", raw.Outage.Errors, raw.Steady.Sway)
	}
	if raw.Outage.P99 < 2*ours.Outage.P99 {
		t.Errorf("p99: raw %v, ours %v", raw.Outage.P99, ours.Outage.P99)
	}
	unharmed(t, ours, 5*time.Second)
	if ours.Steady.Sway > 0.04 {
		t.Errorf("the share swings by %.3f", ours.Steady.Sway)
	}
}

// unharmed holds an outcome to the goals.
func unharmed(t *testing.T, o Outcome, back time.Duration) {
	t.Helper()
	if n := o.Normal.Errors + o.Outage.Errors + o.After.Errors; n > 0 {
		t.Errorf("%d errors", n)
	}
	if o.Outage.P99 > 2*o.Normal.P99 || o.First.P99 > 2*o.Normal.P99 {
		t.Errorf("p99 %v in normal times, %v in the outage, %v in its first 10 s", o.Normal.P99, o.Outage.P99, o.First.P99)
	}
	if o.After.Share < o.Normal.Share-0.01 {
		t.Errorf("%v after the return the share is %.3f, before it was %.3f", back, o.After.Share, o.Normal.Share)
	}
	for _, s := range o.Film.Seconds {
		if s.Queries == 0 || s.Share == 0 {
			t.Errorf("nothing was answered in the second to %v", s.At)
		}
	}
}

func TestTwoOfThreeZonesMayBeLost(t *testing.T) {
	d := zoneLost()
	d.Lost, d.Outage, d.Load = 2, 30*time.Second, Steady(0.6)
	o := drilled(t, "feed-forward and the brake", d)
	unharmed(t, o, 5*time.Second)
	if o.Outage.Share < 0.3 || o.Steady.Sway > 0.04 {
		t.Errorf("share %.3f ± %.3f", o.Outage.Share, o.Steady.Sway)
	}
}

func TestTheShareIsBackSoonAfterAZone(t *testing.T) {
	for seed := range uint64(3) {
		d := zoneLost()
		d.Seed, d.Normal, d.Outage = seed, 15*time.Second, 15*time.Second
		o := drilled(t, "feed-forward and the brake", d)
		returned := d.Normal + d.Outage
		if five := o.Film.Between(returned+5*time.Second, returned+6*time.Second); five.Share < o.Normal.Share-0.02 {
			t.Errorf("seed %d: 5 s after the return the share is %.3f, before it was %.3f", seed, five.Share, o.Normal.Share)
		}
	}
}

// day is two days' load, low by night, with a zone lost now and then, in less time than a day has: nothing that the policies remember lasts longer than
// a minute.
func day(length time.Duration) World {
	w := World{Shards: 1, Cores: 4, Ranked: 45 * time.Millisecond, Fixed: 5 * time.Millisecond, Length: length}
	w.Load = func(t time.Duration) float64 {
		hour := 24 * float64(t%(length/2)) / float64(length/2)
		return 0.5 - 0.35*math.Cos(2*math.Pi*hour/24) + 0.05*math.Sin(4*math.Pi*hour/24)
	}
	for i := range 6 {
		from := length * time.Duration(2*i+1) / 12
		w.Switches = append(w.Switches, Lost(3, 1, from, from+length/60)...)
	}
	return w
}

func TestNothingDriftsInALongTime(t *testing.T) {
	length := 24 * time.Minute
	film, err := Play(t.Context(), day(length), nil)
	if err != nil {
		t.Fatal(err)
	}
	first, second := film.Between(0, length/2), film.Between(length/2, length)
	t.Logf("first half: %+v", first)
	t.Logf("second half: %+v", second)
	if first.Errors+second.Errors > 0 {
		t.Errorf("%d and %d errors", first.Errors, second.Errors)
	}
	if math.Abs(first.Share-second.Share) > 0.01 {
		t.Errorf("the share of the first half is %.4f, of the second %.4f", first.Share, second.Share)
	}
	if r := float64(second.P99) / float64(first.P99); r < 0.9 || r > 1.1 {
		t.Errorf("p99 %v and %v", first.P99, second.P99)
	}
	left := 0
	for _, n := range film.Seconds[len(film.Seconds)-1].InFlight {
		left += n
	}
	if left > 30 {
		t.Errorf("%d queries are in flight at the end of the night", left)
	}
}

func TestTheSameSeedGivesTheSameRun(t *testing.T) {
	w := World{Zones: 4, Shards: 3, Replicas: 2, Cores: 2, Length: 10 * time.Second, Load: Steady(0.9), Switches: Lost(4, 2, 3*time.Second, 6*time.Second)}
	a, err := Play(t.Context(), w, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Play(t.Context(), w, nil)
	if err != nil || !reflect.DeepEqual(a.Seconds, b.Seconds) {
		t.Errorf("they differ, %v", err)
	}
	w.Seed = 1
	if c, err := Play(t.Context(), w, nil); err != nil || reflect.DeepEqual(a.Seconds, c.Seconds) {
		t.Errorf("another seed plays the same, %v", err)
	}
}

func TestEverySecondIsReported(t *testing.T) {
	var told []Second
	w := World{Length: 20 * time.Second, Load: Steady(0.7), Switches: Lost(3, 1, 10*time.Second, time.Minute)}
	film, err := Play(t.Context(), w, func(s Second) { told = append(told, s) })
	if err != nil || len(told) != 20 || !reflect.DeepEqual(told, film.Seconds) {
		t.Fatalf("%d seconds, %v", len(told), err)
	}
	before, after := told[8], told[18]
	if math.Abs(before.Load-0.7) > 0.001 || math.Abs(after.Load-1.05) > 0.001 || before.InFlight[2] == 0 || after.InFlight[2] != 0 {
		t.Errorf("%+v, then %+v", before, after)
	}
	reasons := 0
	for _, n := range after.Reasons {
		reasons += n
	}
	if reasons != after.Queries || after.Reasons[degrade.Load] == 0 {
		t.Errorf("%d queries, reasons %v", after.Queries, after.Reasons)
	}
}

func TestWithAllZonesLostEveryQueryFails(t *testing.T) {
	w := World{Length: 4 * time.Second, Switches: Lost(3, 3, 2*time.Second, time.Minute)}
	film, err := Play(t.Context(), w, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := film.Seconds[3]; s.Errors != s.Queries || s.Queries == 0 || s.Reasons[degrade.Missing] != s.Queries {
		t.Errorf("%+v", s)
	}
}

func TestWithoutLoadNothingHappens(t *testing.T) {
	film, err := Play(t.Context(), World{Length: 5 * time.Second, Load: Steady(0)}, nil)
	if err != nil || film.Between(0, time.Minute) != (Sum{}) {
		t.Errorf("%+v, %v", film, err)
	}
}

func TestImpossibleWorldsAreRefused(t *testing.T) {
	for _, w := range []World{{Zones: -1}, {Fixed: -1}, {Switches: []Switch{{Zone: 3}}}} {
		if _, err := Play(t.Context(), w, nil); !errors.Is(err, courant.Invalid) {
			t.Errorf("%+v: %v", w, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Play(ctx, World{Length: time.Hour}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a play that is stopped: %v", err)
	}
}

func TestTheCurveIsLinearBetweenPoints(t *testing.T) {
	c, err := ReadCurve([]byte(`[{"share":0.1,"lost":0.1},{"share":0.5,"lost":0.02}]`))
	if err != nil {
		t.Fatal(err)
	}
	for share, lost := range map[float64]float64{1: 0, 0.75: 0.01, 0.5: 0.02, 0.3: 0.06, 0.1: 0.1, 0.05: 0.55, 0: 1} {
		if got := c.Lost(share); math.Abs(got-lost) > 1e-9 {
			t.Errorf("at %g %g is lost, not %g", share, got, lost)
		}
	}
	if l := Measured().Lost(0.75); l != 0 {
		t.Errorf("the measured curve loses %g at 0.75", l)
	}
	for text, says := range map[string]string{
		`{}`: "must be a list", `[]`: "at least one point", `[{"share":2}]`: "must be between 0 and 1", `[{"share":0.5},{"share":0.5}]`: "twice",
		`[{"share":0.5,"lost":0.1},{"share":0.1,"lost":0.05}]`: "share 0.1 must not lose less than share 0.5",
	} {
		if _, err := ReadCurve([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestThePlannerFindsHowManyServersCanBeRemoved(t *testing.T) {
	q := Question{World: World{Shards: 1, Cores: 4, Fixed: 10 * time.Millisecond, Ranked: 90 * time.Millisecond, Deadline: 2 * time.Second}, Servers: 36, Load: 0.6, Peak: 0.9, Lost: 1, Clicks: 0.01}
	a, err := q.Answer(t.Context(), func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	if a.Servers != 24 || a.Can != 12 || !strings.Contains(a.Sentence, "12 of 36 servers can be removed (33.3 %)") {
		t.Errorf("%+v", a)
	}
	steep := q
	steep.World.Curve, steep.Clicks = Curve{{0.7, 0.05}}, 0.02
	if b, err := steep.Answer(t.Context(), nil); err != nil || b.Servers <= a.Servers || !strings.Contains(b.Sentence, "clicks are lost; with") {
		t.Errorf("with a steep curve: %+v, %v", b, err)
	}
	full := q
	full.Load = 0.95
	if c, err := full.Answer(t.Context(), nil); err != nil || c.Can != 0 || !strings.HasPrefix(c.Sentence, "No server can be removed") {
		t.Errorf("when they are full: %+v, %v", c, err)
	}
}

func TestAWrongQuestionIsNamed(t *testing.T) {
	good := Question{Servers: 24, Load: 0.6, Peak: 0.9, Lost: 1, Clicks: 0.01}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for says, spoil := range map[string]func(*Question){
		"such as 27, not 25":            func(q *Question) { q.Servers = 25 },
		"from 0 to 2 of 3, not 3":       func(q *Question) { q.Lost = 3 },
		"load must be":                  func(q *Question) { q.Load = 0 },
		"peak must be":                  func(q *Question) { q.Peak = 3 },
		"clicks lost must be":           func(q *Question) { q.Clicks = -1 },
		"zones must be from":            func(q *Question) { q.World.Zones = 1000 },
		"shards must be":                func(q *Question) { q.World.Shards = -1 },
		"cores of a server must be":     func(q *Question) { q.World.Cores = 1000 },
		"CPU time":                      func(q *Question) { q.World.Ranked = -1 },
		"deadline must be at least the": func(q *Question) { q.World.Ranked, q.World.Deadline = 2*time.Second, time.Second },
	} {
		q := good
		spoil(&q)
		if err := q.Check(); !errors.Is(err, courant.Invalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func TestFractionsAreWrittenAsPercent(t *testing.T) {
	for part, text := range map[float64]string{0: "0 %", 0.00001: "< 0.01 %", 0.0005: "0.05 %", 0.7: "70 %", 0.974: "97.4 %", 1: "100 %", 3.6: "360 %"} {
		if got := Percent(part); got != text {
			t.Errorf("%g is %q, not %q", part, got, text)
		}
	}
}

// BenchmarkDay simulates a whole day.
func BenchmarkDay(b *testing.B) {
	for b.Loop() {
		film, err := Play(b.Context(), day(24*time.Hour), nil)
		if err != nil {
			b.Fatal(err)
		}
		for h := range 24 {
			at := time.Duration(h) * time.Hour
			b.Logf("%2d h: %+v", h, film.Between(at, at+time.Hour))
		}
	}
}

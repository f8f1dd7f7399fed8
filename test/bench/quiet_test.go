package bench

import (
	"testing"
	"time"

	"github.com/courant-platform/courant/test/rig"
)

// BenchmarkQuietPoll304 is what an answer costs that nothing has changed.
func BenchmarkQuietPoll304(b *testing.B) {
	for b.Loop() {
		w, sources := world(b, *hosts, 6, func(s rig.Source) bool { return s.Class == "conditional" }, "-items", "30")
		poll(b, w, sources, 30, "304")
	}
}

// BenchmarkQuietPoll200 is what a feed of a hundred items costs that comes whole
// and byte for byte as before: its host knows no validators.
func BenchmarkQuietPoll200(b *testing.B) {
	for b.Loop() {
		w, sources := world(b, *hosts, 34, func(s rig.Source) bool { return s.Class == "normal" }, "-items", "100", "-window", "100")
		poll(b, w, sources, 100, "200")
	}
}

// BenchmarkQuietPoll200Rebuilt is what such a feed costs that has another build
// date and another order each time, and nothing new. The web pays more for these
// than we do, so that there are fewer.
func BenchmarkQuietPoll200Rebuilt(b *testing.B) {
	for b.Loop() {
		w, sources := world(b, max(*hosts/15, 1), 2, func(s rig.Source) bool { return s.Class == "churn" },
			"-mix", "wild", "-items", "100", "-window", "100")
		poll(b, w, sources, 100, "200")
	}
}

// poll measures what one answer of a status costs where nothing is new: the CPU
// time under a poll a second of each source, less that under hardly any.
func poll(b *testing.B, w *rig.Web, sources []rig.Source, items int, status string) {
	b.Helper()
	c := programs.Courant(b, config(w, "1s", without))
	c.Import(b, sources)
	c.Start(b)
	printed(b, c, len(sources)*items)
	rig.Pass(3 * time.Second) // each source has been asked again, with its validators
	busy, answers := steady(b, w, c, status)
	peak := c.Peak(b)
	c.Stop(b)
	c.Configure(b, config(w, "6h", without))
	c.Start(b)
	quiet(b, w) // each was due once more
	idle, more := steady(b, w, c, status)
	c.Stop(b)
	if answers == more {
		b.Fatalf("no answer was %s", status)
	}
	each := (busy - idle) / float64(answers-more) * 1e6
	b.ReportMetric(each, "cpu-µs/poll")
	b.ReportMetric(float64(answers)/window.Seconds(), "polls/s")
	b.ReportMetric(peak, "peak-MB")
	b.Logf("%d sources of %d items, %v: %d answers of %s, %.2f s of CPU; idle %d answers, %.2f s: %.0f µs each; %.0f MB at most; %v",
		len(sources), items, *window, answers, status, busy, more, idle, each, peak, w.Judge(b))
}

// steady is the CPU time, in seconds, and the answers of the window.
func steady(b *testing.B, w *rig.Web, c *rig.Courant, status string) (cpu float64, answers int64) {
	b.Helper()
	before, had := c.CPU(b), feeds(b, w, status)
	rig.Pass(*window)
	return (c.CPU(b) - before).Seconds(), feeds(b, w, status) - had
}

func feeds(b *testing.B, w *rig.Web, status string) int64 {
	b.Helper()
	return w.Judge(b).Totals.ByStatus[status]
}

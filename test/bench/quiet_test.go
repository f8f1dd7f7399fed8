package bench

import (
	"testing"
	"time"

	"github.com/courant-platform/courant/test/rig"
)

// BenchmarkQuietPoll304 measures the cost of an answer of 304 Not Modified.
func BenchmarkQuietPoll304(b *testing.B) {
	for b.Loop() {
		w, sources := world(b, *hosts, 6, func(s rig.Source) bool { return s.Class == "conditional" }, "-items", "30")
		poll(b, w, sources, 30, "304")
	}
}

// BenchmarkQuietPoll200 measures the cost of a feed of 100 items that is sent in full,
// byte for byte as before, because its host supports no validators.
func BenchmarkQuietPoll200(b *testing.B) {
	for b.Loop() {
		w, sources := world(b, *hosts, 34, func(s rig.Source) bool { return s.Class == "normal" }, "-items", "100", "-window", "100")
		poll(b, w, sources, 100, "200")
	}
}

// BenchmarkQuietPoll200Rebuilt measures the cost of such a feed with another build date
// and another order each time, and nothing new. There are fewer of them, because they
// cost the simulated web more CPU time than the program.
func BenchmarkQuietPoll200Rebuilt(b *testing.B) {
	for b.Loop() {
		w, sources := world(b, max(*hosts/15, 1), 2, func(s rig.Source) bool { return s.Class == "churn" },
			"-mix", "wild", "-items", "100", "-window", "100")
		poll(b, w, sources, 100, "200")
	}
}

// poll measures the CPU time of one answer with the given status and nothing new: the
// difference between polling each source once per second and hardly polling at all.
func poll(b *testing.B, w *rig.Web, sources []rig.Source, items int, status string) {
	b.Helper()
	c := programs.Courant(b, config(w, "1s", without))
	c.Import(b, sources)
	c.Start(b)
	printed(b, c, len(sources)*items)
	rig.Pass(3 * time.Second) // until each source has been polled again, with its validators
	busy, answers := steady(b, w, c, status)
	peak := c.Peak(b)
	c.Stop(b)
	c.Configure(b, config(w, "6h", without))
	c.Start(b)
	quiet(b, w) // each source was due once more
	idle, more := steady(b, w, c, status)
	c.Stop(b)
	if answers == more {
		b.Fatalf("no answer had status %s", status)
	}
	each := (busy - idle) / float64(answers-more) * 1e6
	b.ReportMetric(each, "cpu-µs/poll")
	b.ReportMetric(float64(answers)/window.Seconds(), "polls/s")
	b.ReportMetric(peak, "peak-MB")
	b.Logf("%d sources of %d items, %v: %d answers of %s, %.2f s of CPU; idle %d answers, %.2f s: %.0f µs each; peak %.0f MB; %v",
		len(sources), items, *window, answers, status, busy, more, idle, each, peak, w.Judge(b))
}

// steady returns the CPU time, in seconds, and the number of answers in the window.
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

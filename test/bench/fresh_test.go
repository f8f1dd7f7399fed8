package bench

import (
	"fmt"
	"os"
	"testing"

	"github.com/courant-platform/courant/test/rig"
)

// BenchmarkFreshness measures how long it takes until readers have what 200 hosts
// publish and edit, while pictures are collected too.
func BenchmarkFreshness(b *testing.B) {
	for b.Loop() {
		freshness(b)
	}
}

func freshness(b *testing.B) {
	w := programs.Web(b, "-hosts", "200", "-items", "20", "-rate", "2", "-edits", "1")
	c := programs.Courant(b, config(w, "2s"))
	c.Import(b, w.Sources(b, func(s rig.Source) bool { return s.Kind == "feed" }))
	c.Start(b)
	rig.Pass(*fresh)
	cpu, peak := c.CPU(b), c.Peak(b)
	const grace = "10s" // the newest items may still be in flight
	card, judge := w.Score(b, c, "-grace", grace), w.Judge(b)
	b.ReportMetric(card.Total.Fresh.P50, "p50-s")
	b.ReportMetric(card.Total.Fresh.P99, "p99-s")
	b.ReportMetric(cpu.Seconds(), "cpu-s")
	b.ReportMetric(peak, "peak-MB")
	violations := 0
	for _, v := range judge.Violations {
		violations += v.Count
	}
	b.ReportMetric(float64(violations), "violations")
	b.Logf("%v of news: %.1f s of CPU, peak %.0f MB; %v", *fresh, cpu.Seconds(), peak, judge)
	// The testing package cuts a benchmark's log after ten lines.
	fmt.Fprintf(os.Stderr, "\n%s\n", w.Table(b, c, "-grace", grace))
	c.Stop(b)
}

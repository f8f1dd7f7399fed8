package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/test/rig"
)

// perHost is how many items each host has at the start.
const perHost = 30

// BenchmarkCold measures a first start: all sources and all items are new.
func BenchmarkCold(b *testing.B) {
	for b.Loop() {
		cold(b)
	}
}

// BenchmarkColdPostgres is the same over PostgreSQL; the CPU time of the PostgreSQL
// server is not counted.
func BenchmarkColdPostgres(b *testing.B) {
	for b.Loop() {
		cold(b, fmt.Sprintf("store.url = %q", storetest.Postgres(b)))
	}
}

func cold(b *testing.B, more ...string) {
	w, sources := world(b, *hosts, 40, func(rig.Source) bool { return true }, "-items", fmt.Sprint(perHost))
	c := programs.Courant(b, config(w, "1h", append(more, without)...))
	c.Import(b, sources)
	c.Start(b)
	asked := rig.Until(patience, func() bool { return w.Judge(b).Totals.Requests > 0 })
	first, before := time.Now(), c.CPU(b)
	if !asked {
		b.Fatalf("no request after %v", patience)
	}
	documents := *hosts * perHost
	printed(b, c, documents)
	computed := (c.CPU(b) - before).Seconds()
	var last time.Time
	for _, p := range c.Newest(b) {
		if p.StoredAt.After(last) {
			last = p.StoredAt
		}
	}
	passed, peak := last.Sub(first).Seconds(), c.Peak(b)
	b.ReportMetric(float64(documents)/passed, "docs/s")
	b.ReportMetric(float64(documents)/computed, "docs/cpu-s")
	b.ReportMetric(peak, "peak-MB")
	b.Logf("%d hosts × %d items: %d documents in %.2f s (%.0f/s), %.2f s of CPU (%.0f documents per CPU second), peak %.0f MB",
		*hosts, perHost, documents, passed, float64(documents)/passed, computed, float64(documents)/computed, peak)
	c.Stop(b)
}

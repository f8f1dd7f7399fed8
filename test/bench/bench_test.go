// Package bench measures the real program against a simulated web: documents per
// second, the cost of a poll without news, how soon changes reach readers. It
// asserts nothing; a run with -benchtime 1x is one measurement.
package bench

import (
	"flag"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/courant-platform/courant/test/rig"
)

var (
	programs rig.Programs
	hosts    = flag.Int("hosts", 300, "number of sources that are collected")
	window   = flag.Duration("window", 20*time.Second, "how long the steady state is measured")
	fresh    = flag.Duration("fresh", 2*time.Minute, "how long freshness is measured")
)

func TestMain(m *testing.M) {
	if name := os.Getenv(attackVariable); name != "" {
		attackOnly(name, os.Getenv("COURANT_TEST_SERVER"))
		return
	}
	os.Exit(programs.Run(m))
}

// patience is how long anything may take before a benchmark gives up.
const patience = 20 * time.Minute

// without is the setting for pages without pictures.
const without = `media.pictures = false`

// config returns a configuration that polls each source at a fixed interval.
func config(w *rig.Web, interval string, more ...string) string {
	return rig.Config(append([]string{
		`robot.proxy = "` + w.Proxy + `"`,
		`robot.gap = "250ms"`,
		`schedule.min_interval = "` + interval + `"`,
		`schedule.max_interval = "` + interval + `"`,
		`schedule.first_interval = "` + interval + `"`,
		`log.level = "warn"`,
	}, more...)...)
}

// world starts a web and returns n sources of it that keep accepts and whose feeds hold
// the whole article; about share of every hundred hosts are such.
func world(b *testing.B, n, share int, keep func(rig.Source) bool, flags ...string) (*rig.Web, []rig.Source) {
	b.Helper()
	for all := (n + share - 1) / share * 100; ; all += all/4 + 100 {
		w := programs.Web(b, append([]string{"-hosts", strconv.Itoa(all)}, flags...)...)
		found := w.Sources(b, func(s rig.Source) bool { return s.Whole() && keep(s) })
		if len(found) >= n {
			return w, found[:n]
		}
	}
}

// printed waits until the given number of pages has been rendered.
func printed(b *testing.B, c *rig.Courant, pages int) {
	b.Helper()
	ok := rig.Until(patience, func() bool {
		if c.Metric(b, "courant_pages_total", `result="printed"`) >= float64(pages) {
			return true
		}
		rig.Pass(200 * time.Millisecond)
		return false
	})
	if !ok {
		b.Fatalf("fewer than %d pages after %v", pages, patience)
	}
}

// quiet waits until no more requests are made.
func quiet(b *testing.B, w *rig.Web) {
	b.Helper()
	last := int64(-1)
	rig.Until(patience, func() bool {
		now := w.Judge(b).Totals.Requests
		still := now == last
		last = now
		rig.Pass(1500 * time.Millisecond)
		return still
	})
}

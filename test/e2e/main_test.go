// Package e2e runs the real program as its users do, against a simulated web
// that knows what was published and judges how politely it was requested.
package e2e

import (
	"flag"
	"os"
	"testing"

	"github.com/courant-platform/courant/test/rig"
)

var programs rig.Programs

func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "8") // the tests wait more than they compute; the flag exists, so no error
	os.Exit(programs.Run(m))
}

// quick returns a configuration under which everything happens within seconds.
func quick(w *rig.Web, more ...string) string {
	return rig.Config(append([]string{
		`robot.proxy = "` + w.Proxy + `"`,
		`robot.gap = "250ms"`,
		`schedule.min_interval = "2s"`,
		`schedule.max_interval = "2s"`,
		`schedule.first_interval = "2s"`,
	}, more...)...)
}

// settled fails the test unless everything that was published arrives unchanged and
// was requested politely.
func settled(t *testing.T, w *rig.Web, c *rig.Courant) rig.Card {
	t.Helper()
	card, took := w.Settle(t, c, settleTime)
	for _, wrong := range card.Wrong() {
		t.Error(wrong)
	}
	judge := w.Judge(t)
	if !judge.Clean {
		t.Error(judge)
	}
	t.Logf("complete %.1f s after the last change; pictures %.3f; %v", took.Seconds(), card.Total.Images, judge)
	return card
}

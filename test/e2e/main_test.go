// Package e2e runs the real program as its users do, against a simulated web
// that knows what was published and judges how it was asked.
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
	flag.Set("test.parallel", "8") // the tests wait more than they compute; there is such a flag
	os.Exit(programs.Run(m))
}

// quick is a configuration under which seconds are enough for all to happen.
func quick(w *rig.Web, more ...string) string {
	return rig.Config(append([]string{
		`robot.proxy = "` + w.Proxy + `"`,
		`robot.gap = "250ms"`,
		`schedule.min_interval = "2s"`,
		`schedule.max_interval = "2s"`,
		`schedule.first_interval = "2s"`,
	}, more...)...)
}

// settled fails the test unless all that was published gets to be there, as it
// was published and politely asked for.
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
	t.Logf("all was there %.1f s after the last change; pictures %.3f; %v", took.Seconds(), card.Total.Images, judge)
	return card
}

package e2e

import (
	"testing"
	"time"

	"github.com/courant-platform/courant/test/rig"
)

// settleTime is how long a change may take to reach readers, on a busy machine.
const settleTime = 30 * time.Second

// news publishes two items and edits two items in each round of half a second.
func news(t *testing.T, w *rig.Web, rounds int) {
	t.Helper()
	for range rounds {
		w.Publish(t, 2, "")
		w.Edit(t, 2, "")
		rig.Pass(500 * time.Millisecond)
	}
}

func TestWhatIsPublishedArrivesWordForWord(t *testing.T) {
	for name, bus := range map[string]string{"over the memory bus": `bus.kind = "memory"`, "over NATS in the process": `bus.kind = "nats"`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := programs.Web(t, "-mix", "plain", "-hosts", "20", "-items", "5")
			c := programs.Courant(t, quick(w, bus))
			c.Import(t, w.Sources(t, rig.Source.Whole))
			c.Start(t)
			news(t, w, 8)
			if card := settled(t, w, c); card.Dialects["rss-full"].Expected == 0 || card.Dialects["turbo"].Expected == 0 || card.Dialects["yml"].Expected == 0 {
				t.Error("nothing was compared")
			}
		})
	}
}

func TestAStopIsQuickAndLosesNothing(t *testing.T) {
	t.Parallel()
	w := programs.Web(t, "-mix", "plain", "-hosts", "20", "-items", "5")
	c := programs.Courant(t, quick(w))
	c.Import(t, w.Sources(t, rig.Source.Whole))
	c.Start(t)
	if !rig.Until(settleTime, func() bool { return len(c.Newest(t)) > 0 }) {
		t.Fatalf("no page after %v", settleTime)
	}
	status, took := c.Stop(t)
	if status != 0 || took > 15*time.Second {
		t.Errorf("stopped with status %d after %v, want 0 within 15 s", status, took)
	}
	w.Publish(t, 5, "")
	c.Start(t)
	w.Edit(t, 5, "")
	settled(t, w, c)
}

func TestTheSampleShowsPagesWithinHalfAMinute(t *testing.T) {
	t.Parallel()
	c := programs.Courant(t, "")
	c.Start(t, "--sample")
	if !rig.Until(30*time.Second, func() bool { return len(c.Newest(t)) >= 3 }) {
		t.Errorf("%d pages after 30 s, want at least 3", len(c.Newest(t)))
	}
}

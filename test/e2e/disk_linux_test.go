package e2e

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/courant-platform/courant/test/rig"
)

func TestAFullDiskStopsTheIntakeUntilThereIsRoom(t *testing.T) {
	t.Parallel()
	w := programs.Web(t, "-mix", "plain", "-hosts", "20", "-items", "5")
	c := programs.Courant(t, quick(w))
	mount(t, c.Data, "48m")
	c.Import(t, w.Sources(t, rig.Source.Whole))
	c.Start(t)
	if !rig.Until(settleTime, func() bool { return len(c.Newest(t)) > 0 }) {
		t.Fatalf("no page after %v", settleTime)
	}

	ballast := filepath.Join(c.Data, "ballast")
	if !rig.Until(settleTime, func() bool {
		fill(t, ballast)
		w.Publish(t, 1, "")
		return ready(t, c) == http.StatusServiceUnavailable
	}) {
		t.Fatal("/readyz does not answer 503 while the disk is full")
	}
	news(t, w, 4) // nobody sees it yet
	fill(t, ballast)
	before := w.Judge(t).Totals.Requests
	rig.Pass(3 * time.Second) // more than an interval
	if asked := w.Judge(t).Totals.Requests - before; asked > 0 {
		t.Errorf("%d requests were made although the answers cannot be stored", asked)
	}
	if got := ready(t, c); got != http.StatusServiceUnavailable {
		t.Errorf("/readyz answered %d while the disk is full", got)
	}
	if n := strings.Count(c.Printed(t), "level=ERROR"); n != 1 {
		t.Errorf("%d error lines in the log, want 1", n)
	}

	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if !rig.Until(15*time.Second, func() bool { return ready(t, c) == http.StatusOK }) {
		t.Error("/readyz does not answer 200 although there is room again")
	}
	card, _ := w.Settle(t, c, settleTime)
	for _, wrong := range card.Wrong() {
		t.Error(wrong)
	}
	judge := w.Judge(t)
	t.Log(judge)
	// What was in flight when the disk filled up could not be stored: one request
	// per host, for 20 hosts and four with pictures.
	for kind, v := range judge.Violations {
		if kind != "unchanged_downloaded_again" && kind != "validators_ignored" || v.Count > 24 {
			t.Errorf("%d × %s", v.Count, kind)
		}
	}
	if n := strings.Count(c.Printed(t), "disk full"); n > 60 {
		t.Errorf("the log says %d times that the disk is full, want at most 60", n)
	}
}

func ready(t *testing.T, c *rig.Courant) int {
	t.Helper()
	status, _ := c.Get(t, "/readyz")
	return status
}

// mount mounts a separate small disk on a folder.
func mount(t *testing.T, dir, size string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("mounting a small disk needs root: %v", err)
	}
	// A process that still has files open there ends later; the folder is detached at once.
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// fill writes to a file until the disk is full.
func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 1<<16); len(block) >= 1<<9; {
		_, err := f.Write(block)
		switch {
		case errors.Is(err, syscall.ENOSPC):
			block = block[:len(block)/2]
		case err != nil:
			t.Fatal(err)
		}
	}
}

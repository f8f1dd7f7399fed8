// Package chaos kills the real program at random moments, again and again, and
// holds what readers get in the end against what was published meanwhile.
package chaos

import (
	"database/sql"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/courant-platform/courant/test/rig"
)

var (
	programs rig.Programs
	kills    = flag.Int("kills", 3, "how often the program is killed")
	hosts    = flag.Int("hosts", 30, "of the web")
	items    = flag.Int("items", 10, "that each host has at the start")
	seed     = flag.Uint64("seed", 1, "of the moments of the kills, of what is published and of the web")
)

func TestMain(m *testing.M) { os.Exit(programs.Run(m)) }

const (
	settleTime = 90 * time.Second
	// A kill cuts off what is on its way to the disk, at most one answer a host,
	// and those must be asked for again. Where kills are many enough for a mean,
	// it is at most perKill.
	perKill = 3
	many    = 20
)

var forgiven = map[string]bool{"validators_ignored": true, "unchanged_downloaded_again": true, "retry_after_broken": true}

func TestKillsLoseNothing(t *testing.T) {
	t.Parallel()
	run{kills: *kills, config: `bus.kind = "memory"`}.test(t)
}

func TestTheBusMayBeLostWithAllItsMessages(t *testing.T) {
	t.Parallel()
	kills := max(5, *kills)
	run{kills: kills, config: `bus.kind = "nats"`, between: func(t *testing.T, n int, c *rig.Courant) {
		if n != kills/2 {
			return
		}
		// It runs, and goes on writing there: what cannot be deleted now was
		// made anew meanwhile.
		if err := os.RemoveAll(filepath.Join(c.Data, "bus")); err != nil {
			t.Log(err)
		}
	}}.test(t)
}

// run is one sequence of kills.
type run struct {
	kills   int
	config  string
	between func(t *testing.T, n int, c *rig.Courant) // before the kill number n, while all runs
}

func (r run) test(t *testing.T) {
	w := programs.Web(t, "-mix", "plain", "-hosts", strconv.Itoa(*hosts), "-items", strconv.Itoa(*items),
		"-seed", strconv.FormatUint(*seed, 10))
	c := programs.Courant(t, rig.Config(
		`robot.proxy = "`+w.Proxy+`"`, `robot.gap = "250ms"`,
		`schedule.min_interval = "2s"`, `schedule.max_interval = "2s"`, `schedule.first_interval = "2s"`, r.config))
	c.Import(t, w.Sources(t, rig.Source.Whole))
	c.Launch(t)
	random := rand.New(rand.NewPCG(*seed, 1))
	for n := range r.kills {
		live(t, w, 300*time.Millisecond+time.Duration(random.Int64N(int64(3700*time.Millisecond))))
		if r.between != nil {
			r.between(t, n, c)
		}
		c.Kill(t)
		c.Launch(t)
	}
	c.Ready(t)
	card, took := w.Settle(t, c, settleTime)
	for _, wrong := range card.Wrong() {
		t.Error(wrong)
	}
	t.Logf("%d kills; all was there %.1f s after the last change, %d pages of %d", r.kills, took.Seconds(),
		card.Dialects["rss-full"].Present+card.Dialects["atom"].Present, card.Dialects["rss-full"].Expected+card.Dialects["atom"].Expected)
	r.politeness(t, w.Judge(t))
	if status, _ := c.Stop(t); status != 0 {
		t.Errorf("it stopped with status %d", status)
	}
	integrity(t, filepath.Join(c.Data, "courant.db"))
}

// live has the web publish two items a second and edit one, for a while.
func live(t *testing.T, w *rig.Web, d time.Duration) {
	t.Helper()
	for end := time.Now().Add(d); ; {
		left := time.Until(end)
		rig.Pass(min(left, time.Second/2))
		if left <= time.Second/2 {
			return
		}
		w.Publish(t, 1, "")
		if left/(time.Second/2)%2 == 0 {
			w.Edit(t, 1, "")
		}
	}
}

// politeness fails the test for what a kill does not excuse.
func (r run) politeness(t *testing.T, j rig.Judge) {
	t.Helper()
	most := r.kills * j.Totals.Hosts
	if r.kills >= many {
		most = r.kills * perKill
	}
	t.Log(j)
	excused := 0 // and reported by kind above
	for kind, v := range j.Violations {
		if forgiven[kind] {
			excused += v.Count
		} else {
			t.Errorf("%d × %s", v.Count, kind)
		}
	}
	if excused > most {
		t.Errorf("%d requests were made again after %d kills, more than %d", excused, r.kills, most)
	}
}

// integrity has SQLite itself check the file.
func integrity(t *testing.T, file string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity_check: %q, %v", verdict, err)
	}
}

// Package chaos kills the real program at random moments, again and again, and then
// compares what readers get with what was published meanwhile.
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
	hosts    = flag.Int("hosts", 30, "number of hosts of the simulated web")
	items    = flag.Int("items", 10, "items of each host at the start")
	seed     = flag.Uint64("seed", 1, "random seed of the kills, the publications and the web")
)

func TestMain(m *testing.M) { os.Exit(programs.Run(m)) }

const (
	settleTime = 90 * time.Second
	// A kill loses the answers on their way to the disk, at most one per host, and
	// they are requested again. From many kills on, the mean per kill must be at
	// most perKill.
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
		// The program is running and keeps writing there, so RemoveAll may fail on
		// files that were created meanwhile.
		if err := os.RemoveAll(filepath.Join(c.Data, "bus")); err != nil {
			t.Log(err)
		}
	}}.test(t)
}

// run is one sequence of kills.
type run struct {
	kills   int
	config  string
	between func(t *testing.T, n int, c *rig.Courant) // called before kill n, while the program runs
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
	t.Logf("%d kills; complete %.1f s after the last change, %d of %d pages", r.kills, took.Seconds(),
		card.Dialects["rss-full"].Present+card.Dialects["atom"].Present, card.Dialects["rss-full"].Expected+card.Dialects["atom"].Expected)
	r.politeness(t, w.Judge(t))
	if status, _ := c.Stop(t); status != 0 {
		t.Errorf("exit status %d, want 0", status)
	}
	integrity(t, filepath.Join(c.Data, "courant.db"))
}

// live publishes two items and edits one item per second, for d.
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

// politeness fails the test for violations that a kill does not excuse.
func (r run) politeness(t *testing.T, j rig.Judge) {
	t.Helper()
	most := r.kills * j.Totals.Hosts
	if r.kills >= many {
		most = r.kills * perKill
	}
	t.Log(j)
	excused := 0 // logged by kind above
	for kind, v := range j.Violations {
		if forgiven[kind] {
			excused += v.Count
		} else {
			t.Errorf("%d × %s", v.Count, kind)
		}
	}
	if excused > most {
		t.Errorf("%d requests were repeated after %d kills, want at most %d", excused, r.kills, most)
	}
}

// integrity runs SQLite's own check on the file.
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

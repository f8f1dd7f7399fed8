package chaos

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/test/rig"
)

var (
	robots = flag.Int("robots", 3, "number of robots that share the hosts; one is killed and one paused")
	mix    = flag.String("mix", "plain", "mix of the simulated web; in wild, failing hosts take long")
	pause  = flag.Duration("pause", 20*time.Second, "how long one robot is paused; a lease lasts 15 s")
)

// takeOver is how long the hosts of a dead robot may be without a robot.
const takeOver = 30 * time.Second

// TestRobotsMayDieAndSleep runs several robots that share the hosts of a web, over
// PostgreSQL and NATS.
func TestRobotsMayDieAndSleep(t *testing.T) {
	t.Parallel()
	w := programs.Web(t, "-mix", *mix, "-hosts", strconv.Itoa(4**hosts), "-items", strconv.Itoa(*items), "-seed", strconv.FormatUint(*seed, 10))
	sources := w.Sources(t, rig.Source.Whole)
	main, crew := fleet(t, w)
	main.Import(t, sources)
	main.Launch(t, "schedule", "parse", "media", "pages", "serve", "api")
	main.Ready(t)
	for _, r := range crew {
		r.Launch(t, "robot")
	}
	for _, r := range crew {
		r.Ready(t)
	}
	shared := func() bool { return len(holders(t, main, sources)) == len(crew) }
	if !rig.Until(takeOver, shared) {
		t.Fatalf("not every robot has hosts: %v", holders(t, main, sources))
	}
	live(t, w, 10*time.Second)
	dead, sleepy := crew[0], crew[1]
	dead.Kill(t)
	killed := time.Now()
	sleepy.Pause(t)
	gone := func() bool { return !holds(holders(t, main, sources), dead.PID()) }
	if !rig.Until(takeOver, gone) {
		t.Errorf("the killed robot still has hosts after %v: %v", takeOver, holders(t, main, sources))
	}
	t.Logf("the hosts of the killed robot were taken over after %.1f s", time.Since(killed).Seconds())
	live(t, w, *pause-time.Since(killed))
	sleepy.Resume(t)
	live(t, w, 10*time.Second)
	if !rig.Until(takeOver, func() bool { return holds(holders(t, main, sources), sleepy.PID()) }) {
		t.Errorf("the robot that was paused has no hosts %v after it resumed", takeOver)
	}
	card, took := w.Settle(t, main, 4*time.Minute) // back-off of failing hosts is 30 s or more
	for _, wrong := range card.Wrong() {
		t.Error(wrong)
	}
	t.Logf("complete %.1f s after the last change", took.Seconds())
	run{kills: 1}.politeness(t, w.Judge(t)) // one answer per host may have been in flight
}

// fleet returns one process for all roles but the robot, which also runs the bus, and
// the robots; nothing is started.
func fleet(t *testing.T, w *rig.Web) (main *rig.Courant, crew []*rig.Courant) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	bus := free.Addr().String()
	free.Close()
	common := []string{fmt.Sprintf("store.url = %q", storetest.Postgres(t)), fmt.Sprintf("blob.dir = %q", t.TempDir()), `bus.kind = "nats"`, `bus.token = "secret"`,
		`robot.proxy = "` + w.Proxy + `"`, `schedule.min_interval = "5s"`, `schedule.max_interval = "5s"`}
	main = programs.Courant(t, rig.Config(append(common, fmt.Sprintf("bus.listen = %q", bus))...))
	for range *robots {
		crew = append(crew, programs.Courant(t, rig.Config(append(common, fmt.Sprintf("bus.url = %q", "nats://"+bus))...)))
	}
	return main, crew
}

// holders returns how many of the sources' hosts each robot has, by its name.
func holders(t *testing.T, main *rig.Courant, sources []rig.Source) map[string]int {
	t.Helper()
	all := map[string]int{}
	for _, s := range sources {
		var hosts []struct{ Robot string }
		status, body := main.Get(t, "/api/v1/host?host="+url.QueryEscape(link.Origin(s.URL)))
		if status != 200 || json.Unmarshal(body, &hosts) != nil {
			t.Fatalf("%s: %d %s", s.URL, status, body)
		}
		all[hosts[0].Robot]++
	}
	return all
}

// holds reports whether the process is one of the robots, by the PID in its name.
func holds(holders map[string]int, pid int) bool {
	for name := range holders {
		if strings.Contains(name, "-"+strconv.Itoa(pid)+"-") {
			return true
		}
	}
	return false
}

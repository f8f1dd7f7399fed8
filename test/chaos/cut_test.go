package chaos

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/test/rig"
)

// TestASilentCutIsToldAndLosesNothing cuts the connection to PostgreSQL without a reset:
// packets vanish, and connections stay open.
func TestASilentCutIsToldAndLosesNothing(t *testing.T) {
	t.Parallel()
	dir := strings.TrimPrefix(strings.Fields(storetest.Postgres(t))[0], "host=")
	p := storetest.NewProxy(t, "unix", dir+"/.s.PGSQL.5432")
	host, port, err := net.SplitHostPort(p.Address)
	if err != nil {
		t.Fatal(err)
	}
	w := programs.Web(t, "-mix", "plain", "-hosts", "10", "-items", "5", "-seed", strconv.FormatUint(*seed, 10))
	c := programs.Courant(t, rig.Config(`robot.proxy = "`+w.Proxy+`"`, `robot.gap = "250ms"`,
		`schedule.min_interval = "2s"`, `schedule.max_interval = "2s"`, `schedule.first_interval = "2s"`,
		fmt.Sprintf(`store.url = "host=%s port=%s user=postgres dbname=postgres sslmode=disable"`, host, port)))
	c.Import(t, w.Sources(t, rig.Source.Whole))
	c.Start(t)
	live(t, w, 5*time.Second)
	known := "/page?url=" + url.QueryEscape(c.Newest(t)[0].URL)
	for _, path := range []string{known, "/"} {
		if status, _ := c.Get(t, path); status != http.StatusOK {
			t.Fatalf("%s: %d", path, status)
		}
	}
	for range 2 {
		p.Cut(true)
		cut := time.Now()
		told := until(t, c, http.StatusServiceUnavailable)
		for _, path := range []string{known, "/"} {
			if status, body := c.Get(t, path); status != http.StatusOK || path == "/" && !strings.Contains(string(body), "The database does not answer") {
				t.Errorf("%s during the cut: %d", path, status)
			}
		}
		live(t, w, 12*time.Second)
		p.Cut(false)
		t.Logf("cut for %v: told after %v, ready again after %v", time.Since(cut).Round(time.Second), told, until(t, c, http.StatusOK))
		live(t, w, 3*time.Second)
	}
	card, took := w.Settle(t, c, settleTime)
	for _, wrong := range card.Wrong() {
		t.Error(wrong)
	}
	t.Logf("complete %.1f s after the last change", took.Seconds())
	c.Stop(t)
	log := c.Printed(t)
	if n := strings.Count(log, "does not answer"); n < 2 || n > 4 {
		t.Errorf("%d lines about the outages:\n%s", n, log)
	}
}

// until waits for an answer of /readyz, and returns how long that took. No answer may take
// longer than two seconds by much.
func until(t *testing.T, c *rig.Courant, want int) time.Duration {
	t.Helper()
	began := time.Now()
	if !rig.Until(time.Minute, func() bool {
		asked := time.Now()
		status, _ := c.Get(t, "/readyz")
		if took := time.Since(asked); took > 10*time.Second {
			t.Errorf("/readyz answered after %v", took)
		}
		rig.Pass(100 * time.Millisecond)
		return status == want
	}) {
		t.Fatalf("/readyz does not answer %d", want)
	}
	return time.Since(began).Round(10 * time.Millisecond)
}

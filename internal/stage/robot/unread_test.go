package robot_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

// metric is the line of a metric, "" if there is none.
func (w *world) metric(name string) string {
	answer := httptest.NewRecorder()
	w.metrics.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(answer.Body.String()) {
		if strings.HasPrefix(line, name) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func TestARowThatCannotBeReadIsCountedLoggedAndFetchedLater(t *testing.T) {
	const picture = "http://a.example/1.png"
	for of, c := range map[string]struct {
		want        func(w *world)
		address, id string
	}{
		"poll":  {func(w *world) { w.source(1, feed); w.ask(1, time.Second) }, feed, "source=1"},
		"fetch": {func(w *world) { w.want(picture); w.wait(time.Second) }, picture, "hash="},
	} {
		t.Run(of, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				s, faults := storetest.Faulty(t)
				var log bytes.Buffer
				w.store, w.metrics, w.log = s, obs.New(), slog.NewTextHandler(&log, nil)
				w.others()
				w.pages["http://a.example/robots.txt"] = func(http.ResponseWriter, *http.Request) { faults.Blind(true) } // the row is read next
				c.want(w)
				w.wait(10 * time.Second)
				faults.Blind(false)
				if m := w.metric("courant_robot_errors_total"); m != `courant_robot_errors_total{of="`+of+`"} 1` {
					t.Errorf("it counts %q", m)
				}
				if n := strings.Count(log.String(), "row not read"); n != 1 || !strings.Contains(log.String(), c.id) || !strings.Contains(log.String(), "sabotaged") {
					t.Errorf("it says\n%s", log.String())
				}
				if len(w.seen(c.address)) > 0 {
					t.Error("it is asked for unread")
				}
				w.wait(time.Minute)
				if len(w.seen(c.address)) != 1 {
					t.Errorf("later it is asked for %d times", len(w.seen(c.address)))
				}
			})
		})
	}
}

func TestARowThatIsGoneIsNoError(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.metrics = obs.New()
		w.pages["http://a.example/robots.txt"] = func(http.ResponseWriter, *http.Request) { w.exec(`DELETE FROM answers`) }
		w.source(1, feed)
		w.ask(1, time.Minute)
		if m := w.metric("courant_robot_errors_total"); m != "" || len(w.seen(feed)) > 0 {
			t.Errorf("it counts %q, asked %v", m, w.all())
		}
	})
}

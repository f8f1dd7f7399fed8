package retain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

// eventsOf inserts an event of each of some days, the page being the number of days ago.
func (w *world) eventsOf(days ...int) {
	w.t.Helper()
	for _, d := range days {
		w.exec(putEvent, d, w.ago(time.Duration(d)*day))
	}
}

const eventsLeft = `SELECT CAST(page AS TEXT) FROM events ORDER BY page`

func TestAfterALongPauseARunEndsTheRowsOfOneMoreDay(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := worldOf(t, s)
		w.exec(`UPDATE retained SET done = $1 WHERE name = 'clock'`, w.ago(365*day-time.Hour))
		w.eventsOf(300, 452, 453, 454)
		for i, want := range []string{"300 452 453", "300 452", "300"} {
			w.said.Reset()
			w.once()
			if got := w.list(eventsLeft); got != want {
				t.Errorf("run %d leaves %s, want %s", i+1, got, want)
			}
			if !strings.Contains(w.said.String(), "the last run was long ago, or the clock is wrong") {
				t.Errorf("run %d says %s", i+1, &w.said)
			}
		}
	})
}

func TestTheFirstRunCountsFromTheNewestEvent(t *testing.T) {
	w := worldOf(t, storetest.Memory(t))
	w.exec(`DELETE FROM retained`)
	w.eventsOf(200, 300) // the clock may be 200 days ahead
	w.once()
	if got := w.list(eventsLeft); got != "200" {
		t.Errorf("%s are left, want the newest", got)
	}
}

func TestWhatAClockThatWasAheadHasWrittenStopsNothing(t *testing.T) {
	w := worldOf(t, storetest.Memory(t))
	w.picture("one")
	w.once()
	w.later(-365 * day)
	w.exec(`UPDATE retained SET done = done + $1 WHERE name = 'clock'`, (365 * day).Milliseconds())
	w.eventsOf(89, 91)
	w.once()
	if got := w.list(eventsLeft); got != "89" {
		t.Errorf("%s are left", got)
	}
	if got := w.list(`SELECT name FROM retained WHERE done > $1`, w.ago(-time.Minute)); got != "" {
		t.Errorf("%s are in the future", got)
	}
	w.later(40 * day)
	w.once()
	if got := w.pictures(); got != "" {
		t.Errorf("%q are left 40 days after the clock was corrected", got)
	}
}

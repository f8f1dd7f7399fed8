package retain

import (
	"context"
	"time"

	"github.com/courant-platform/courant/internal/port/store"
)

// clockName is the row of the table retained with the time by which ages were measured last.
const clockName = "clock"

// longestStep is how much later than the last run a run is at most, however much later
// it is by the store's clock. A clock that is wrongly a year ahead thus ends the rows of
// one more day in each run, with a warning, not those of a year at once.
const longestStep = 24 * time.Hour

// tick sets the time by which the run measures ages: that of the store's clock, or
// longestStep after the last run if that is earlier. The first run counts from the newest
// event.
func (t *turn) tick(ctx context.Context) error {
	var now time.Time
	step := max(longestStep, 2*t.Config.Interval.Or(defaultInterval))
	_, err := t.write(ctx, func(tx *store.Tx) error {
		last, err := lastDone(tx.Reader, clockName)
		if err == nil && last.IsZero() {
			var at int64
			err = tx.Row(newestEvent).Scan(&at)
			last = store.Time(at)
		}
		if err != nil {
			return err
		}
		if now = tx.Now(); !last.IsZero() && now.Sub(last) > step {
			now = last.Add(step)
		}
		_, err = tx.Exec(putDone, clockName, now.UnixMilli())
		return err
	})
	if err != nil {
		return err
	}
	if t.now = now; t.Store.Now().Sub(now) > step {
		t.Log.Warn("the last run was long ago, or the clock is wrong; deleting the rows of one more day only", "as_of", now, "clock", t.Store.Now())
	}
	return nil
}

package schedule

import (
	"time"

	"github.com/courant-platform/courant"
)

// history is what is known of a source when its next poll is planned.
type history struct {
	Changed  time.Time     // when something new was found last; zero if never
	Rhythm   time.Duration // usual time between changes; 0 if unknown
	TTL      time.Duration // the source's own wish; 0 for none
	Failures int           // in a row
	Every    time.Duration // as people set it; 0 to follow the source
	Pinged   time.Time     // newest ping of a hub whose lease has not ended; zero if none
}

// Interval is how long to wait until the next poll: a quarter of the source's
// usual time between changes, longer while it is quiet or fails, never more
// often than it wishes, and always between the bounds. A source whose hub tells
// its news is asked rarely: only to see that it does.
func (c Config) interval(h history, now time.Time) time.Duration {
	low, high := c.bounds()
	if h.Every > 0 {
		return min(h.Every<<min(h.Failures, 8), max(high, h.Every))
	}
	d := c.FirstInterval.Or(15 * time.Minute)
	if h.Rhythm > 0 {
		d = h.Rhythm / 4
	}
	if !h.Changed.IsZero() {
		d = max(d, now.Sub(h.Changed)/16)
	}
	d = max(d, h.TTL, low)
	for range min(h.Failures, 8) {
		d *= 2
	}
	if courant.Announced(h.Changed, h.Pinged) {
		d = max(d, announced)
	}
	return min(d, high)
}

// announced is the least interval of a source whose hub tells its news.
const announced = time.Hour

// bounds are the shortest and the longest interval.
func (c Config) bounds() (low, high time.Duration) {
	low = c.MinInterval.Or(time.Minute)
	return low, max(low, c.MaxInterval.Or(6*time.Hour))
}

// next is the time of the following poll: on the grid that the last one began,
// so that sources keep apart, or an interval from now if that has passed.
func next(due, now time.Time, d time.Duration) time.Time {
	if n := due.Add(d); n.After(now) {
		return n
	}
	return now.Add(d)
}

package schedule

import (
	"fmt"
	"time"

	"github.com/courant-platform/courant"
)

// history is what is known about a source when its next poll is planned.
type history struct {
	Changed  time.Time     // last time that something new was found; zero if never
	Rhythm   time.Duration // usual time between changes; 0 if unknown
	TTL      time.Duration // minimum interval that the source asks for; 0 for none
	Fresh    time.Duration // how long the last response stays fresh by its header
	Failures int           // in a row
	Every    time.Duration // fixed interval set by the operator; 0 to adapt to the source
	Pinged   time.Time     // last delivery of a hub whose lease has not ended; zero if none
}

// interval is the time until the next poll, and the reason for it: a quarter of the
// source's usual time between changes, longer while it is quiet or fails, never
// shorter than the source asks for, and always between the bounds. A source whose hub
// announces its changes is polled rarely, only to check the hub.
func (c Config) interval(h history, now time.Time) (d time.Duration, why string) {
	low, high := c.bounds()
	if h.Every > 0 {
		d, why = h.Every<<min(h.Failures, 8), "fixed interval"
		if h.Failures > 0 {
			why = failing(h.Failures)
		}
		return min(d, max(high, h.Every)), why
	}
	d, why = c.FirstInterval.Or(15*time.Minute), "how often it changes is not known yet"
	if h.Rhythm > 0 {
		d, why = h.Rhythm/4, fmt.Sprintf("a quarter of %s, the usual time between changes", round(h.Rhythm))
	}
	longer := func(than time.Duration, because string) {
		if than > d {
			d, why = than, because
		}
	}
	if !h.Changed.IsZero() {
		longer(now.Sub(h.Changed)/16, "no change for "+round(now.Sub(h.Changed)))
	}
	longer(h.TTL, "the feed asks for at most one poll in this time (ttl)")
	longer(h.Fresh, "the response stays fresh that long (Cache-Control or Expires)")
	longer(low, "schedule.min_interval")
	for range min(h.Failures, 8) {
		d *= 2
	}
	if h.Failures > 0 {
		why = failing(h.Failures)
	}
	if courant.Announced(h.Changed, h.Pinged) {
		longer(announced, "its WebSub hub announces changes")
	}
	if d > high {
		return high, "schedule.max_interval"
	}
	return d, why
}

func failing(n int) string {
	if n == 1 {
		return "the last poll failed"
	}
	return fmt.Sprintf("the last %d polls failed", n)
}

// round formats a duration with one or two units.
func round(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d >= time.Hour:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return d.Round(time.Second / 10).String()
}

// announced is the minimum interval of a source whose hub announces its changes.
const announced = time.Hour

// bounds are the shortest and the longest interval.
func (c Config) bounds() (low, high time.Duration) {
	low = c.MinInterval.Or(time.Minute)
	return low, max(low, c.MaxInterval.Or(6*time.Hour))
}

// next is the time of the next poll: one interval after the last due time, so that
// sources stay spread out, or one interval from now if that has passed.
func next(due, now time.Time, d time.Duration) time.Time {
	if n := due.Add(d); n.After(now) {
		return n
	}
	return now.Add(d)
}

// skip is when a feed asks not to be polled: bits for hours of the day in UTC and
// for days of the week from Sunday on (RSS 0.91, skipHours and skipDays).
type skip struct{ hours, days int }

// after moves a time out of the skipped hours and days. It keeps the minutes, so that
// sources stay spread out. If everything is skipped, nothing is.
func (s skip) after(t time.Time) time.Time {
	if s.hours == 0 && s.days == 0 {
		return t
	}
	later := t.UTC()
	for range 8 * 24 {
		if s.hours>>later.Hour()&1 == 0 && s.days>>int(later.Weekday())&1 == 0 {
			return later
		}
		later = later.Add(time.Hour)
	}
	return t
}

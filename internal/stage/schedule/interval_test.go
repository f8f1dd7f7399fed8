package schedule

import (
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/kit/setting"
)

func TestTheIntervalFollowsTheSource(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	fixed := Config{MinInterval: setting.Duration(5 * time.Minute), MaxInterval: setting.Duration(5 * time.Minute)}
	fast := Config{MinInterval: setting.Duration(time.Second), MaxInterval: setting.Duration(time.Hour)}
	for _, c := range []struct {
		what   string
		config Config
		history
		want time.Duration
	}{
		{"nothing is known", Defaults(), history{}, 15 * time.Minute},
		{"nothing is known, and no configuration", Config{}, history{}, 15 * time.Minute},
		{"news every hour", Defaults(), history{Changed: ago(time.Minute), Rhythm: time.Hour}, 15 * time.Minute},
		{"news every minute", Defaults(), history{Changed: ago(time.Second), Rhythm: time.Minute}, time.Minute},
		{"news every minute, where seconds are allowed", fast, history{Changed: ago(time.Second), Rhythm: time.Minute}, 15 * time.Second},
		{"news every week", Defaults(), history{Changed: ago(time.Hour), Rhythm: 7 * 24 * time.Hour}, 6 * time.Hour},
		{"once lively, quiet for eight hours", Defaults(), history{Changed: ago(8 * time.Hour), Rhythm: time.Minute}, 30 * time.Minute},
		{"once lively, quiet for a year", Defaults(), history{Changed: ago(365 * 24 * time.Hour), Rhythm: time.Minute}, 6 * time.Hour},
		{"it wishes less", Defaults(), history{Rhythm: time.Hour, TTL: time.Hour}, time.Hour},
		{"it wishes more", Defaults(), history{Rhythm: 4 * time.Hour, TTL: time.Minute}, time.Hour},
		{"its answers stay fresh", Defaults(), history{Rhythm: time.Hour, Fresh: 2 * time.Hour}, 2 * time.Hour},
		{"its answers stay fresh for longer than is allowed", Defaults(), history{Rhythm: time.Hour, Fresh: 12 * time.Hour}, 6 * time.Hour},
		{"it wishes a month", Defaults(), history{TTL: 30 * 24 * time.Hour}, 6 * time.Hour},
		{"it failed once", Defaults(), history{Rhythm: time.Hour, Failures: 1}, 30 * time.Minute},
		{"it failed three times", Defaults(), history{Rhythm: time.Hour, Failures: 3}, 2 * time.Hour},
		{"it fails for ever", Defaults(), history{Rhythm: time.Hour, Failures: 1 << 30}, 6 * time.Hour},
		{"adaptation is off", fixed, history{Rhythm: time.Second, TTL: time.Hour, Failures: 9}, 5 * time.Minute},
		{"its hub told the last news", Defaults(), history{Changed: ago(time.Minute), Rhythm: time.Hour, Pinged: ago(2 * time.Minute)}, time.Hour},
		{"its hub has told something since", Defaults(), history{Changed: ago(time.Hour), Rhythm: time.Hour, Pinged: ago(time.Minute)}, time.Hour},
		{"its hub did not tell the last news", Defaults(), history{Changed: ago(time.Minute), Rhythm: time.Hour, Pinged: ago(time.Hour)}, 15 * time.Minute},
		{"its hub never told anything", Defaults(), history{Rhythm: time.Hour}, 15 * time.Minute},
		{"its hub tells, and it is quiet", Defaults(), history{Changed: ago(64 * time.Hour), Rhythm: time.Hour, Pinged: ago(64 * time.Hour)}, 4 * time.Hour},
		{"its hub tells, and people want it often", Defaults(), history{Changed: ago(time.Minute), Every: time.Minute, Pinged: ago(time.Minute)}, time.Minute},
		{"its hub tells, where the longest interval is shorter", fixed, history{Changed: ago(time.Minute), Pinged: ago(time.Minute)}, 5 * time.Minute},
		{"a change in the future, as a clock that steps back leaves it", Defaults(), history{Changed: now.Add(time.Hour), Rhythm: time.Hour}, 15 * time.Minute},
	} {
		if got, why := c.config.interval(c.history, now); got != c.want || why == "" {
			t.Errorf("%s: %v (%s), want %v", c.what, got, why, c.want)
		}
	}
}

func TestTheNextTimeKeepsTheGridUnlessItHasPassed(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ late, want time.Duration }{
		{0, time.Minute}, {10 * time.Second, 50 * time.Second}, {time.Minute, time.Minute}, {time.Hour, time.Minute},
	} {
		if got := next(now.Add(-c.late), now, time.Minute).Sub(now); got != c.want {
			t.Errorf("%v late: next in %v, want %v", c.late, got, c.want)
		}
	}
}

func TestNoSourceIsPolledInTheHoursAndOnTheDaysThatTheFeedSkips(t *testing.T) {
	friday := time.Date(2026, 1, 2, 22, 30, 0, 0, time.UTC)
	for what, c := range map[string]struct {
		skip
		want time.Duration
	}{
		"nothing is skipped":           {skip{}, 0},
		"another hour":                 {skip{hours: 1 << 4}, 0},
		"this hour and the next":       {skip{hours: 1<<22 | 1<<23}, 2 * time.Hour},
		"the weekend, and the evening": {skip{hours: 1<<22 | 1<<23, days: 1<<6 | 1<<0}, 50 * time.Hour},
		"all hours, as if none":        {skip{hours: 1<<24 - 1}, 0},
		"all days, as if none":         {skip{days: 1<<7 - 1}, 0},
		"all but one hour of one day":  {skip{hours: 1<<24 - 1 - 1<<22, days: 1<<7 - 1 - 1<<4}, 6 * 24 * time.Hour},
	} {
		if got := c.after(friday).Sub(friday); got != c.want {
			t.Errorf("%s: %v later, want %v", what, got, c.want)
		}
	}
}

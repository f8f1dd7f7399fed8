package setting

import (
	"testing"
	"time"
)

func TestDurationsAreReadAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]time.Duration{"250ms": 250 * time.Millisecond, "1h30m": 90 * time.Minute, "7d": 7 * 24 * time.Hour, "0.5d": 12 * time.Hour} {
		var d Duration
		if err := d.UnmarshalText([]byte(text)); err != nil || time.Duration(d) != want {
			t.Errorf("%s: %v, %v", text, d, err)
		}
		var again Duration
		if err := again.UnmarshalText([]byte(d.String())); err != nil || again != d {
			t.Errorf("%s comes back as %v, %v", d, again, err)
		}
	}
	for _, text := range []string{"", "5", "fast", "-1s", "1y"} {
		if err := new(Duration).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestSizesAreReadAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]int64{"10": 10, "512KiB": 512 << 10, "1.5 GiB": 3 << 29, "2MB": 2e6} {
		var s Size
		if err := s.UnmarshalText([]byte(text)); err != nil || int64(s) != want {
			t.Errorf("%s: %d, %v", text, s, err)
		}
		var again Size
		text, _ := s.MarshalText()
		if err := again.UnmarshalText(text); err != nil || again != s {
			t.Errorf("%s comes back as %v, %v", text, again, err)
		}
	}
	for _, text := range []string{"", "MB", "5x", "-1MB", "1e"} {
		if err := new(Size).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestAgesAreReadAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]Age{"forever": Forever, "90d": Age(90 * 24 * time.Hour), "36h": Age(36 * time.Hour), "0s": 0} {
		var a Age
		if err := a.UnmarshalText([]byte(text)); err != nil || a != want {
			t.Errorf("%s: %v, %v", text, a, err)
		}
		if a.String() != text {
			t.Errorf("%s is written as %v", text, a)
		}
	}
	for _, text := range []string{"", "never", "-1d", "90"} {
		if err := new(Age).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
	if got := Age(0).Or(Forever); got != Forever {
		t.Errorf("zero means %v", got)
	}
}

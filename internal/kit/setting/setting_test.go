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

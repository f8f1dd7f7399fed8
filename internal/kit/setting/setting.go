// Package setting has types of configuration values that TOML lacks: durations and
// sizes with units.
package setting

import (
	"strconv"
	"strings"
	"time"

	"github.com/courant-platform/courant"
)

// Duration is written like 250ms, 90s, 1h30m or 7d.
type Duration time.Duration

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	s := string(text)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil {
			if !(n >= 0 && n <= mostDays) { // nor NaN
				return courant.Errorf(courant.Invalid, "%q must be from 0 to %d days", s, mostDays)
			}
			*d = Duration(n * 24 * float64(time.Hour))
			return nil
		}
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return courant.Errorf(courant.Invalid, "%q is not a duration: write a number and a unit, like 250ms, 2s, 1h or 7d", s)
	}
	*d = Duration(v)
	return d.check(s)
}

// mostDays is the longest duration that is not for ever; Go's have at most 106,751 days.
const mostDays = 36_500

func (d *Duration) check(s string) error {
	if *d < 0 {
		return courant.Errorf(courant.Invalid, "%q is negative: a duration must be 0 or more", s)
	}
	if time.Duration(*d) > mostDays*24*time.Hour {
		return courant.Errorf(courant.Invalid, "%q is longer than %d days", s, mostDays)
	}
	return nil
}

// MarshalText writes the format that UnmarshalText reads, without zero units.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// Or returns the duration, or def if it is zero.
func (d Duration) Or(def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return time.Duration(d)
}

// Size is a number of bytes, written like 512KiB, 10MiB or 1GiB; KB, MB and GB
// are powers of 1000.
type Size int64

const units = "B:1 KB:1000 MB:1000000 GB:1000000000 TB:1000000000000 KiB:1024 MiB:1048576 GiB:1073741824 TiB:1099511627776"

// mostSize is the largest size, in bytes.
const mostSize = 1 << 50

// UnmarshalText reads a size.
func (s *Size) UnmarshalText(text []byte) error {
	digits := strings.TrimRight(string(text), "BKMGTi ")
	unit := strings.TrimSpace(string(text[len(digits):]))
	if unit == "" {
		unit = "B"
	}
	n, err := strconv.ParseFloat(digits, 64)
	for u := range strings.FieldsSeq(units) {
		name, factor, _ := strings.Cut(u, ":")
		if name == unit && err == nil && n >= 0 {
			f, _ := strconv.ParseFloat(factor, 64)
			if n*f > mostSize {
				return courant.Errorf(courant.Invalid, "%q is too large: a size must be at most 1024TiB", text)
			}
			*s = Size(n * f)
			return nil
		}
	}
	return courant.Errorf(courant.Invalid, "%q is not a size: write a number and a unit, like 512KiB, 10MiB or 1GiB", text)
}

// MarshalText writes the largest binary unit that keeps the number whole.
func (s Size) MarshalText() ([]byte, error) {
	n, unit := int64(s), "B"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, u
	}
	return []byte(strconv.FormatInt(n, 10) + unit), nil
}

// Or returns the size, or def if it is zero.
func (s Size) Or(def int64) int64 {
	if s == 0 {
		return def
	}
	return int64(s)
}

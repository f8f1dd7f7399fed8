package setting

import (
	"fmt"
	"math"
	"time"

	"github.com/courant-platform/courant"
)

// Age is how long something is kept: written like a Duration, or "forever". Zero means
// the default, as for a Duration.
type Age Duration

// Forever is the Age of what is never deleted.
const Forever = Age(math.MaxInt64)

// UnmarshalText reads an age.
func (a *Age) UnmarshalText(text []byte) error {
	if string(text) == "forever" {
		*a = Forever
		return nil
	}
	if err := (*Duration)(a).UnmarshalText(text); err != nil {
		return courant.Errorf(courant.Invalid, "%q is not a time: write a number and a unit, like 90d, or \"forever\"", text)
	}
	return nil
}

// MarshalText writes the format that UnmarshalText reads.
func (a Age) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

func (a Age) String() string {
	const day = 24 * time.Hour
	switch d := time.Duration(a); {
	case a == Forever:
		return "forever"
	case d > 0 && d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	}
	return Duration(a).String()
}

// Or returns the age, or def if it is zero.
func (a Age) Or(def Age) Age {
	if a == 0 {
		return def
	}
	return a
}

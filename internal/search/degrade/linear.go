package degrade

import "time"

// Linear is the oldest policy: the share is 1 up to a CPU use of 90 %, and from there
// falls in a straight line to Floor at 100 %. CPU use saturates at 100 %, so that Linear
// must average it not to swing, and reacts late.
type Linear struct {
	From   float64       // CPU use from which the share falls, 0.9 unless set
	Floor  float64       // share at a CPU use of 1, 0.5 unless set; the lower, the steeper the line and the more it swings
	Window time.Duration // of the exponential average of CPU use; zero for no average

	use   float64
	begun bool
}

// Share follows the CPU use.
func (l *Linear) Share(s Signals) float64 {
	if s.Capacity > 0 && s.Elapsed > 0 {
		l.add(s.Used/s.Capacity, s.Elapsed)
	}
	from, floor := or(l.From, 0.9), or(l.Floor, 0.5)
	over := between(0, (l.use-from)/(1-from), 1)
	return 1 - over*(1-floor)
}

func (l *Linear) add(use float64, elapsed time.Duration) {
	part := 1.0
	if l.begun && l.Window > elapsed {
		part = float64(elapsed) / float64(l.Window)
	}
	l.begun = true
	l.use += (use - l.use) * part
}

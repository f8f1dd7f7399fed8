package rig

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ticks is USER_HZ, the unit of the CPU times in /proc: 100 per second on every Linux.
const ticks = 100

// CPU returns the CPU time that the process has used, user and system.
func (c *Courant) CPU(t testing.TB) time.Duration {
	t.Helper()
	text := c.proc(t, "stat")
	// The name in parentheses may hold anything; utime and stime are the 12th
	// and 13th field after it.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	var sum time.Duration
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(string(f))
		if err != nil {
			t.Fatal(err)
		}
		sum += time.Duration(n) * time.Second / ticks
	}
	return sum
}

// Peak returns the largest resident memory of the process so far, in MiB.
func (c *Courant) Peak(t testing.TB) float64 {
	t.Helper()
	for line := range strings.Lines(string(c.proc(t, "status"))) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	t.Fatalf("/proc/%d/status has no VmHWM", c.PID())
	return 0
}

func (c *Courant) proc(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", c.PID(), name))
	if os.IsNotExist(err) {
		t.Skip("measuring CPU time and memory of a process needs /proc")
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Metric returns the sum of a metric's series that have the label, such as
// `result="printed"`, or of all its series if label is "".
func (c *Courant) Metric(t testing.TB, name, label string) float64 {
	t.Helper()
	status, body := c.Get(t, "/metrics")
	if status != http.StatusOK {
		t.Fatalf("/metrics answered %d", status)
	}
	sum := 0.0
	for line := range strings.Lines(string(body)) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if of, labels, _ := strings.Cut(series, "{"); of != name || !strings.Contains(labels, label) {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatalf("/metrics: not a number: %s", line)
		}
		sum += n
	}
	return sum
}

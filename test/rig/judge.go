package rig

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// Judge is miniweb's report on how politely its hosts were requested.
type Judge struct {
	Clean  bool `json:"clean"`
	Totals struct {
		Hosts    int              `json:"hosts_asked"`
		Requests int64            `json:"requests"`
		ByStatus map[string]int64 `json:"by_status"`
	} `json:"totals"`
	Violations map[string]Violation `json:"violations"`
}

// Violation is one kind of impoliteness.
type Violation struct {
	Count    int `json:"count"`
	Examples []struct {
		Time   string `json:"time"`
		URL    string `json:"url"`
		Detail string `json:"detail"`
	} `json:"examples"`
}

// Judge fetches the report so far.
func (w *Web) Judge(t testing.TB) Judge {
	t.Helper()
	var j Judge
	w.control(t, http.MethodGet, "/judge.json", nil, &j)
	maps.DeleteFunc(j.Violations, func(_ string, v Violation) bool { return v.Count == 0 })
	return j
}

// String lists the violations, each kind with one example.
func (j Judge) String() string {
	if len(j.Violations) == 0 {
		return fmt.Sprintf("%d requests, no violation", j.Totals.Requests)
	}
	var lines []string
	for _, kind := range slices.Sorted(maps.Keys(j.Violations)) {
		v := j.Violations[kind]
		line := fmt.Sprintf("%d × %s", v.Count, kind)
		if len(v.Examples) > 0 {
			e := v.Examples[0]
			line += fmt.Sprintf(" (%s %s %s)", e.Time, e.URL, e.Detail)
		}
		lines = append(lines, line)
	}
	return fmt.Sprintf("%d requests, %s", j.Totals.Requests, strings.Join(lines, ", "))
}

// Card is the result of `miniweb score`.
type Card struct {
	Total    Group               `json:"total"`
	Dialects map[string]Group    `json:"dialects"`
	Faults   map[string][]string `json:"faults"`
}

// Group is the score of one dialect, or of all. Shares are from 0 to 1.
type Group struct {
	Expected   int       `json:"expected"`
	Present    int       `json:"present"`
	Forbidden  int       `json:"forbidden"`
	Unexpected int       `json:"unexpected"`
	Errors     int       `json:"errors"`
	Titles     float64   `json:"title_exact"`
	Bodies     float64   `json:"body_exact"`
	Images     float64   `json:"image_agreement"`
	Fresh      Latencies `json:"freshness_s"`
	Backlog    Latencies `json:"backlog_s"`
}

// Latencies are in seconds.
type Latencies struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// Wrong lists the differences from what was published by sources whose feeds hold
// the whole article; it is empty if there are none.
func (c Card) Wrong() []string {
	var out []string
	for _, name := range fullText {
		g, ok := c.Dialects[name]
		if !ok {
			continue
		}
		if g.Present != g.Expected || g.Unexpected != 0 || g.Errors != 0 {
			out = append(out, fmt.Sprintf("%s: %d of %d pages present, %d unexpected, %d errors", name, g.Present, g.Expected, g.Unexpected, g.Errors))
		}
		if g.Titles != 1 || g.Bodies != 1 {
			out = append(out, fmt.Sprintf("%s: %.2f %% of the titles and %.2f %% of the bodies are exact", name, 100*g.Titles, 100*g.Bodies))
		}
		if g.Images != 1 {
			out = append(out, fmt.Sprintf("%s: %.2f %% of the pictures agree", name, 100*g.Images))
		}
		for _, kind := range []string{"missing", "body", "images"} {
			for _, f := range c.Faults[kind] {
				if strings.Contains(f, " "+name) {
					out = append(out, kind+": "+f)
				}
			}
		}
	}
	return out
}

// Settle waits until the platform has exactly what was published, at most for limit,
// and returns the last score and how long it took.
func (w *Web) Settle(t testing.TB, c *Courant, limit time.Duration) (card Card, took time.Duration) {
	t.Helper()
	start := time.Now()
	Until(limit, func() bool {
		card = w.Score(t, c, "-examples", "100000")
		if len(card.Wrong()) == 0 {
			return true
		}
		Pass(time.Second) // scoring takes CPU time from the program
		return false
	})
	return card, time.Since(start)
}

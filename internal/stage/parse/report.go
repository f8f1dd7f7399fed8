package parse

import (
	"encoding/json"

	"github.com/courant-platform/courant"
)

// report is what the owner of a source is told about its newest download.
type report struct {
	Error    string             `json:"error,omitempty"`
	Links    []courant.FeedLink `json:"links,omitempty"` // feeds that a web page offers
	Warnings []courant.Warning  `json:"warnings,omitempty"`
	More     int                `json:"more,omitempty"` // warnings beyond those
}

// mostWarnings bounds a report.
const mostWarnings = 100

// ordered returns the warnings that name something to fix, then what was ignored, up to
// mostWarnings of each; more is how many of the first were left out.
func ordered(all []courant.Warning) (kept []courant.Warning, more int) {
	var ignored []courant.Warning
	for _, w := range all {
		switch {
		case w.Level == courant.LevelInfo:
			ignored = append(ignored, w)
		case len(kept) < mostWarnings:
			kept = append(kept, w)
		default:
			more++
		}
	}
	return append(kept, ignored[:min(len(ignored), mostWarnings)]...), more
}

// text is the report as stored, "" if there is nothing to report.
func (r report) text() string {
	if r.Error == "" && len(r.Warnings) == 0 {
		return ""
	}
	r.Warnings, r.More = ordered(r.Warnings)
	text, err := json.Marshal(r)
	if err != nil {
		return r.Error
	}
	return string(text)
}

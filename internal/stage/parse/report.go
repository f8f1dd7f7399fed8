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

// text is the report as stored, "" if there is nothing to report.
func (r report) text() string {
	if r.Error == "" && len(r.Warnings) == 0 {
		return ""
	}
	if n := len(r.Warnings); n > mostWarnings {
		r.Warnings, r.More = r.Warnings[:mostWarnings], n-mostWarnings
	}
	text, err := json.Marshal(r)
	if err != nil {
		return r.Error
	}
	return string(text)
}

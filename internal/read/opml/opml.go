// Package opml reads and writes lists of sources: OPML 1.0 and 2.0, and (read only)
// JSON arrays and JSON lines. A part that is wrong costs that part and a warning, not
// the list.
package opml

import (
	"bytes"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/charset"
)

// Namespace is the namespace of our attributes in OPML.
const Namespace = "https://courant-platform.github.io/ns"

// Entry is one source of a list.
type Entry struct {
	URL          string             `json:"url"`
	Kind         courant.SourceKind `json:"kind"`
	Name         string             `json:"name,omitempty"`
	Title        string             `json:"title"`
	Site         string             `json:"site,omitempty"`   // address of the site
	Folder       []string           `json:"folder,omitempty"` // names of the folders, the outermost first
	Trusted      bool               `json:"trusted,omitempty"`
	IgnoreRobots bool               `json:"ignore_robots,omitempty"`
	Every        string             `json:"every,omitempty"` // fixed polling interval, such as 5m0s
	Absence      courant.Absence    `json:"absence,omitempty"`
	XPath        string             `json:"list_xpath,omitempty"`
	Next         string             `json:"next_xpath,omitempty"`
	Text         string             `json:"-"` // written for other programs if there is no title
}

// List is what a file lists.
type List struct {
	Title    string
	Encoding string
	Entries  []Entry
	Warnings []courant.Warning
	// WellFormed is false if something had to be repaired.
	WellFormed bool

	ignored map[string]bool // names of attributes and fields that a warning says are ignored
}

// Read reads a list in any of these formats. An error is of kind courant.Invalid: then
// the file is no list.
func Read(body []byte) (List, error) {
	text, encoding, healed := charset.Decode(body, "")
	l := List{Encoding: encoding, WellFormed: !healed}
	trimmed := bytes.TrimSpace(text)
	switch {
	case len(trimmed) == 0:
		return l, courant.Errorf(courant.Invalid, "the file is empty")
	case trimmed[0] == '[':
		return l, l.readArray(trimmed)
	case trimmed[0] == '{':
		return l, l.readLines(text)
	}
	return l, l.readXML(string(text))
}

// mostWarnings is the limit of warnings of one file.
const mostWarnings = 100

func (l *List) warn(w courant.Warning) {
	if w.Level == "" {
		l.WellFormed = false
	}
	if len(l.Warnings) < mostWarnings {
		l.Warnings = append(l.Warnings, w)
	}
}

// ignore names, once, what has no place in a source.
func (l *List) ignore(name string, where courant.Warning) {
	if l.ignored[name] || len(l.ignored) >= mostWarnings {
		return
	}
	if l.ignored == nil {
		l.ignored = map[string]bool{}
	}
	l.ignored[name] = true
	where.Code, where.Level, where.Element, where.Text = "ignored", courant.LevelInfo, name, name+" is not kept: Courant has no use for it"
	l.warn(where)
}

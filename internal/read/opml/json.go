package opml

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/courant-platform/courant"
)

// readArray reads a JSON array of entries.
func (l *List) readArray(text []byte) error {
	var all []json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return courant.Errorf(courant.Invalid, "the JSON array is broken%s: %w", position(text, err), err)
	}
	wrong := 0
	for i, one := range all {
		e, err := entryOf(one)
		if err != nil || e.URL == "" {
			wrong++
			l.warn(courant.Warning{Code: "bad-entry", Line: 1, Column: 1, Element: fmt.Sprint("entry ", i+1), Text: badEntry(err)})
			continue
		}
		l.Entries = append(l.Entries, e)
	}
	return l.someRead(wrong)
}

// readLines reads one JSON object per line.
func (l *List) readLines(text []byte) error {
	n, wrong := 0, 0
	for line := range bytes.Lines(text) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		e, err := entryOf(line)
		if err != nil || e.URL == "" {
			wrong++
			l.warn(courant.Warning{Code: "bad-entry", Line: n, Column: 1, Text: badEntry(err)})
			continue
		}
		l.Entries = append(l.Entries, e)
	}
	return l.someRead(wrong)
}

func entryOf(text []byte) (e Entry, err error) {
	err = json.Unmarshal(text, &e)
	e.URL = strings.TrimSpace(e.URL)
	e.Folder = slices.DeleteFunc(e.Folder, func(name string) bool { return strings.TrimSpace(name) == "" })
	if err == nil && len(e.Folder) > mostDepth {
		err = fmt.Errorf("folders are nested more than %d deep", mostDepth)
	}
	return e, err
}

// someRead is the error of a list of which nothing could be read.
func (l *List) someRead(wrong int) error {
	if wrong == 0 || len(l.Entries) > 0 {
		return nil
	}
	w := l.Warnings[0]
	return courant.Errorf(courant.Invalid, "none of the %d entries can be read; line %d: %s", wrong, w.Line, w.Text)
}

func badEntry(err error) string {
	var typed *json.UnmarshalTypeError
	switch {
	case err == nil:
		return "the entry has no url and was left out; add one"
	case errors.As(err, &typed) && typed.Field != "":
		return fmt.Sprintf("the entry was left out because its %s is a %s; see the manual for the fields of a source", typed.Field, typed.Value)
	case errors.As(err, &typed):
		return fmt.Sprintf("the entry was left out because it is a %s; write an object such as {\"url\": \"https://example.org/feed.xml\"}", typed.Value)
	}
	return "the entry was left out: " + err.Error()
}

// position says where a syntax error is.
func position(text []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return ""
	}
	at := text[:min(int(syntax.Offset), len(text))]
	return fmt.Sprintf(" at line %d, column %d", 1+bytes.Count(at, []byte("\n")), len(at)-bytes.LastIndexByte(at, '\n')-1)
}

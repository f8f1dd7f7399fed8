package opml

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/courant-platform/courant"
)

// readArray reads a JSON array of entries.
func (l *List) readArray(text []byte) error {
	wrong := 0
	d := json.NewDecoder(bytes.NewReader(text))
	d.Token() // the bracket
	for n := 1; d.More(); n++ {
		var one json.RawMessage
		if d.Decode(&one) != nil {
			break
		}
		line, column := place(text, int(d.InputOffset())-len(one))
		if !l.add(one, courant.Warning{Code: "bad-entry", Line: line, Column: column, Element: fmt.Sprint("entry ", n)}) {
			wrong++
		}
	}
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil { // the text as a whole
		line, column := position(text, err)
		if len(l.Entries) == 0 {
			return courant.Errorf(courant.Invalid, "the JSON array is broken at line %d, column %d: %w", line, column, err)
		}
		l.warn(courant.Warning{Code: "truncated", Line: line, Column: column,
			Text: fmt.Sprintf("the JSON array is cut off or broken here, and only the entries before were read: %v", err)})
	}
	return l.someRead(wrong)
}

// add adds the entry of a JSON text. If it cannot be read, the warning bad says so.
func (l *List) add(text []byte, bad courant.Warning) (added bool) {
	e, err := entryOf(text)
	if err != nil || e.URL == "" {
		bad.Text = badEntry(err)
		l.warn(bad)
		return false
	}
	l.Entries = append(l.Entries, e)
	l.tellUnknown(text, bad)
	return true
}

// tellUnknown names the fields of an entry that no source has, each name once.
func (l *List) tellUnknown(text []byte, where courant.Warning) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return // never: it was an object before
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.ContainsFunc(entryFields, func(field string) bool { return strings.EqualFold(field, name) }) {
			l.ignore(name, where)
		}
	}
}

// entryFields are the names of the fields of an Entry in JSON.
var entryFields = []string{"url", "kind", "name", "title", "site", "folder", "trusted", "ignore_robots", "every", "absence", "list_xpath", "next_xpath"}

// readLines reads one JSON object per line.
func (l *List) readLines(text []byte) error {
	n, wrong := 0, 0
	for line := range bytes.Lines(text) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if !l.add(line, courant.Warning{Code: "bad-entry", Line: n, Column: 1}) {
			wrong++
		}
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
		return fmt.Sprintf("the entry was left out because its %s must not be %s; see the manual for the fields of a source", typed.Field, jsonKind(typed.Value))
	case errors.As(err, &typed):
		return fmt.Sprintf("the entry was left out because it is %s; write an object such as {\"url\": \"https://example.org/feed.xml\"}", jsonKind(typed.Value))
	}
	return "the entry was left out: " + err.Error()
}

// jsonKind is a kind of JSON value, as encoding/json calls it, with its article.
func jsonKind(value string) string {
	value, _, _ = strings.Cut(value, " ") // a number has its digits
	switch value {
	case "array", "object":
		return "an " + value
	case "bool":
		return "true or false"
	}
	return "a " + value
}

// position is where a syntax error is, the end of the text if it is not known.
func position(text []byte, err error) (line, column int) {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return place(text, len(text))
	}
	return place(text, int(syntax.Offset)-1)
}

// place is the line and the column of a byte of a text, from 1.
func place(text []byte, offset int) (line, column int) {
	before := text[:max(0, min(offset, len(text)))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// Package flags has values that operators change while the program runs, by a file that
// is reread every ten seconds:
//
//	# name = value, then conditions and perhaps the word forced
//	search.share = 0.7 zone=a
//	search.fuzzy = false forced
//
// The first line of a name whose conditions all hold applies. A forced value takes
// precedence over that of the query; others apply if the query has none. Without a line
// the program's default applies.
package flags

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/courant-platform/courant"
)

// Every is the interval at which the file is reread.
const Every = 10 * time.Second

// Flags are the values of one file. The zero value has none.
type Flags struct {
	Path  string            // of the file; "" for none. A file that does not exist counts as empty
	Known []string          // all names
	Old   map[string]string // new names by the names of the previous version
	Where map[string]string // values that conditions are compared with, such as zone and host
	Log   *slog.Logger

	lines atomic.Pointer[[]line]
	text  []byte // read last
}

// line is one line of the file.
type line struct {
	name, value string
	forced      bool
	where       map[string]string
}

// Run rereads the file until ctx ends. A file with an error changes nothing.
func (f *Flags) Run(ctx context.Context) {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := f.Read(); err != nil {
				f.Log.Warn("flags file not reread; keeping the old values", "error", err)
			}
		}
	}
}

// Read reads the file now.
func (f *Flags) Read() error {
	if f.Path == "" {
		return nil
	}
	text, err := os.ReadFile(f.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return courant.Errorf(courant.Invalid, "%w", err)
	}
	if f.lines.Load() != nil && bytes.Equal(text, f.text) {
		return nil
	}
	lines, err := f.parse(text)
	if err != nil {
		return err
	}
	if f.lines.Swap(&lines) != nil {
		f.Log.Info("flags changed", "file", f.Path, "lines", len(lines))
	}
	f.text = text
	return nil
}

func (f *Flags) parse(text []byte) (all []line, err error) {
	s := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; s.Scan(); n++ {
		t, _, _ := strings.Cut(s.Text(), "#")
		if strings.TrimSpace(t) == "" {
			continue
		}
		l, problem := f.parseLine(t)
		if problem != "" {
			return nil, courant.Errorf(courant.Invalid, "%s:%d: %s", f.Path, n, problem)
		}
		all = append(all, l)
	}
	return all, s.Err()
}

func (f *Flags) parseLine(text string) (l line, problem string) {
	name, rest, ok := strings.Cut(text, "=")
	fields := strings.Fields(rest)
	if l.name = strings.TrimSpace(name); !ok || len(fields) == 0 {
		return l, "must be name = value, then conditions, not " + strconv.Quote(strings.TrimSpace(text))
	}
	if to := f.Old[l.name]; to != "" {
		if f.Log != nil {
			f.Log.Warn("flag renamed; the old name stops working in the next release", "old", l.name, "new", to)
		}
		l.name = to
	}
	if !slices.Contains(f.Known, l.name) {
		return l, "flag must be one of " + strings.Join(f.Known, ", ") + ", not " + strconv.Quote(l.name)
	}
	l.value, l.where = fields[0], map[string]string{}
	for _, field := range fields[1:] {
		key, value, ok := strings.Cut(field, "=")
		switch _, known := f.Where[key]; {
		case field == "forced":
			l.forced = true
		case !ok || !known:
			return l, "condition must be forced or one of " + strings.Join(slices.Sorted(maps.Keys(f.Where)), ", ") + " with a value, not " + strconv.Quote(field)
		default:
			l.where[key] = value
		}
	}
	return l, ""
}

// find is the value of a name, and whether it is forced.
func (f *Flags) find(name string) (value string, forced, ok bool) {
	lines := f.lines.Load()
	if lines == nil {
		return "", false, false
	}
	for _, l := range *lines {
		if l.name == name && f.holds(l.where) {
			return l.value, l.forced, true
		}
	}
	return "", false, false
}

func (f *Flags) holds(where map[string]string) bool {
	for key, value := range where {
		if f.Where[key] != value {
			return false
		}
	}
	return true
}

// Float is the value of a name: the file's if forced, else own if has, else the file's,
// else program.
func (f *Flags) Float(name string, own float64, has bool, program float64) float64 {
	return choose(f, name, own, has, program, func(t string) (float64, error) { return strconv.ParseFloat(t, 64) })
}

// Bool is Float for true and false.
func (f *Flags) Bool(name string, own, has, program bool) bool {
	return choose(f, name, own, has, program, strconv.ParseBool)
}

func choose[T any](f *Flags, name string, own T, has bool, program T, parse func(string) (T, error)) T {
	text, forced, ok := f.find(name)
	value, err := parse(text)
	switch ok = ok && err == nil; {
	case ok && forced:
		return value
	case has:
		return own
	case ok:
		return value
	}
	return program
}

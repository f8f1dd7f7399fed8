package main

import (
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"
)

// table prints rows, the first of which names the columns; as JSON, one object
// per row.
func (f *flags) table(rows [][]string) error {
	if f.json {
		for _, row := range rows[1:] {
			object := map[string]string{}
			for i, name := range rows[0] {
				object[name] = row[i]
			}
			if err := writeJSON(os.Stdout, object); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	for i, row := range rows {
		if i == 0 {
			row = upper(row)
		}
		if _, err := w.Write([]byte(strings.Join(row, "\t") + "\n")); err != nil {
			return err
		}
	}
	return w.Flush()
}

func upper(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strings.ToUpper(n)
	}
	return out
}

// printable drops control characters, which could move a terminal's cursor.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}

// named is the name of a source, quoted if it has unprintable characters.
func named(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) || !utf8.ValidString(name) {
		return strconv.Quote(name)
	}
	return name
}

// count writes a number of things: 1 item, 2 items.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

package postgres

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/courant-platform/courant/internal/port/store"
)

// chunks are how many rows one statement inserts: few numbers, since the server prepares
// each statement.
var chunks = [...]int{64, 16, 4, 1}

// Insert inserts the rows in one round trip, and as many as possible in one statement.
func (c conn) Insert(query string, args [][]any, each func(store.Rows) error) (err error) {
	b, n := &pgx.Batch{}, 0
	for len(args) > 0 {
		apart := distinct(query, args)
		for _, size := range chunks {
			for ; apart >= size; apart, args = apart-size, args[size:] {
				b.Queue(rowsOf(query, size), flat(args[:size])...)
				n++
			}
		}
	}
	results := c.tx.SendBatch(c.ctx, b)
	defer func() { err = errors.Join(err, results.Close()) }()
	for range n {
		if each == nil {
			if _, err := results.Exec(); err != nil {
				return err
			}
			continue
		}
		r, err := results.Query()
		if err != nil {
			return err
		}
		if err := errors.Join(each(rows{r}), rows{r}.Close()); err != nil {
			return err
		}
	}
	return nil
}

func flat(args [][]any) (all []any) {
	for _, a := range args {
		all = append(all, a...)
	}
	return all
}

// widened is a cache of rowsOf.
var widened sync.Map // of string by widening

type widening struct {
	query string
	rows  int
}

var (
	values    = regexp.MustCompile(`(?i)\bVALUES\s*\(`)
	nextTuple = regexp.MustCompile(`^\s*,\s*\(`)
	parameter = regexp.MustCompile(`\$(\d+)`)
)

// rowsOf is an INSERT as one of n times its rows: its VALUES are repeated, with parameters
// numbered one after the other.
func rowsOf(query string, n int) string {
	key := widening{query, n}
	if text, ok := widened.Load(key); ok {
		return text.(string)
	}
	text := dialect().Text(query)
	if at := values.FindStringIndex(text); at != nil {
		from := at[1] - 1
		to := tuples(text, from)
		text = text[:from] + repeated(text[from:to], n) + text[to:]
	}
	widened.Store(key, text)
	return text
}

// tuples is the end of the lists of values that begin at a parenthesis.
func tuples(text string, at int) int {
	for depth := 0; at < len(text); at++ {
		switch text[at] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth > 0 {
			continue
		}
		next := nextTuple.FindString(text[at+1:])
		if next == "" {
			return at + 1
		}
		at += len(next) - 1 // before the next parenthesis
	}
	return len(text)
}

// repeated is n times a list of values, with parameters of their own.
func repeated(list string, n int) string {
	shifted := func(by int) string {
		return parameter.ReplaceAllStringFunc(list, func(p string) string {
			number, _ := strconv.Atoi(p[1:]) // digits
			return "$" + strconv.Itoa(number+by)
		})
	}
	per := 0
	for _, p := range parameter.FindAllStringSubmatch(list, -1) {
		number, _ := strconv.Atoi(p[1])
		per = max(per, number)
	}
	all := make([]string, n)
	for i := range all {
		all[i] = shifted(i * per)
	}
	return strings.Join(all, ", ")
}

// distinct is how many of the first lists are for different rows: a statement cannot update
// a row twice.
func distinct(query string, args [][]any) int {
	key := keyOf(query)
	if len(key) == 0 {
		return len(args)
	}
	seen := make(map[string]bool, len(args))
	var text []byte
	for i, a := range args {
		text = text[:0]
		for _, at := range key {
			text = fmt.Appendf(text, "%v\x00", a[at])
		}
		if seen[string(text)] {
			return i
		}
		seen[string(text)] = true
	}
	return len(args)
}

// keys is a cache of keyOf.
var keys sync.Map // of []int by query

var (
	insertInto = regexp.MustCompile(`(?is)^\s*INSERT\s+INTO\s+\w+\s*\(([^()]*)\)\s*VALUES\s*\(`)
	doUpdate   = regexp.MustCompile(`(?is)ON\s+CONFLICT\s*\(([^()]*)\)\s*DO\s+UPDATE`)
)

// keyOf is which parameters of an INSERT, from 0, are the key whose row it may update.
func keyOf(query string) (at []int) {
	if known, ok := keys.Load(query); ok {
		return known.([]int)
	}
	into, update := insertInto.FindStringSubmatch(query), doUpdate.FindStringSubmatch(query)
	if into != nil && update != nil {
		from := len(into[0])
		columns, given := fields(into[1]), fields(query[from:tuples(query, from-1)-1])
		for _, column := range fields(update[1]) {
			i := slices.Index(columns, column)
			if i < 0 || i >= len(given) || !strings.HasPrefix(given[i], "$") {
				continue // a constant
			}
			if n, err := strconv.Atoi(given[i][1:]); err == nil {
				at = append(at, n-1)
			}
		}
	}
	keys.Store(query, at)
	return at
}

// fields are the parts of a list between commas that are not inside parentheses.
func fields(list string) (all []string) {
	depth, from := 0, 0
	for i := range len(list) {
		switch list[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				all, from = append(all, strings.TrimSpace(list[from:i])), i+1
			}
		}
	}
	return append(all, strings.TrimSpace(list[from:]))
}

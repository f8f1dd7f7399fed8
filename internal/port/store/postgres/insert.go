package postgres

import (
	"errors"
	"fmt"
	"regexp"
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
	for _, size := range chunks {
		for ; len(args) >= size; args = args[size:] {
			b.Queue(rowsOf(query, size), flat(args[:size])...)
			n++
		}
	}
	results := c.tx.SendBatch(c.ctx, b)
	defer func() { err = errors.Join(err, results.Close()) }()
	for range n {
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
	parameter = regexp.MustCompile(`\$(\d+)`)
)

// rowsOf is an INSERT of one row as one of n rows: with n lists of values, whose
// parameters are numbered one after the other.
func rowsOf(query string, n int) string {
	key := widening{query, n}
	if text, ok := widened.Load(key); ok {
		return text.(string)
	}
	text := dialect().Text(query)
	if at := values.FindStringIndex(text); n > 1 && at != nil {
		from, to := at[1]-1, at[1]
		for depth := 1; depth > 0 && to < len(text); to++ {
			switch text[to] {
			case '(':
				depth++
			case ')':
				depth--
			}
		}
		row := text[from:to]
		per := 0
		for _, p := range parameter.FindAllStringSubmatch(row, -1) {
			number, _ := strconv.Atoi(p[1])
			per = max(per, number)
		}
		var b strings.Builder
		b.WriteString(text[:from])
		for i := range n {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(parameter.ReplaceAllStringFunc(row, func(p string) string {
				number, _ := strconv.Atoi(p[1:])
				return fmt.Sprint("$", number+i*per)
			}))
		}
		b.WriteString(text[to:])
		text = b.String()
	}
	widened.Store(key, text)
	return text
}

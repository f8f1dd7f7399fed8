package postgres

import (
	"fmt"
	"testing"
)

func TestAnInsertOfOneRowBecomesOneOfMany(t *testing.T) {
	for query, want := range map[string]string{
		"INSERT INTO a (b) VALUES ($1)":                                    "INSERT INTO a (b) VALUES ($1), ($2), ($3)",
		"INSERT INTO a (b, c) VALUES ($1, (0)) ON CONFLICT (b) DO NOTHING": "INSERT INTO a (b, c) VALUES ($1, (0)), ($2, (0)), ($3, (0)) ON CONFLICT (b) DO NOTHING",
		"INSERT INTO a (b, c) VALUES (1, $2) , (2, $1) RETURNING b, (c)":   "INSERT INTO a (b, c) VALUES (1, $2) , (2, $1), (1, $4) , (2, $3), (1, $6) , (2, $5) RETURNING b, (c)",
		"INSERT INTO a (b, c) values (COALESCE($2, 1), $1)":                "INSERT INTO a (b, c) values (COALESCE($2, 1), $1), (COALESCE($4, 1), $3), (COALESCE($6, 1), $5)",
		"INSERT INTO a (b) SELECT 1":                                       "INSERT INTO a (b) SELECT 1",
	} {
		if got := rowsOf(query, 3); got != want {
			t.Errorf("%s:\n got %s\nwant %s", query, got, want)
		}
		if got := rowsOf(query, 1); got != query {
			t.Errorf("%s for one row: %s", query, got)
		}
	}
}

func TestTheKeyOfAnInsertIsKnown(t *testing.T) {
	for query, want := range map[string]string{
		"INSERT INTO a (b, c, d) VALUES ($1, COALESCE($3, 1), $2) ON CONFLICT (d, b) DO UPDATE SET c = 1": "[1 0]",
		"INSERT INTO a (b, c) VALUES (7, $1)\n ON CONFLICT (b, c) DO UPDATE SET c = 1":                    "[0]",
		"INSERT INTO a (b) VALUES ($1) ON CONFLICT (b) DO NOTHING":                                        "[]",
		"INSERT INTO a (b) VALUES ($1)":                                                                   "[]",
	} {
		if got := fmt.Sprint(keyOf(query)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	const query = "INSERT INTO a (b, c) VALUES ($1, $2) ON CONFLICT (b) DO UPDATE SET c = excluded.c"
	if n := distinct(query, [][]any{{[]byte("x"), 1}, {[]byte("y"), 1}, {[]byte("x"), 2}}); n != 2 {
		t.Errorf("the first %d are for different rows", n)
	}
}

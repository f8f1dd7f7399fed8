package arch

import (
	"errors"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/postgres"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

var parameter = regexp.MustCompile(`\$(\d+)`)

// nulls are parameters for a statement: NULL for each.
func nulls(q statement) (list []string) {
	most := 0
	for _, m := range parameter.FindAllStringSubmatch(q.text, -1) {
		n, _ := strconv.Atoi(m[1])
		most = max(most, n)
	}
	return slices.Repeat([]string{"NULL"}, most)
}

// inSQLite reads the plan of a statement, one step a line.
func inSQLite(t *testing.T, s *store.Store, q statement) (plan []string) {
	t.Helper()
	err := s.Rows(t.Context(), func(rows store.Rows) error {
		var id, parent, unused int
		var step string
		err := rows.Scan(&id, &parent, &unused, &step)
		plan = append(plan, step)
		return err
	}, "EXPLAIN QUERY PLAN "+q.text, make([]any, len(nulls(q)))...)
	if err != nil {
		t.Errorf("%s: %v", q.at, err)
	}
	return plan
}

// inPostgres is the same for PostgreSQL, whose plan is made for any parameters.
func inPostgres(t *testing.T, s *store.Store, q statement) (plan []string) {
	t.Helper()
	list := strings.Join(nulls(q), ", ")
	if list != "" {
		list = "(" + list + ")"
	}
	err := s.Read(t.Context(), func(r store.Reader) error {
		ignore := func(store.Rows) error { return nil }
		if err := r.Rows(ignore, "PREPARE planned AS "+q.text); err != nil {
			return err
		}
		err := r.Rows(func(rows store.Rows) error {
			var line string
			err := rows.Scan(&line)
			plan = append(plan, line)
			return err
		}, "EXPLAIN (COSTS OFF) EXECUTE planned"+list)
		return errors.Join(err, r.Rows(ignore, "DEALLOCATE planned"))
	})
	if err != nil {
		t.Errorf("%s: %v", q.at, err)
	}
	return plan
}

// byIndex makes PostgreSQL plan for parameters that it does not know, and use an index
// wherever there is one, since it would read small tables as a whole.
const byIndex = " options='-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off" +
	" -c enable_mergejoin=off -c enable_material=off'"

// partialIndexes are the names of the indexes of some rows only.
func partialIndexes(t *testing.T, s *store.Store) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	if err := s.Rows(t.Context(), func(rows store.Rows) error {
		var name string
		err := rows.Scan(&name)
		names[name] = true
		return err
	}, `SELECT indexname FROM pg_indexes WHERE indexdef LIKE '% WHERE %'`); err != nil {
		t.Fatal(err)
	}
	return names
}

// A list that walks a table is fast in every test and slow for whoever has much. The plans
// are made without statistics, so that they do not depend on the rows.
func TestNoStatementReadsAGrowingTableAsAWhole(t *testing.T) {
	all := statements(tree(t))
	t.Run("sqlite", func(t *testing.T) {
		s := storetest.Memory(t)
		report(t, walked(all, func(q statement) []string { return inSQLite(t, s, q) }, nil))
	})
	t.Run("postgres", func(t *testing.T) {
		d, err := postgres.Open(t.Context(), postgres.Config{URL: storetest.Postgres(t) + byIndex})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		s, err := store.Open(t.Context(), d, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		partial := partialIndexes(t, s)
		report(t, walked(all, func(q statement) []string { return asSQLite(inPostgres(t, s, q), partial) }, joins))
	})
}

func TestAPlanThatReadsAllOfAGrowingTableIsFound(t *testing.T) {
	s := storetest.Memory(t)
	for query, want := range map[string]string{
		"SELECT p.title FROM pages p WHERE p.title = $1":                          "pages",
		"SELECT id FROM pages WHERE withdrawn ORDER BY title LIMIT 5":             "pages",
		"SELECT s.name FROM items i JOIN sources s ON s.id = i.source":            "items",
		"SELECT origin FROM hosts WHERE origin LIKE $1":                           "hosts",
		"SELECT title FROM pages WHERE id = $1":                                   "",
		"SELECT name FROM tokens":                                                 "",
		"DELETE FROM documents WHERE source = $1":                                 "",
		"UPDATE documents SET due = 0 WHERE address = $1":                         "documents",
		"SELECT id FROM pages WHERE NOT withdrawn AND host = $1 ORDER BY id DESC": "",
	} {
		q := statement{at: "internal/front/api/sql.go:1", name: "x", text: query}
		if got := strings.Join(wholeTables(query, inSQLite(t, s, q)), ","); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

package arch

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// planted loads a tree of one file.
func planted(t *testing.T, name, text string) []file {
	t.Helper()
	files, err := load(fstest.MapFS{name: {Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestForbiddenImportsAreReported(t *testing.T) {
	for _, c := range []struct{ name, imports, named string }{
		{"courant.go", module + "/internal/kit/link", "the root package may not import internal/kit/link"},
		{"courant.go", "golang.org/x/text/language", "golang.org/x/text/language may not be imported here"},
		{"internal/kit/link/a.go", module + "/internal/port/store", "internal/kit/link may not import internal/port/store"},
		{"internal/kit/link/a_test.go", module + "/internal/port/store/storetest", "may not import"},
		{"internal/read/feed/a.go", module + "/internal/flow", "internal/read/feed may not import internal/flow"},
		{"internal/port/bus/a.go", module + "/internal/port/store", "internal/port/bus may not import internal/port/store"},
		{"internal/port/bus/a.go", module + "/internal/read/feed", "may not import internal/read/feed"},
		{"internal/flow/a.go", module + "/internal/port/bus/membus", "internal/flow may not import internal/port/bus/membus"},
		{"internal/stage/parse/a.go", module + "/internal/stage/robot", "internal/stage/parse may not import internal/stage/robot"},
		{"internal/stage/parse/a.go", module + "/internal/port/store/sqlite", "may not import internal/port/store/sqlite"},
		{"internal/stage/parse/a.go", module + "/internal/front/api", "may not import internal/front/api"},
		{"internal/stage/parse/a_test.go", module + "/internal/stage/robot/client", "may not import internal/stage/robot/client"},
		{"internal/front/api/a.go", module + "/internal/stage/pages", "may not import internal/stage/pages"},
		{"internal/front/api/a.go", module + "/internal/front/serve", "may not import internal/front/serve"},
		{"internal/front/api/a.go", module + "/internal/app", "may not import internal/app"},
		{"internal/stage/parse/a.go", module + "/internal/desk", "may not import internal/desk"},
		{"internal/stage/pages/a.go", module + "/internal/search/words", "may not import internal/search/words"},
		{"internal/search/index/a.go", module + "/internal/front/search", "may not import internal/front/search"},
		{"internal/search/index/a.go", module + "/internal/read/feed", "may not import internal/read/feed"},
		{"internal/desk/a.go", module + "/internal/front/api", "may not import internal/front/api"},
		{"internal/table/a.go", module + "/internal/flow", "may not import internal/flow"},
		{"internal/kit/link/a.go", module + "/internal/search/words", "may not import internal/search/words"},
		{"cmd/courant/a.go", module + "/internal/port/store", "may not import internal/port/store"},
		{"internal/app/a.go", "github.com/nats-io/nats.go", "nats.go may not be imported here"},
		{"internal/app/a.go", "github.com/jackc/pgx/v5/pgxpool", "pgxpool may not be imported here"},
		{"internal/front/api/a.go", "golang.org/x/net/html", "golang.org/x/net/html may not be imported here"},
		{"internal/stage/robot/client/a.go", "golang.org/x/net/html/charset", "charset may not be imported here"},
		{"internal/stage/robot/a.go", "github.com/andybalholm/brotli", "brotli may not be imported here"},
		{"internal/stage/parse/a.go", "example.org/left/pad", "example.org/left/pad may not be imported here"},
	} {
		files := planted(t, c.name, "package a\n\nimport _ \""+c.imports+"\"\n")
		if got := wrongImports(files[0]); len(got) != 1 || !strings.HasPrefix(got[0], c.name+":3: ") || !strings.Contains(got[0], c.named) {
			t.Errorf("%s imports %s: got %q", c.name, c.imports, got)
		}
	}
}

func TestAllowedImportsPass(t *testing.T) {
	for _, c := range []struct{ name, imports string }{
		{"courant.go", "net/http"},
		{"internal/kit/link/a.go", module + "/internal/kit/charset"},
		{"internal/read/feed/a.go", module + "/internal/read/list"},
		{"internal/port/store/storetest/a.go", module + "/internal/port/store/postgres"},
		{"internal/port/store/a.go", "github.com/pressly/goose/v3"},
		{"internal/flow/a.go", module + "/internal/port/bus"},
		{"internal/stage/robot/a.go", module + "/internal/stage/robot/client"},
		{"internal/stage/robot/client/a.go", module + "/internal/stage/robot/rules"},
		{"internal/stage/robot/a_test.go", module + "/internal/port/bus/membus"},
		{"internal/front/api/a_test.go", "golang.org/x/net/html"},
		{"internal/app/a.go", module + "/internal/port/store/sqlite"},
		{"internal/search/fleet/a.go", module + "/internal/search/index"},
		{"internal/front/search/a.go", module + "/internal/search/index"},
		{"internal/front/api/a.go", module + "/internal/desk"},
		{"internal/stage/robot/a.go", module + "/internal/table"},
		{"internal/table/a.go", module + "/internal/port/store"},
		{"cmd/courant/a.go", module + "/internal/front/api"},
		{"test/sim/a.go", module + "/internal/stage/pages"},
	} {
		files := planted(t, c.name, "package a\n\nimport _ \""+c.imports+"\"\n")
		if got := append(wrongImports(files[0]), placeless(files[0])...); got != nil {
			t.Errorf("%s imports %s: got %q", c.name, c.imports, got)
		}
	}
}

func TestFaultsAreReported(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("\t_ = 0\n", n) }
	for _, c := range []struct{ what, name, text, named string }{
		{"a folder in no layer", "internal/util/a.go", "package util\n", "internal/util/a.go: the folder is in no layer"},
		{"501 lines", "a.go", "package a\n" + strings.Repeat("//\n", 500), "a.go: 501 lines, more than 500"},
		{"a function of 61 lines", "a.go", "package a\n\nfunc long() {\n" + lines(59) + "}\n", "a.go:3: long has 61 lines, more than 60"},
		{"a block nested five deep", "a.go", nested(5), "a.go:8: nested more than 4 deep"},
		{"a block nested five deep in a literal", "a.go", "package a\n\nvar f = func() {\n" + blocks(5) + "}\n", "a.go:8: nested more than 4 deep"},
		{"an init function", "a.go", "package a\n\nfunc init() {}\n", "a.go:3: init functions are not allowed"},
		{"context.Background outside main", "a.go", "package a\n\nvar ctx = context.Background()\n", "a.go:3: context.Background outside main"},
		{"sleeping", "a.go", "package a\n\nfunc f() { time.Sleep(1) }\n", "a.go:3: time.Sleep is not allowed"},
		{"sleeping in a test", "a_test.go", "package a\n\nfunc f() { time.Sleep(1) }\n", "a_test.go:3: time.Sleep is not allowed"},
		{"a statement elsewhere", "a.go", "package a\n\nconst q = `UPDATE hosts SET partition = 1`\n", "a.go:3: SQL statement outside sql.go"},
	} {
		f := planted(t, c.name, c.text)[0]
		got := slices.Concat(placeless(f), tooLarge(f), unwanted(f), strayed(f))
		if len(got) != 1 || !strings.HasPrefix(got[0], c.named) {
			t.Errorf("%s: got %q", c.what, got)
		}
	}
}

func TestCodeWithinTheLimitsPasses(t *testing.T) {
	for what, text := range map[string]string{
		"500 lines":                "package a\n" + strings.Repeat("//\n", 499),
		"a function of 60 lines":   "package a\n\nfunc f() {\n" + strings.Repeat("\t_ = 0\n", 58) + "}\n",
		"a block nested four deep": nested(4),
		"else if, five times":      "package a\n\nfunc f() {\n\tif a {\n\t} else if b {\n\t} else if c {\n\t} else if d {\n\t} else if e {\n\t}\n}\n",
		"a method called init":     "package a\n\nfunc (a) init() {}\n",
	} {
		f := planted(t, "a.go", text)[0]
		if got := slices.Concat(tooLarge(f), unwanted(f)); got != nil {
			t.Errorf("%s: got %q", what, got)
		}
	}
	said := "package a\n\nfunc f() {\n\ttime.Sleep(1) // the server gives no other signal\n}\n"
	if got := unwanted(planted(t, "a_test.go", said)[0]); got != nil {
		t.Errorf("a test that says why it sleeps: %q", got)
	}
	bubble := "package a\n\nimport \"testing/synctest\"\n\nfunc f() { time.Sleep(1) }\n"
	if got := unwanted(planted(t, "a_test.go", bubble)[0]); got != nil {
		t.Errorf("a test in fake time: %q", got)
	}
}

// nested returns a file with n blocks inside each other.
func nested(n int) string { return "package a\n\nfunc f() {\n" + blocks(n) + "}\n" }

func blocks(n int) string { return strings.Repeat("for {\n", n) + strings.Repeat("}\n", n) }

func TestAPackageWithoutACommentIsReported(t *testing.T) {
	for text, named := range map[string]bool{
		"package a\n":                           true,
		"// This is a.\npackage a\n":            true,
		"// Package b does.\npackage a\n":       true,
		"// Package a does.\npackage a\n":       false,
		"// Command a does.\npackage main\n":    false,
		"// Package main does.\npackage main\n": true,
	} {
		got := undescribed(planted(t, "internal/kit/a/a.go", text))
		if (len(got) == 1) != named {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

func TestDependenciesWithoutARowAreReported(t *testing.T) {
	const begin = "module x\n\nrequire (\n\tgithub.com/spf13/cobra v1.0.0\n"
	files := planted(t, "cmd/courant/a.go", "package main\n\nimport (\n\t_ \"github.com/spf13/cobra\"\n\t_ \"example.org/pad/left\"\n)\n")
	for _, c := range []struct{ what, mod, named string }{
		{"direct", begin + "\texample.org/pad v1.0.0\n)\n", "go.mod: example.org/pad has no row"},
		{"direct, marked indirect", begin + "\texample.org/pad v1.0.0 // indirect\n)\n", "go.mod: example.org/pad has no row"},
		{"not required", begin + ")\n", "cmd/courant/a.go:5: go.mod does not require example.org/pad/left"},
	} {
		if got := dependencies(c.mod, files); len(got) != 1 || !strings.HasPrefix(got[0], c.named) {
			t.Errorf("%s: got %q", c.what, got)
		}
	}
	replaced := begin + ")\nreplace github.com/spf13/cobra => ../cobra\n"
	files = planted(t, "cmd/courant/a.go", "package main\n\nimport _ \"github.com/spf13/cobra\"\n")
	if got := dependencies(replaced, files); len(got) != 1 || !strings.Contains(got[0], "replace") {
		t.Errorf("replace: got %q", got)
	}
	if got := needless(files); len(got) != len(homes)-1 {
		t.Errorf("%d of %d unused rows are reported", len(got), len(homes)-1)
	}
}

func TestStatementsAreConcatenated(t *testing.T) {
	text := "package a\n\nconst (\n\tcolumns = `a, ` + `b`\n\tall = `SELECT ` + columns + ` FROM x`\n\tlabel = `none`\n)\n"
	got := statements(planted(t, "internal/stage/a/sql.go", text))
	if len(got) != 1 || got[0].name != "all" || got[0].text != "SELECT a, b FROM x" || got[0].at != "internal/stage/a/sql.go:5" {
		t.Errorf("got %+v", got)
	}
}

const plantedTables = `
CREATE TABLE polls ( -- schedule
  source BIGINT PRIMARY KEY,
  due    BIGINT NOT NULL, -- schedule, desk: next time
  reason TEXT NOT NULL    -- wanted, pending: states are no units
);
CREATE TABLE counts ( -- desk
  number BIGINT NOT NULL
);
CREATE TABLE lost (
  nobody BIGINT NOT NULL
);
`

func TestAColumnWithAnotherWriterIsReported(t *testing.T) {
	files, err := load(fstest.MapFS{
		"internal/stage/schedule/sql.go": {Data: []byte("package schedule\n\nconst plan = `UPDATE polls SET due = CASE WHEN $2 THEN (SELECT 1) ELSE 2 END, reason = $3 WHERE source = $1`\n")},
		"internal/stage/robot/sql.go":    {Data: []byte("package robot\n\nconst answer = `INSERT INTO polls (source, reason) VALUES ($1, $2) ON CONFLICT (source) DO UPDATE SET due = polls.due`\n")},
		"internal/table/sql.go":          {Data: []byte("package table\n\nconst count = `UPDATE counts SET number = $1`\n")},
		"internal/table/table.go":        {Data: []byte("package table\n\nfunc Count() { put() }\n\nfunc put() { _ = count }\n")},
		"internal/stage/parse/a.go":      {Data: []byte("package parse\n\nfunc f() { table.Count() }\n")},
		"internal/desk/a.go":             {Data: []byte("package desk\n\nfunc f() { table.Count() }\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	all, wrong := declared(plantedTables, unitsOf(files))
	if want := []string{"the migrations name no writer of lost.nobody"}; !slices.Equal(wrong, want) {
		t.Errorf("got %q, want %q", wrong, want)
	}
	want := []string{
		"internal/table/sql.go:3: count: parse writes counts.number, whose writers are desk",
		"internal/stage/robot/sql.go:3: answer: robot writes polls.reason, whose writers are schedule",
		"the migrations name desk as a writer of polls.due, but it does not write it",
	}
	if got := breaches(all, files); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestARepeatedStatementIsReported(t *testing.T) {
	got := repeated([]statement{{"a.go:1", "one", "SELECT 1  FROM x"}, {"b.go:2", "two", "SELECT 1 FROM\n\tx"}, {"c.go:3", "three", "SELECT 2 FROM x"}})
	if want := []string{"b.go:2: two repeats one at a.go:1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestATableWithoutABoundIsReported(t *testing.T) {
	got := unbounded(plantedTables, []string{"polls", "counts", "removed"}, map[string]string{"counts": "a few names", "renamed": "a few names"})
	want := []string{
		"table counts: retain deletes from it, and bounded says that it need not",
		"table lost grows for ever: add a rule to internal/stage/retain, or a reason to bounded",
		"removed is no table of the migrations",
		"renamed is no table of the migrations",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

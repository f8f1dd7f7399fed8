package arch

import (
	"io/fs"
	"os"
	"path"
	"testing"

	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/stage/retain"
)

const root = "../.."

func tree(t *testing.T) []file {
	t.Helper()
	files, err := load(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// report fails the test with one line for each finding.
func report(t *testing.T, found []string) {
	t.Helper()
	for _, f := range found {
		t.Error(f)
	}
}

func TestEveryFile(t *testing.T) {
	files := tree(t)
	for name, check := range map[string]func(file) []string{
		"is in a layer":                              placeless,
		"imports only what its folder may":           wrongImports,
		"is within the limits of length and nesting": tooLarge,
		"has no init, context.Background or Sleep":   unwanted,
		"has no SQL outside sql.go":                  strayed,
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range files {
				report(t, check(f))
			}
		})
	}
}

func TestEveryPackageSaysWhatItGives(t *testing.T) { report(t, undescribed(tree(t))) }

func TestEveryDependencyHasARowInHomes(t *testing.T) {
	goMod, err := os.ReadFile(root + "/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	files := tree(t)
	report(t, dependencies(string(goMod), files))
	report(t, needless(files))
}

func TestEveryStatementIsValidInEveryDatabase(t *testing.T) {
	all := statements(tree(t))
	if len(all) < 50 {
		t.Errorf("only %d statements were found", len(all))
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, q := range all {
			if err := s.Prepare(t.Context(), q.text); err != nil {
				t.Errorf("%s: %s: %v", q.at, q.name, err)
			}
		}
	})
}

// migrations returns the text of all migrations.
func migrations(t *testing.T) string {
	t.Helper()
	names, err := fs.Glob(os.DirFS(root), "internal/port/store/migrations/*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d migrations, %v", len(names), err)
	}
	var text []byte
	for _, name := range names {
		one, err := os.ReadFile(path.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, one...)
	}
	return string(text)
}

func TestEveryColumnIsWrittenOnlyByTheUnitsTheMigrationsName(t *testing.T) {
	files := tree(t)
	all, wrong := declared(migrations(t), unitsOf(files))
	report(t, wrong)
	if len(all) < 100 {
		t.Errorf("only %d columns were found", len(all))
	}
	report(t, breaches(all, files))
}

func TestEveryTableHasABound(t *testing.T) {
	report(t, unbounded(migrations(t), retain.Tables(), bounded))
}

func TestNoStatementIsRepeated(t *testing.T) { report(t, repeated(statements(tree(t)))) }

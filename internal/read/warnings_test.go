package read_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// codesIn collects the warning codes that the Go files of a folder give.
func codesIn(t *testing.T, dir string, codes map[string]string) {
	t.Helper()
	text := func(e ast.Expr) string {
		if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
			s, err := strconv.Unquote(l.Value)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		return ""
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				s, ok := n.Fun.(*ast.SelectorExpr)
				if ok && (s.Sel.Name == "warn" || s.Sel.Name == "here" || s.Sel.Name == "fault") && len(n.Args) > 1 {
					if code := text(n.Args[0]); code != "" {
						codes[code] = path
					}
				}
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					if name, ok := to.(*ast.Ident); ok && name.Name == "code" && i < len(n.Rhs) && text(n.Rhs[i]) != "" {
						codes[text(n.Rhs[i])] = path
					}
				}
			case *ast.KeyValueExpr:
				if k, ok := n.Key.(*ast.Ident); ok && k.Name == "Code" {
					if code := text(n.Value); code != "" {
						codes[code] = path
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestEveryWarningHasItsPlaceInTheManual(t *testing.T) {
	codes := map[string]string{}
	for _, dir := range []string{".", "../kit/xmlscan", "../stage/parse"} {
		codesIn(t, dir, codes)
	}
	if len(codes) < 40 {
		t.Fatalf("only %d codes found", len(codes))
	}
	manual, err := os.ReadFile("../../docs/warnings.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.SplitSeq(string(manual), "\n") {
		if cell, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " |"); ok && strings.HasPrefix(line, "| `") {
			for _, m := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(cell, -1) {
				listed[m[1]] = true
			}
		}
	}
	for code, path := range codes {
		if !listed[code] {
			t.Errorf("docs/warnings.md does not know %q of %s", code, path)
		}
	}
	for code := range listed {
		if codes[code] == "" {
			t.Errorf("docs/warnings.md has %q, which nothing gives", code)
		}
	}
}

func TestEveryErrorHasItsPlaceInTheManual(t *testing.T) {
	manual, err := os.ReadFile("../../docs/warnings.md")
	if err != nil {
		t.Fatal(err)
	}
	_, paragraph, _ := strings.Cut(string(manual), "A file that cannot be read at all has an error")
	paragraph, _, _ = strings.Cut(paragraph, "\n\n")
	listed, given := map[string]bool{}, map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(paragraph, -1) {
		listed[m[1]] = true
	}
	for _, dir := range []string{".", "../kit/xmlscan", "../kit/unpack"} {
		errorsIn(t, dir, given)
	}
	if len(given) == 0 || !maps.Equal(listed, given) {
		t.Errorf("docs/warnings.md has the errors %v, the code gives %v", listed, given)
	}
}

// errorsIn collects the words at the beginning of the errors that the Go files of a
// folder give.
func errorsIn(t *testing.T, dir string, codes map[string]bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`courant\.Invalid, "([a-z_]+): `).FindAllSubmatch(text, -1) {
			codes[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Package arch holds the source tree to the architecture: who may import whom,
// where each dependency has its home, how long and how deep code may be. The
// checks are pure functions of parsed files; a place decides by its path.
package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// module is the path that all our packages begin with.
const module = "github.com/courant-platform/courant"

// file is one parsed source file.
type file struct {
	path   string // from the root of the tree, with slashes
	fset   *token.FileSet
	syntax *ast.File
	bubble bool // the package's tests run in fake time, by testing/synctest
}

// parse parses a file as it would stand under path.
func parse(path string, text []byte) (file, error) {
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	return file{path: path, fset: fset, syntax: syntax}, err
}

// load parses every Go file of a tree, save what go itself passes over.
func load(tree fs.FS) ([]file, error) {
	var files []file
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			base := path.Base(name)
			if name != "." && (base[0] == '.' || base[0] == '_' || base == "testdata") {
				return fs.SkipDir
			}
			if _, err := fs.Stat(tree, path.Join(name, "go.mod")); name != "." && err == nil {
				return fs.SkipDir // a module of its own
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		f, err := parse(name, text)
		files = append(files, f)
		return err
	})
	markBubbles(files)
	return files, err
}

func markBubbles(files []file) {
	bubbles := map[string]bool{}
	for _, f := range files {
		if paths, _ := f.imports(); slices.Contains(paths, "testing/synctest") {
			bubbles[f.dir()] = true
		}
	}
	for i := range files {
		files[i].bubble = bubbles[files[i].dir()]
	}
}

// dir is the folder of the file's package, "" for the root.
func (f file) dir() string {
	if d := path.Dir(f.path); d != "." {
		return d
	}
	return ""
}

// tests says whether the file is there for tests alone: a test, or a package of
// suites or saboteurs such as storetest and faultbus.
func (f file) tests() bool {
	base := path.Base(f.dir())
	return strings.HasSuffix(f.path, "_test.go") || within(f.dir(), "test") ||
		strings.HasSuffix(base, "test") || strings.HasPrefix(base, "fault")
}

func (f file) at(pos token.Pos) string {
	return fmt.Sprintf("%s:%d", f.path, f.fset.Position(pos).Line)
}

// imports are the paths that a file imports, with where it does.
func (f file) imports() (paths, at []string) {
	for _, spec := range f.syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil { // the parser has let it through
			p = spec.Path.Value
		}
		paths, at = append(paths, p), append(at, f.at(spec.Pos()))
	}
	return paths, at
}

// within says whether a slash path is root or lies below it.
func within(p, root string) bool { return p == root || strings.HasPrefix(p, root+"/") }

// ours is a path of the tree for an import of it.
func ours(importPath string) (dir string, ok bool) {
	if !within(importPath, module) {
		return "", false
	}
	return strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/"), true
}

// standard says whether an import is of the standard library, whose paths have
// no dot in their first part.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

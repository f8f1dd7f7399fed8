// Package arch checks the source tree against the architecture: which package may
// import which, where each dependency may be used, how long and how deeply nested
// code may be, who writes which column. The checks are pure functions of parsed
// files; the rules for a file follow from its path.
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

// module is the path of this module.
const module = "github.com/courant-platform/courant"

// file is one parsed source file.
type file struct {
	path   string // from the root of the tree, with slashes
	fset   *token.FileSet
	syntax *ast.File
	bubble bool // the package's tests run in fake time, by testing/synctest
}

// parse parses text as the file at path.
func parse(path string, text []byte) (file, error) {
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	return file{path: path, fset: fset, syntax: syntax}, err
}

// load parses every Go file of a tree, except what the go command ignores.
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
				return fs.SkipDir // a separate module
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

// dir returns the folder of the file's package, "" for the root.
func (f file) dir() string {
	if d := path.Dir(f.path); d != "." {
		return d
	}
	return ""
}

// tests reports whether the file is for tests only: a test, or part of a suite or
// fault injector such as storetest and faultbus.
func (f file) tests() bool {
	base := path.Base(f.dir())
	return strings.HasSuffix(f.path, "_test.go") || within(f.dir(), "test") ||
		strings.HasSuffix(base, "test") || strings.HasPrefix(base, "fault")
}

func (f file) at(pos token.Pos) string {
	return fmt.Sprintf("%s:%d", f.path, f.fset.Position(pos).Line)
}

// imports returns the paths that a file imports, each with its FILE:LINE.
func (f file) imports() (paths, at []string) {
	for _, spec := range f.syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil { // although the parser accepted it
			p = spec.Path.Value
		}
		paths, at = append(paths, p), append(at, f.at(spec.Pos()))
	}
	return paths, at
}

// within reports whether a slash path is root or below it.
func within(p, root string) bool { return p == root || strings.HasPrefix(p, root+"/") }

// ours returns the folder for an import of this module.
func ours(importPath string) (dir string, ok bool) {
	if !within(importPath, module) {
		return "", false
	}
	return strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/"), true
}

// standard reports whether an import is of the standard library, whose paths have
// no dot in their first element.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

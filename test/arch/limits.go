package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// Hard limits; the style guide asks for less.
const (
	mostLines    = 500 // of a file
	mostFunction = 60  // lines of a function, from its name to its closing brace
	mostNesting  = 4   // of if, for, switch and select
)

// tooLarge reports what exceeds a limit. Generated files are exempt.
func tooLarge(f file) []string {
	var out []string
	if ast.IsGenerated(f.syntax) {
		return nil
	}
	if n := f.fset.File(f.syntax.FileStart).LineCount(); n > mostLines {
		out = append(out, fmt.Sprintf("%s: %d lines, more than %d", f.path, n, mostLines))
	}
	for _, d := range f.syntax.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		first, last := f.fset.Position(fn.Pos()).Line, f.fset.Position(fn.End()).Line
		if n := last - first + 1; n > mostFunction {
			out = append(out, fmt.Sprintf("%s: %s has %d lines, more than %d", f.at(fn.Pos()), fn.Name.Name, n, mostFunction))
		}
	}
	return append(out, tooDeep(f)...)
}

// tooDeep reports the statements that are nested too deeply. A function literal
// starts at depth 0 again, and `else if` is no deeper than its `if`.
func tooDeep(f file) []string {
	n := nesting{file: f}
	ast.Walk(&n, f.syntax)
	return *n.found()
}

type nesting struct {
	file  file
	depth int
	out   []string
	outer *nesting // collects the findings; nil for the outermost
	chain ast.Stmt // the `else if` of the statement being visited
}

func (n *nesting) found() *[]string {
	for n.outer != nil {
		n = n.outer
	}
	return &n.out
}

// Visit goes one deeper at each statement that has a block.
func (n *nesting) Visit(node ast.Node) ast.Visitor {
	inner := &nesting{file: n.file, depth: n.depth, outer: n}
	switch s := node.(type) {
	case *ast.FuncDecl, *ast.FuncLit:
		inner.depth = 0
		return inner
	case *ast.IfStmt:
		if n.chain != s {
			inner.depth++
		}
		inner.chain = s.Else
	case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		inner.depth++
	default:
		return n
	}
	if inner.depth == mostNesting+1 {
		out := n.found()
		*out = append(*out, fmt.Sprintf("%s: nested more than %d deep", n.file.at(node.Pos()), mostNesting))
	}
	return inner
}

// unwanted reports what the style forbids in any file: init functions,
// context.Background outside main, time.Sleep.
func unwanted(f file) []string {
	var out []string
	if ast.IsGenerated(f.syntax) {
		return nil
	}
	for _, d := range f.syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			out = append(out, f.at(fn.Pos())+": init functions are not allowed")
		}
	}
	ast.Inspect(f.syntax, func(node ast.Node) bool {
		sel, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		switch name := pkg.Name + "." + sel.Sel.Name; name {
		case "context.Background", "context.TODO":
			if !f.tests() && f.syntax.Name.Name != "main" {
				out = append(out, f.at(sel.Pos())+": "+name+" outside main")
			}
		case "time.Sleep":
			if !f.tests() || !f.bubble && !f.comment(sel.Pos()) {
				out = append(out, f.at(sel.Pos())+": time.Sleep is not allowed; a test that needs real time must say why in a comment next to it")
			}
		}
		return true
	})
	return out
}

// comment reports whether there is a comment on the line of pos or on the line before.
func (f file) comment(pos token.Pos) bool {
	line := f.fset.Position(pos).Line
	for _, group := range f.syntax.Comments {
		last := f.fset.Position(group.End()).Line
		if last == line || last == line-1 {
			return true
		}
	}
	return false
}

// undescribed reports the packages without a package comment.
func undescribed(files []file) []string {
	described := map[string]bool{}
	var order []string
	for _, f := range files {
		d := f.dir()
		if _, seen := described[d]; !seen {
			described[d] = false
			order = append(order, d)
		}
		begin := "Package " + f.syntax.Name.Name + " "
		if f.syntax.Name.Name == "main" {
			begin = "Command "
		}
		if f.syntax.Doc != nil && strings.HasPrefix(f.syntax.Doc.Text(), begin) {
			described[d] = true
		}
	}
	var out []string
	for _, d := range order {
		if !described[d] {
			out = append(out, placeOf(d)+": has no package comment that begins with its name")
		}
	}
	return out
}

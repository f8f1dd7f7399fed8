package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// Limits that no file passes; the style asks for less.
const (
	mostLines    = 500 // of a file
	mostFunction = 60  // lines of a function, from its name to its last brace
	mostNesting  = 4   // of if, for, switch and select
)

// tooLarge names what passes a limit. What a program has made keeps none.
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

// tooDeep names the statements that are nested too deeply. A function literal
// begins anew, and `else if` is no deeper than its `if`.
func tooDeep(f file) []string {
	n := nesting{file: f}
	ast.Walk(&n, f.syntax)
	return *n.found()
}

type nesting struct {
	file  file
	depth int
	out   []string
	outer *nesting // whose findings these are
	chain ast.Stmt // the `else if` that comes next
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

// unwanted names what the style forbids in any file: init functions, contexts
// out of nowhere, sleeping.
func unwanted(f file) []string {
	var out []string
	if ast.IsGenerated(f.syntax) {
		return nil
	}
	for _, d := range f.syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			out = append(out, f.at(fn.Pos())+": an init function")
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
				out = append(out, f.at(sel.Pos())+": time.Sleep; a test in real time says why in a comment beside it")
			}
		}
		return true
	})
	return out
}

// comment says whether there is one on the line of pos or on the line before.
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

// undescribed names the packages without a comment that says what they give.
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
			out = append(out, placeOf(d)+": no package comment that begins with its name")
		}
	}
	return out
}

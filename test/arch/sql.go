package arch

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strconv"
)

// statement is an SQL statement in a package's sql.go; at is FILE:LINE.
type statement struct{ at, name, text string }

var (
	isSQL = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\s`)
	// wholeSQL matches literals that are not allowed outside sql.go.
	wholeSQL = regexp.MustCompile(`^\s*(SELECT\s.*\sFROM\s|INSERT INTO\s|UPDATE\s\w+\sSET\s|DELETE FROM\s)`)
)

// statements returns the statements of the sql.go files: constants, concatenated,
// without those that are only parts of others.
func statements(files []file) []statement {
	var out []statement
	others := exported(files)
	for _, f := range files {
		if path.Base(f.path) != "sql.go" || within(f.dir(), "test") {
			continue
		}
		c := constants{values: map[string]ast.Expr{}, part: map[string]bool{}, others: others}
		var names []*ast.Ident
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != len(spec.Names) {
				return true
			}
			for i, name := range spec.Names {
				c.values[name.Name] = spec.Values[i]
				names = append(names, name)
			}
			return true
		})
		for _, name := range names {
			c.text(c.values[name.Name])
		}
		for _, name := range names {
			if text, ok := c.text(c.values[name.Name]); ok && !c.part[name.Name] && isSQL.MatchString(text) {
				out = append(out, statement{f.at(name.Pos()), name.Name, text})
			}
		}
	}
	return out
}

// exported returns the values of the exported constants and variables, by package and name.
func exported(files []file) map[string]ast.Expr {
	values := map[string]ast.Expr{}
	for _, f := range files {
		if f.tests() {
			continue
		}
		for _, d := range f.syntax.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				if v, ok := s.(*ast.ValueSpec); ok && len(v.Names) == 1 && len(v.Values) == 1 && v.Names[0].IsExported() {
					values[f.syntax.Name.Name+"."+v.Names[0].Name] = v.Values[0]
				}
			}
		}
	}
	return values
}

// constants concatenates the string constants of one file.
type constants struct {
	values map[string]ast.Expr
	part   map[string]bool     // names that occur in other constants
	others map[string]ast.Expr // of other packages
}

// text returns the value of a constant string expression; false for anything else.
func (c constants) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.ParenExpr:
		return c.text(e.X)
	case *ast.Ident:
		c.part[e.Name] = true
		value, ok := c.values[e.Name]
		if !ok {
			return "", false
		}
		return c.text(value)
	case *ast.SelectorExpr:
		of, ok := e.X.(*ast.Ident)
		if !ok || c.others[of.Name+"."+e.Sel.Name] == nil {
			return "", false
		}
		return c.text(c.others[of.Name+"."+e.Sel.Name])
	case *ast.BinaryExpr:
		left, ok := c.text(e.X)
		right, also := c.text(e.Y)
		return left + right, ok && also && e.Op == token.ADD
	}
	return "", false
}

// strayed reports SQL statements outside their package's sql.go.
func strayed(f file) []string {
	if path.Base(f.path) == "sql.go" || f.tests() || within(f.dir(), port) {
		return nil
	}
	var out []string
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		if text, err := strconv.Unquote(lit.Value); err == nil && wholeSQL.MatchString(text) {
			out = append(out, f.at(lit.Pos())+": SQL statement outside sql.go")
		}
		return true
	})
	return out
}

package arch

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// columns maps every "table.column" to the units that the migrations name as its
// writers: next to the column, "robot, desk: what it is", otherwise next to the table,
// "CREATE TABLE hosts ( -- robot". A column with several writers has one for each
// transition of its row. Primary keys are not checked: whoever inserts the row sets them.
type columns map[string][]string

var (
	createTable = regexp.MustCompile(`^CREATE TABLE (\w+) \((?: -- (.*))?$`)
	addColumn   = regexp.MustCompile(`^ALTER TABLE (\w+) ADD (?:COLUMN )?(\w+) [^-]*(?:-- (.*))?$`)
	columnLine  = regexp.MustCompile(`^  ([a-z_]+) +[A-Z][^-]*(?:-- (.*))?$`)
	writersOf   = regexp.MustCompile(`^([a-z]+(?:, [a-z]+)*)(?::|$)`)
	primaryKey  = regexp.MustCompile(`^  PRIMARY KEY \(([^)]*)\)`)
)

// declared reads the columns of the migrations, and reports those without a writer.
// A comment that does not begin with units is only a comment.
func declared(text string, units []string) (all columns, wrong []string) {
	all = columns{}
	table, usual := "", []string(nil)
	named := func(comment string) []string {
		m := writersOf.FindStringSubmatch(comment)
		if m == nil || slices.ContainsFunc(strings.Split(m[1], ", "), func(u string) bool { return !slices.Contains(units, u) }) {
			return nil
		}
		return strings.Split(m[1], ", ")
	}
	add := func(table, name, comment string, usual []string) {
		writers := usual
		if own := named(comment); own != nil {
			writers = own
		}
		if len(writers) == 0 {
			wrong = append(wrong, fmt.Sprintf("the migrations name no writer of %s.%s", table, name))
		}
		all[table+"."+name] = writers
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := createTable.FindStringSubmatch(line); m != nil {
			table, usual = m[1], named(m[2])
		} else if m := addColumn.FindStringSubmatch(line); m != nil {
			add(m[1], m[2], m[3], nil)
		} else if m := primaryKey.FindStringSubmatch(line); m != nil {
			for _, key := range strings.Split(m[1], ", ") {
				delete(all, table+"."+key)
			}
		} else if m := columnLine.FindStringSubmatch(line); m != nil && !strings.Contains(line, "PRIMARY KEY") {
			add(table, m[1], m[2], usual)
		}
	}
	return all, wrong
}

// breaches reports each write by a unit that the migrations do not name as a writer of
// the column, and each named writer that does not write its column.
func breaches(declared columns, files []file) (wrong []string) {
	writers := map[string]map[string]string{} // column, unit, where
	for _, q := range statements(files) {
		for _, unit := range callers(files, q) {
			for _, column := range written(q.text) {
				if writers[column] == nil {
					writers[column] = map[string]string{}
				}
				writers[column][unit] = q.at + ": " + q.name
			}
		}
	}
	for _, column := range slices.Sorted(maps.Keys(writers)) {
		named, known := declared[column]
		for _, unit := range slices.Sorted(maps.Keys(writers[column])) {
			if known && !slices.Contains(named, unit) {
				wrong = append(wrong, fmt.Sprintf("%s: %s writes %s, whose writers are %s", writers[column][unit], unit, column, strings.Join(named, ", ")))
			}
		}
	}
	for _, column := range slices.Sorted(maps.Keys(declared)) {
		for _, unit := range declared[column] {
			if _, ok := writers[column][unit]; !ok {
				wrong = append(wrong, fmt.Sprintf("the migrations name %s as a writer of %s, but it does not write it", unit, column))
			}
		}
	}
	return wrong
}

// callers returns the units that run a statement: the unit of its package or, for a
// statement in internal/table, the units that call the functions that run it.
func callers(files []file, q statement) []string {
	dir := path.Dir(strings.SplitN(q.at, ":", 2)[0])
	if !within(dir, table) {
		return []string{unitName(dir)}
	}
	runs := map[string]bool{q.name: true} // names of the package that lead to the statement
	for grown := true; grown; {
		grown = false
		for _, f := range files {
			if f.dir() != dir || f.tests() {
				continue
			}
			for _, d := range f.syntax.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if ok && !runs[fn.Name.Name] && mentions(fn.Body, runs) {
					runs[fn.Name.Name], grown = true, true
				}
			}
		}
	}
	units := map[string]bool{}
	for _, f := range files {
		if f.tests() || f.dir() == dir {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if ok && fmt.Sprint(sel.X) == path.Base(dir) && runs[sel.Sel.Name] {
				units[unitName(f.dir())] = true
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(units))
}

// mentions reports whether a body uses one of the names.
func mentions(body ast.Node, names map[string]bool) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && names[id.Name] {
			found = true
		}
		return !found
	})
	return found
}

// unitName returns the name of the unit that a folder belongs to: robot for
// internal/stage/robot/client, fleet for internal/search/fleet.
func unitName(dir string) string {
	if within(dir, search) || within(dir, stages) || within(dir, fronts) || within(dir, port) {
		return path.Base(unit(dir))
	}
	return path.Base(dir)
}

var (
	insertInto = regexp.MustCompile(`(?s)^INSERT INTO (\w+) \(([^)]*)\)`)
	updateSet  = regexp.MustCompile(`(?s)^UPDATE (\w+) SET (.*)$`)
	doUpdate   = regexp.MustCompile(`(?s)DO UPDATE SET (.*)$`)
	assignment = regexp.MustCompile(`(?s)^\s*(\w+) = (.*)$`)
)

// written returns the columns, "table.column", that a statement writes. A column that is
// set to itself, to lock its row, does not count.
func written(query string) (all []string) {
	set := func(table, list string) {
		for _, part := range topLevel(list) {
			if m := assignment.FindStringSubmatch(part); m != nil && strings.TrimSpace(m[2]) != table+"."+m[1] {
				all = append(all, table+"."+m[1])
			}
		}
	}
	if m := insertInto.FindStringSubmatch(query); m != nil {
		for _, name := range strings.Split(m[2], ",") {
			all = append(all, m[1]+"."+strings.TrimSpace(name))
		}
		if u := doUpdate.FindStringSubmatch(query); u != nil {
			set(m[1], u[1])
		}
	} else if m := updateSet.FindStringSubmatch(query); m != nil {
		set(m[1], m[2])
	}
	return all
}

var endOfSet = regexp.MustCompile(`^(WHERE|FROM|RETURNING)\b`)

// topLevel splits the list of a SET clause at the commas outside parentheses.
func topLevel(list string) (parts []string) {
	depth, from := 0, 0
	for i := range len(list) {
		switch {
		case list[i] == '(':
			depth++
		case list[i] == ')':
			depth--
		case depth == 0 && list[i] == ',':
			parts, from = append(parts, list[from:i]), i+1
		case depth == 0 && (i == 0 || list[i-1] == ' ' || list[i-1] == '\t' || list[i-1] == '\n') && endOfSet.MatchString(list[i:]):
			return append(parts, list[from:i])
		}
	}
	return append(parts, list[from:])
}

// unitsOf returns the units that statements may belong to.
func unitsOf(files []file) (units []string) {
	for _, f := range files {
		if u := unitName(f.dir()); !slices.Contains(units, u) {
			units = append(units, u)
		}
	}
	return units
}

// repeated reports statements with the same text, ignoring white space.
func repeated(all []statement) (wrong []string) {
	seen := map[string]statement{}
	for _, q := range all {
		text := strings.Join(strings.Fields(q.text), " ")
		if first, ok := seen[text]; ok {
			wrong = append(wrong, fmt.Sprintf("%s: %s repeats %s at %s", q.at, q.name, first.name, first.at))
			continue
		}
		seen[text] = q
	}
	return wrong
}

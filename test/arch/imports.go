package arch

import (
	"fmt"
	"slices"
	"strings"
)

// Roots of the layers.
const (
	kit    = "internal/kit"
	read   = "internal/read"
	port   = "internal/port"
	flow   = "internal/flow"
	table  = "internal/table"
	stages = "internal/stage"
	search = "internal/search"
	desk   = "internal/desk"
	fronts = "internal/front"
	app    = "internal/app"
	client = "subscribe" // what other programs import
)

// wrongImports returns the imports that the file's folder does not allow: our own
// packages by the rules of the layers, all others by the table homes.
func wrongImports(f file) []string {
	var wrong []string
	paths, at := f.imports()
	for i, p := range paths {
		to, ok := ours(p)
		switch {
		case ok && !allowed(f, to):
			wrong = append(wrong, fmt.Sprintf("%s: %s may not import %s", at[i], placeOf(f.dir()), to))
		case !ok && !standard(p) && !atHome(f, p):
			wrong = append(wrong, fmt.Sprintf("%s: %s may not be imported here, see test/arch/homes.go", at[i], p))
		}
	}
	return wrong
}

func placeOf(dir string) string {
	if dir == "" {
		return "the root package"
	}
	return dir
}

// allowed derives the rule for an import within the tree from the two paths. Every
// package may import the root package and its own subpackages; tests may use
// everything under the ports: drivers, suites and fault injectors.
func allowed(f file, to string) bool {
	from := f.dir()
	switch {
	case from == to:
		return true // an external test of the package
	case from == "":
		return false
	case to == "":
		return true
	case strings.HasSuffix(f.path, "_test.go") && within(to, port) && !within(from, kit) && !within(from, read):
		return true
	}
	switch layer(from) {
	case "test", app:
		return true
	case "cmd":
		return under(to, app, fronts, desk, search, kit, read)
	case kit:
		return within(to, kit)
	case read:
		return under(to, kit, read)
	case port:
		return within(to, kit) || portOf(to) == portOf(from)
	case flow:
		return isPort(to)
	case table:
		return isPort(to)
	case stages:
		return under(to, kit, read, flow, table, unit(from)) || isPort(to)
	case search:
		return under(to, kit, flow, table, search) || isPort(to)
	case desk:
		return under(to, kit, read, flow, table) || isPort(to)
	case fronts:
		return under(to, kit, read, flow, table, search, desk, unit(from)) || isPort(to)
	}
	return false
}

// layer returns the root of the layer that a folder belongs to, "" if none.
func layer(dir string) string {
	for _, root := range []string{"cmd", "test", kit, read, port, flow, table, stages, search, desk, fronts, app, client} {
		if within(dir, root) {
			return root
		}
	}
	return ""
}

func under(dir string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return within(dir, root) })
}

// unit returns the stage, front or port that a folder belongs to, such as
// internal/stage/robot for internal/stage/robot/client.
func unit(dir string) string {
	parts := strings.SplitN(dir, "/", 4)
	return strings.Join(parts[:min(len(parts), 3)], "/")
}

// portOf returns the port that a folder belongs to, "" if none.
func portOf(dir string) string {
	if !within(dir, port) {
		return ""
	}
	return unit(dir)
}

// isPort reports whether a folder is the root of a port, not a driver.
func isPort(dir string) bool { return dir != port && portOf(dir) == dir }

// placeless reports a file that is in no layer.
func placeless(f file) []string {
	if f.dir() == "" || layer(f.dir()) != "" {
		return nil
	}
	return []string{f.path + ": the folder is in no layer, see the table in ARCHITECTURE.md"}
}

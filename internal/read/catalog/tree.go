package catalog

import (
	"strings"

	"github.com/courant-platform/courant"
)

// tree is the categories of a catalogue with the names on the way to each.
type tree struct {
	list  []courant.Category
	byID  map[string]int
	paths map[string][]string
}

// add takes a category; a later one with the same id is left out.
func (t *tree) add(c courant.Category) bool {
	if _, ok := t.byID[c.ID]; ok || c.ID == "" || len(t.list) >= maxCategories {
		return false
	}
	if t.byID == nil {
		t.byID = map[string]int{}
	}
	c.ID, c.Parent, c.Name = strings.Clone(c.ID), strings.Clone(c.Parent), strings.Clone(c.Name)
	t.byID[c.ID] = len(t.list)
	t.list = append(t.list, c)
	clear(t.paths)
	return true
}

// path is the names from the root to a category; nil if the category is unknown.
// A parent that is not there is left out, and a circle ends.
func (t *tree) path(id string) []string {
	if p, ok := t.paths[id]; ok {
		return p
	}
	var names []string
	for at, depth := id, 0; depth < maxDepth; depth++ {
		i, ok := t.byID[at]
		if !ok {
			break
		}
		names = append(names, t.list[i].Name)
		if at = t.list[i].Parent; at == id {
			break
		}
	}
	for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
		names[i], names[j] = names[j], names[i]
	}
	if t.paths == nil {
		t.paths = map[string][]string{}
	}
	if names != nil {
		t.paths[strings.Clone(id)] = names
	}
	return names
}

// named adds the categories of a path like "Clothing > Shoes" and returns the id
// of the last, which is the path itself.
func (t *tree) named(path string) (id string, names []string) {
	if known, ok := t.paths[path]; ok {
		return path, known
	}
	parent := ""
	for part := range strings.SplitSeq(path, ">") {
		if part = line(part); part == "" || len(names) >= maxDepth {
			continue
		}
		names = append(names, part)
		id = strings.Join(names, " > ")
		if _, ok := t.byID[id]; !ok {
			t.add(courant.Category{ID: id, Parent: parent, Name: part})
		}
		parent = id
	}
	return id, names
}

package catalog

import (
	"slices"
	"strings"

	"github.com/courant-platform/courant"
)

// tree holds the categories of a catalogue and caches the path to each.
type tree struct {
	list  []courant.Category
	byID  map[string]int
	paths map[string]branch
}

// branch is the path from the root to a category. It is shared and immutable.
type branch struct{ ids, names []string }

// add adds a category. It returns false if the id is empty or known, or the tree is full.
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

// path returns the path from the root to a category, empty if the category is
// unknown. It leaves out an unknown parent and stops at a cycle.
func (t *tree) path(id string) branch {
	if p, ok := t.paths[id]; ok {
		return p
	}
	var b branch
	for at, depth := id, 0; depth < maxDepth; depth++ {
		i, ok := t.byID[at]
		if !ok {
			break
		}
		b.ids, b.names = append(b.ids, t.list[i].ID), append(b.names, t.list[i].Name)
		if at = t.list[i].Parent; at == id {
			break
		}
	}
	slices.Reverse(b.ids)
	slices.Reverse(b.names)
	if t.paths == nil {
		t.paths = map[string]branch{}
	}
	if b.names != nil {
		t.paths[strings.Clone(id)] = b
	}
	return b
}

// named adds the categories of a path like "Clothing > Shoes"; the id of each
// is its path.
func (t *tree) named(path string) branch {
	if known, ok := t.paths[path]; ok {
		return known
	}
	var b branch
	id, parent := "", ""
	for part := range strings.SplitSeq(path, ">") {
		if part = line(part); part == "" || len(b.names) >= maxDepth {
			continue
		}
		new(bounds).cut(maxName, &part)
		b.names = append(b.names, part)
		id = courant.ShortID(strings.Join(b.names, " > "))
		b.ids = append(b.ids, id)
		if _, ok := t.byID[id]; !ok {
			t.add(courant.Category{ID: id, Parent: parent, Name: part})
		}
		parent = id
	}
	return b
}

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
	cut   bool // a path was longer than maxDepth, or had no place
}

// branch is the path from the root to a category. It is shared and immutable.
type branch struct{ ids, names []string }

// added is the result of tree.add.
type added uint8

const (
	isNew added = iota
	isKnown
	isFull
)

// add adds a category with an id, unless the id is known or the tree is full.
func (t *tree) add(c courant.Category) added {
	if _, ok := t.byID[c.ID]; ok {
		return isKnown
	}
	if len(t.list) >= maxCategories {
		return isFull
	}
	if t.byID == nil {
		t.byID = map[string]int{}
	}
	c.ID, c.Parent, c.Name = strings.Clone(c.ID), strings.Clone(c.Parent), strings.Clone(c.Name)
	t.byID[c.ID] = len(t.list)
	t.list = append(t.list, c)
	clear(t.paths)
	return isNew
}

// path returns the path from the root to a category, empty if the category is
// unknown. It leaves out an unknown parent and stops at a cycle.
func (t *tree) path(id string) branch {
	t.cut = false
	if p, ok := t.paths[id]; ok {
		return p
	}
	var b branch
	for at := id; ; {
		i, ok := t.byID[at]
		if !ok {
			break
		}
		if t.cut = len(b.ids) == maxDepth; t.cut {
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
	t.cut = false
	var b branch
	id, parent := "", ""
	for part := range strings.SplitSeq(path, ">") {
		if part = line(part); part == "" {
			continue
		}
		if len(b.names) >= maxDepth {
			t.cut = true
			break
		}
		new(bounds).cut(maxName, &part)
		b.names = append(b.names, part)
		id = courant.ShortID(strings.Join(b.names, " > "))
		b.ids = append(b.ids, id)
		if _, ok := t.byID[id]; !ok {
			t.cut = t.add(courant.Category{ID: id, Parent: parent, Name: part}) == isFull || t.cut
		}
		parent = id
	}
	return b
}

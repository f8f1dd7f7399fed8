package shard

import (
	"slices"
	"strings"
)

// categories are the nodes that documents lie in. A node is identified by its path of ids
// from the root. A name other than its first one is a conflict.
type categories struct {
	dict                      // paths: ids with \x00 after each
	nodes []node              // by number; 0 is no category
	below map[string][]uint32 // nodes by each id on their paths
}

type node struct {
	ids, names []string // from the root
	other      string   // another name that a source gives the last id
	docs       int      // number of documents that are alive
	from, to   uint32   // its documents in the sorted part
}

// node is the number of a path, 0 if it is empty.
func (c *categories) node(ids, names []string) uint32 {
	if len(c.nodes) == 0 {
		c.nodes = make([]node, 1)
	}
	if len(ids) == 0 {
		return 0
	}
	id := c.id(strings.Join(ids, "\x00") + "\x00")
	if int(id) == len(c.nodes) {
		c.nodes = append(c.nodes, node{ids: slices.Clone(ids), names: slices.Clone(names)})
		c.list(id)
	}
	n := &c.nodes[id]
	if a, b := last(n.names), last(names); a != b && n.other == "" {
		n.other = b
	}
	return id
}

func last(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[len(texts)-1]
}

// list adds a node to below.
func (c *categories) list(id uint32) {
	if c.below == nil {
		c.below = map[string][]uint32{}
	}
	for i, above := range c.nodes[id].ids {
		if !slices.Contains(c.nodes[id].ids[:i], above) {
			c.below[above] = append(c.below[above], id)
		}
	}
}

// order is the numbers of the nodes, with those of one branch next to each other.
func (c *categories) order() []uint32 {
	all := make([]uint32, len(c.nodes))
	for i := range all {
		all[i] = uint32(i)
	}
	slices.SortFunc(all, func(a, b uint32) int { return strings.Compare(c.name(a), c.name(b)) })
	return all
}

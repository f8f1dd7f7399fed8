// Package category is the operator's own tree of categories, with the mapping of the
// sources' categories to it.
package category

import (
	"bufio"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/courant-platform/courant"
)

// Map is a tree of categories with the mapping of the sources' categories. The nil Map
// changes nothing.
type Map struct {
	nodes  map[string]node
	places map[[2]string]string // by source ("*" for any) and the id there
	digest [sha256.Size]byte
}

type node struct{ parent, name string }

// everySource stands for all sources without a row of their own.
const everySource = "*"

// Read reads a map: rows of comma-separated values, of two kinds:
//
//	category,ID,PARENT,NAME
//	source,SOURCE,ITS-ID,ID
//
// A category without a parent is at the top. The source * stands for all. Lines that
// begin with # are comments.
func Read(r io.Reader) (*Map, error) {
	sum := sha256.New()
	m := &Map{nodes: map[string]node{}, places: map[[2]string]string{}}
	rows := csv.NewReader(io.TeeReader(bufio.NewReader(r), sum))
	rows.Comment, rows.TrimLeadingSpace, rows.FieldsPerRecord = '#', true, -1
	lines := map[string]int{} // of ids that must be categories
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, courant.Errorf(courant.Invalid, "%w", err)
		}
		line, _ := rows.FieldPos(0)
		if err := m.add(row, line, lines); err != nil {
			return nil, err
		}
	}
	for id, line := range lines {
		if _, ok := m.nodes[id]; !ok {
			return nil, courant.Errorf(courant.Invalid, "line %d: category %q does not exist", line, id)
		}
	}
	for id := range m.nodes {
		if m.path(id) == nil {
			return nil, courant.Errorf(courant.Invalid, "category %q is its own ancestor", id)
		}
	}
	sum.Sum(m.digest[:0])
	return m, nil
}

// Open reads a file. It returns the nil Map if path is empty.
func Open(path string) (*Map, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "%w", err)
	}
	defer f.Close()
	m, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func (m *Map) add(row []string, line int, lines map[string]int) error {
	if len(row) != 4 || slices.Contains(row[:2], "") {
		return courant.Errorf(courant.Invalid, "line %d must be category,ID,PARENT,NAME or source,SOURCE,ITS-ID,ID", line)
	}
	switch row[0] {
	case "category":
		if _, twice := m.nodes[row[1]]; twice {
			return courant.Errorf(courant.Invalid, "line %d: category %q is defined twice", line, row[1])
		}
		m.nodes[row[1]] = node{row[2], row[3]}
		if row[2] != "" {
			lines[row[2]] = line
		}
	case "source":
		m.places[[2]string{row[1], row[2]}] = row[3]
		lines[row[3]] = line
	default:
		return courant.Errorf(courant.Invalid, "line %d must start with category or source, not %q", line, row[0])
	}
	return nil
}

// path is the path to a category from the root, nil if it has a cycle.
func (m *Map) path(id string) (ids []string) {
	for id != "" {
		if ids = append(ids, id); len(ids) > len(m.nodes) {
			return nil
		}
		id = m.nodes[id].parent
	}
	slices.Reverse(ids)
	return ids
}

// Path is the path of an offer whose source gives it a path of ids with names: that of
// the deepest id with a mapping. Without a mapping it is the source's path, with the
// source before each id.
func (m *Map) Path(source string, ids, names []string) (path, called []string) {
	if m == nil || len(ids) == 0 {
		return ids, names
	}
	for _, own := range slices.Backward(ids) {
		if to, ok := m.of(source, own); ok {
			for _, id := range m.path(to) {
				path, called = append(path, id), append(called, m.nodes[id].name)
			}
			return path, called
		}
	}
	for _, own := range ids {
		path = append(path, source+"/"+own)
	}
	return path, names
}

// ID is the id by which to look for a source's category.
func (m *Map) ID(source, own string) string {
	if m == nil || source == "" || own == "" {
		return own
	}
	if to, ok := m.of(source, own); ok {
		return to
	}
	return source + "/" + own
}

func (m *Map) of(source, own string) (id string, ok bool) {
	if id, ok = m.places[[2]string{source, own}]; !ok {
		id, ok = m.places[[2]string{everySource, own}]
	}
	return id, ok
}

// Digest is the SHA-256 of the file, nil for the nil Map.
func (m *Map) Digest() []byte {
	if m == nil {
		return nil
	}
	return m.digest[:]
}

// Package category is the operator's own tree of categories, and what the categories
// of sources are in it.
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

// Map is a tree of categories with the places of sources' own ones. The nil Map
// leaves all as it is.
type Map struct {
	nodes  map[string]node
	places map[[2]string]string // by source ("*" for any) and the id there
	digest [sha256.Size]byte
}

type node struct{ parent, name string }

// everySource stands for all sources that say nothing of their own.
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
	lines := map[string]int{} // of ids that have to be categories
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

// Open reads a file; the nil Map for no path.
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

// path is the way to a category from the top, nil if it goes in a circle.
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

// Path is where an offer lies whose source gives it a way of ids with names: in the
// place of the deepest of them that has one. What has none keeps the source's way,
// with the source before each id.
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

// ID is what a source's category is to be looked for as.
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

// Digest tells maps apart.
func (m *Map) Digest() []byte {
	if m == nil {
		return nil
	}
	return m.digest[:]
}

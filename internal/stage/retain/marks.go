package retain

import (
	"encoding/binary"
	"slices"
)

// marks is a set of pictures of which some are marked. It keeps nine bytes for each. Two
// pictures whose digests end alike share a mark, so that neither is deleted.
type marks struct {
	keys   []uint64
	marked []bool
}

// ending is the end of a digest, which does not depend on the host.
func ending(hash []byte) uint64 { return binary.BigEndian.Uint64(hash[len(hash)-8:]) }

// collect adds a picture. After the last one, sort must be called.
func (m *marks) collect(hash []byte) { m.keys = append(m.keys, ending(hash)) }

func (m *marks) sort() {
	slices.Sort(m.keys)
	m.keys = slices.Compact(m.keys)
	m.marked = make([]bool, len(m.keys))
}

func (m *marks) empty() bool { return len(m.keys) == 0 }

// mark marks a picture, if it was collected.
func (m *marks) mark(hash []byte) {
	if i, ok := slices.BinarySearch(m.keys, ending(hash)); ok {
		m.marked[i] = true
	}
}

// has reports whether a picture is marked. One that was not collected counts as marked.
func (m *marks) has(hash []byte) bool {
	i, ok := slices.BinarySearch(m.keys, ending(hash))
	return !ok || m.marked[i]
}

package shard

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"strings"
	"unsafe"

	"github.com/courant-platform/courant"
)

// A snapshot is the columns of an index as they lie in memory, little-endian, with a
// CRC-32C at the end. Everything else is derived from the columns. The mark names the
// layout: a snapshot of another layout is refused, and the index is rebuilt.
const (
	snapshotMark = "courant index 2\n"
	mostParts    = 1 << 32 // elements of one column
)

// Save writes a snapshot. Nobody may change the shard meanwhile; queries go on.
func (s *Shard) Save(to io.Writer) error {
	w := &saver{to: bufio.NewWriterSize(to, 1<<20), sum: crc32.New(crc32.MakeTable(crc32.Castagnoli))}
	w.write([]byte(snapshotMark))
	w.text(s.x.made())
	scalar(w, &s.version)
	s.x.columns(w)
	binary.Write(w.to, binary.LittleEndian, w.sum.Sum32())
	return errors.Join(w.err, w.to.Flush())
}

// Load reads a snapshot into an empty shard, and returns the change of the feed that the
// snapshot goes up to. An error leaves the shard unchanged.
func (s *Shard) Load(from io.Reader) (version int64, err error) {
	x := newIndex(s.x.Config)
	w := &saver{from: bufio.NewReaderSize(from, 1<<20), sum: crc32.New(crc32.MakeTable(crc32.Castagnoli))}
	mark := make([]byte, len(snapshotMark))
	if w.read(mark); w.err == nil && string(mark) != snapshotMark {
		return 0, courant.Errorf(courant.Invalid, "the snapshot has a different layout")
	}
	if w.text(""); w.err == nil && w.last != x.made() {
		return 0, courant.Errorf(courant.Invalid, "the snapshot was made with a different configuration")
	}
	scalar(w, &version)
	x.columns(w)
	want := w.sum.Sum32()
	var sum uint32
	if w.err == nil {
		w.err = binary.Read(w.from, binary.LittleEndian, &sum)
	}
	if w.err == nil && sum != want {
		w.err = errors.New("checksum mismatch")
	}
	if w.err == nil {
		w.err = x.check()
	}
	if w.err != nil {
		return 0, courant.Errorf(courant.Invalid, "the snapshot is damaged: %w", w.err)
	}
	x.derive()
	s.mu.Lock()
	s.x, s.version = x, version
	s.mu.Unlock()
	return version, nil
}

func (x *index) made() string { return x.Made + "\x00" + strings.Join(x.Signals, "\x00") }

// columns writes or reads everything in a snapshot, in the same order.
func (x *index) columns(w *saver) {
	scalar(w, &x.sorted)
	column(w, &x.id)
	column(w, &x.same)
	column(w, &x.record)
	column(w, &x.texts)
	for _, c := range []*[]uint32{&x.source, &x.vendor, &x.category, &x.region, &x.language, &x.currency} {
		column(w, c)
	}
	column(w, &x.group)
	for _, c := range []*[]int64{&x.published, &x.price, &x.old} {
		column(w, c)
	}
	column(w, &x.prior)
	column(w, &x.rank)
	column(w, &x.length)
	column(w, &x.own)
	for _, s := range []*set{&x.alive, &x.available, &x.offers} {
		column(w, (*[]uint64)(s))
	}
	for _, d := range []*dict{&x.sources, &x.vendors, &x.languages, &x.regions.dict, &x.words.dict, &x.params.dict, &x.categories.dict} {
		w.dict(d)
	}
	w.nodes(&x.categories)
	w.postings(&x.words.postings)
	w.postings(&x.params.postings)
}

// derive computes everything that is not in the columns.
func (x *index) derive() {
	x.places = make([]uint16, len(x.id))
	for doc, page := range x.id {
		if x.alive.has(uint32(doc)) {
			x.at[page] = uint32(doc)
		}
	}
	x.dead = len(x.id) - len(x.at)
	for id := 1; id < x.regions.len(); id++ {
		set, _ := ParseRegions(x.regions.name(uint32(id)))
		x.regions.number(set)
	}
	if len(x.regions.sets) == 0 {
		x.regions.number(nil)
	}
	for id := 1; id < x.words.len(); id++ {
		x.words.stem(uint32(id))
	}
	x.words.sortWords()
	for id := 1; id < x.params.len(); id++ {
		name, value, _ := strings.Cut(x.params.name(uint32(id)), "\x00")
		x.params.number(name, value, uint32(id))
	}
	ranks := append([]uint16(nil), x.rank...)
	x.ranges()
	copy(x.rank, ranks)
	x.measure()
	for doc := range uint32(len(x.id)) {
		x.setBins(doc)
	}
}

// saver writes a snapshot if to is set, else reads one, and keeps the first error.
type saver struct {
	to   *bufio.Writer
	from *bufio.Reader
	sum  hash.Hash32
	last string // the text read last
	err  error
}

func (w *saver) write(b []byte) {
	if w.err == nil {
		w.sum.Write(b)
		_, w.err = w.to.Write(b)
	}
}

func (w *saver) read(b []byte) {
	if w.err == nil {
		if _, w.err = io.ReadFull(w.from, b); w.err == nil {
			w.sum.Write(b)
		}
	}
}

// bytes is the memory of a slice.
func bytes[T any](s []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(one)))
}

// scalar writes or reads one number.
func scalar[T int64 | uint32](w *saver, n *T) {
	b := unsafe.Slice((*byte)(unsafe.Pointer(n)), unsafe.Sizeof(*n))
	if w.to != nil {
		w.write(b)
	} else {
		w.read(b)
	}
}

// column writes or reads a slice: the number of elements, then the elements.
func column[T any](w *saver, s *[]T) {
	n := int64(len(*s))
	scalar(w, &n)
	if w.to != nil {
		w.write(bytes(*s))
		return
	}
	if w.err == nil && (n < 0 || n > mostParts) {
		w.err = fmt.Errorf("a column must have at most %d elements, not %d", int64(mostParts), n)
	}
	*s = nil
	const piece = 1 << 20 // so that a damaged length does not allocate all memory at once
	for w.err == nil && n > 0 {
		at := len(*s)
		*s = append(*s, make([]T, min(n, piece))...)
		w.read(bytes((*s)[at:]))
		n -= min(n, piece)
	}
}

func (w *saver) text(t string) {
	b := []byte(t)
	column(w, &b)
	w.last = string(b)
}

// dict writes or reads texts: the end of each, then all of them.
func (w *saver) dict(d *dict) {
	var ends []uint64
	var all []byte
	for _, name := range d.names {
		all = append(all, name...)
		ends = append(ends, uint64(len(all)))
	}
	column(w, &ends)
	column(w, &all)
	if w.to != nil || w.err != nil {
		return
	}
	from := uint64(0)
	for i, to := range ends {
		if to < from || to > uint64(len(all)) || i > 0 && d.id(string(all[from:to])) != uint32(i) {
			w.err = errors.New("a dictionary is out of order")
			return
		}
		from = to
	}
}

// nodes writes or reads the names of categories.
func (w *saver) nodes(c *categories) {
	if w.to != nil {
		for i := range c.nodes {
			w.text(strings.Join(c.nodes[i].names, "\x00"))
			w.text(c.nodes[i].other)
		}
		return
	}
	c.nodes = make([]node, c.len())
	for i := range c.nodes {
		if w.text(""); w.last != "" {
			c.nodes[i].names = strings.Split(w.last, "\x00")
		}
		w.text("")
		c.nodes[i].other = w.last
		if i > 0 {
			c.nodes[i].ids = strings.Split(strings.TrimSuffix(c.name(uint32(i)), "\x00"), "\x00")
			c.list(uint32(i))
		}
	}
}

// postings writes or reads postings without their texts.
func (w *saver) postings(p *postings) {
	column(w, &p.gaps)
	column(w, &p.ends)
	column(w, &p.counts)
	column(w, &p.heads)
	column(w, &p.chain)
}

package courant

import (
	"hash/fnv"
	"time"
)

// SourceKind says how a source is read.
type SourceKind string

// The kinds of source.
const (
	KindFeed    SourceKind = "feed"
	KindCatalog SourceKind = "catalog"
	KindList    SourceKind = "list"
	KindFile    SourceKind = "file" // imported by hand, never asked
)

// ImportHost is the host of the addresses that are made for files, which came from
// no web server; no such host can be (RFC 2606). Readers are not shown them.
const ImportHost = "import.invalid"

// Absence says what it means that an offer is not in a catalogue any more.
type Absence string

// The meanings of absence: of a full snapshot, and of one that is merged into
// what is there.
const (
	AbsenceWithdraws Absence = ""
	AbsenceKept      Absence = "kept"
)

// Source is what people registered: an address to poll and how to read it.
// What the platform learns about it (when it is due, its validators, its
// failures) is kept apart.
type Source struct {
	ID      int64      `json:"id,string"`
	Name    string     `json:"name"` // unique, safe in a URL path
	Kind    SourceKind `json:"kind"`
	URL     string     `json:"url"` // canonical, unique
	Title   string     `json:"title"`
	Trusted bool       `json:"trusted"` // may speak for every URL
	Robots  bool       `json:"robots"`  // robots.txt holds for its own address too
	Absence Absence    `json:"absence"`
	Added   time.Time  `json:"added"`
}

// Partitions is how many parts the hosts are divided into; a robot holds the lease
// of whole parts.
const Partitions = 256

// Partition is the part of a host, from 0 to Parts-1. It is kept in the store, so
// that it must not change. Give it the registrable domain: then the hosts of
// one owner share a robot.
func Partition(domain string) int {
	h := fnv.New32a()
	h.Write([]byte(domain))
	return int(h.Sum32() % Partitions)
}

// announcedWithin is how long before news are found the ping may have come that
// told them: the source is asked again only after its shortest interval, and
// then waits for its host's turn.
const announcedWithin = 15 * time.Minute

// Announced says whether a hub can be relied on: it told the newest news, or has
// told something since. changed is when these were found, zero for never; pinged
// is when the hub's newest ping came, zero for never. A hub that is silent while
// polling finds news is not relied on until it pings again.
func Announced(changed, pinged time.Time) bool {
	return !pinged.IsZero() && changed.Sub(pinged) <= announcedWithin
}

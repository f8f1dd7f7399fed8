package courant

import (
	"encoding/json"
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
	KindFile    SourceKind = "file" // imported by hand, never polled
)

// ImportHost is the host in the addresses of imported files, which come from no web
// server. It cannot exist (RFC 2606). Such addresses are not shown to readers.
const ImportHost = "import.invalid"

// Absence says what happens to offers that disappear from a catalogue.
type Absence string

// The catalogue is a full snapshot, so missing offers are withdrawn; or it is merged
// into what is stored, so they are kept.
const (
	AbsenceWithdraws Absence = ""
	AbsenceKept      Absence = "kept"
)

// Source is what people registered: an address to poll and how to read it. What the
// platform learns about it (next poll, validators, failures) is stored separately.
type Source struct {
	ID      int64      `json:"id,string"`
	Name    string     `json:"name"` // unique, safe in a URL path
	Kind    SourceKind `json:"kind"`
	URL     string     `json:"url"` // canonical, unique
	Title   string     `json:"title"`
	Trusted bool       `json:"trusted"` // may publish under every URL
	Robots  bool       `json:"robots"`  // robots.txt applies to its own address too
	Absence Absence    `json:"absence"`
	Site    string     `json:"site,omitempty"`   // address of the site, as the operator gave it
	Folder  []string   `json:"folder,omitempty"` // names of the folders that it is in, the outermost first
	Added   time.Time  `json:"added"`
}

// Partitions is the number of partitions of the hosts. A robot leases whole
// partitions.
const Partitions = 256

// Partition is the partition of a registrable domain, from 0 to Partitions-1, so that
// one robot fetches from all hosts of an owner. It is stored, so it must not change.
func Partition(domain string) int {
	h := fnv.New32a()
	h.Write([]byte(domain))
	return int(h.Sum32() % Partitions)
}

// announcedWithin is how long before news is found its ping may have come. After a
// ping the source is polled only after its shortest interval and when its host's pace
// allows.
const announcedWithin = 15 * time.Minute

// Announced says whether a hub can be relied on: it pinged for the newest news, or
// later. changed is when that news was found, pinged when the newest ping came; both
// are zero for never. A hub that was silent while polling found news is not relied on
// until it pings again.
func Announced(changed, pinged time.Time) bool {
	return !pinged.IsZero() && changed.Sub(pinged) <= announcedWithin
}

// FolderText is the names of folders as they are stored: a JSON array, "" for none.
func FolderText(names []string) string {
	if len(names) == 0 {
		return ""
	}
	text, err := json.Marshal(names)
	if err != nil {
		return "" // never: they are strings
	}
	return string(text)
}

// FoldersOf is the inverse of FolderText.
func FoldersOf(text string) (names []string) {
	if text != "" && json.Unmarshal([]byte(text), &names) != nil {
		return nil
	}
	return names
}

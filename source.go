package courant

import "time"

// SourceKind says how a source is read.
type SourceKind string

// The kinds of source.
const (
	KindFeed    SourceKind = "feed"
	KindCatalog SourceKind = "catalog"
	KindList    SourceKind = "list"
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
	Added   time.Time  `json:"added"`
}

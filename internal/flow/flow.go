// Package flow is the map: every topic, in the order in which data moves, with
// who writes it and who reads it. Stages know the map and not one another. A
// message names a fact and its time; what it is about lies in the store.
package flow

import "github.com/courant-platform/courant/internal/port/bus"

// The topics.
var (
	SourceDue      = bus.Topic[Poll]{Name: "source.due"}        // schedule → robot; robot → robot, where a redirect leads to
	FeedFetched    = bus.Topic[Poll]{Name: "feed.fetched"}      // robot, websub → parse, and whoever subscribes
	SourceChanged  = bus.Topic[Poll]{Name: "source.changed"}    // parse → schedule, websub
	DocumentFound  = bus.Topic[Version]{Name: "document.found"} // parse → media
	FetchWanted    = bus.Topic[Fetch]{Name: "fetch.wanted"}     // media → robot; robot → robot
	PictureFetched = bus.Topic[Fetch]{Name: "picture.fetched"}  // robot → media
	MediaStored    = bus.Topic[File]{Name: "media.stored"}      // media → every serving node
	DocumentReady  = bus.Topic[Version]{Name: "document.ready"} // parse, media → pages
	BatchReady     = bus.Topic[Batch]{Name: "batch.ready"}      // parse → pages
	PageWanted     = bus.Topic[Page]{Name: "page.wanted"}       // serve → pages
	PageKept       = bus.Topic[Kept]{Name: "page.kept"}         // pages → pages, which numbers the change
	PageChanged    = bus.Topic[Changes]{Name: "page.changed"}   // pages → whoever follows the change feed
)

// Poll is one asking of a source.
type Poll struct {
	Source    int64  `json:"source,string"`
	Origin    string `json:"origin"`    // scheme, host and port
	Partition int    `json:"partition"` // of its domain: courant.Partition
	AsOf      int64  `json:"as_of"`
}

// Fetch is one download that somebody wants.
type Fetch struct {
	Hash      []byte `json:"hash"` // digest of the address
	Origin    string `json:"origin"`
	Partition int    `json:"partition"`
	Priority  int    `json:"priority"`
}

// Version is what a source says under an address, as of a time.
type Version struct {
	URL    []byte `json:"url"` // digest of the address
	Source int64  `json:"source,string"`
	AsOf   int64  `json:"as_of"`
}

// Batch is what a large catalogue brings at once: the nth of the versions of an
// as-of.
type Batch struct {
	Source int64 `json:"source,string"`
	AsOf   int64 `json:"as_of"`
	N      int   `json:"n"`
}

// Page is a page that somebody reads before it is printed.
type Page struct {
	URL []byte `json:"url"` // digest of the address
}

// Kept says that pages have changed which have no number yet.
type Kept struct{}

// Changes says how far the change feed goes.
type Changes struct {
	Newest int64 `json:"newest"`
}

// File is a stored picture or video by the hash of its content.
type File struct {
	Content string `json:"content"`
}

// Package flow is the map: every topic, in the order in which data moves, with
// its writers and its readers. Stages import this package and
// not one another. A message names a fact and its time; the content is in the store.
package flow

import "github.com/courant-platform/courant/internal/port/bus"

// The topics.
var (
	SourceDue      = bus.Topic[Poll]{Name: "source.due"}        // schedule → robot; robot → robot after a redirect to another partition
	FeedFetched    = bus.Topic[Poll]{Name: "feed.fetched"}      // robot, websub → parse, subscribers
	SourceChanged  = bus.Topic[Poll]{Name: "source.changed"}    // parse → schedule, websub
	DocumentFound  = bus.Topic[Version]{Name: "document.found"} // parse → media
	FetchWanted    = bus.Topic[Fetch]{Name: "fetch.wanted"}     // media → robot; robot → robot
	PictureFetched = bus.Topic[Fetch]{Name: "picture.fetched"}  // robot → media
	PictureLost    = bus.Topic[File]{Name: "picture.lost"}      // serve → media
	MediaStored    = bus.Topic[File]{Name: "media.stored"}      // media → every serving node
	DocumentReady  = bus.Topic[Version]{Name: "document.ready"} // parse, media → pages
	BatchReady     = bus.Topic[Batch]{Name: "batch.ready"}      // parse → pages
	PageWanted     = bus.Topic[Page]{Name: "page.wanted"}       // serve → pages
	PageKept       = bus.Topic[Kept]{Name: "page.kept"}         // pages → pages, which numbers the changes
	PageChanged    = bus.Topic[Changes]{Name: "page.changed"}   // pages → followers of the change feed
)

// Poll is one poll of a source.
type Poll struct {
	Source    int64  `json:"source,string"`
	Origin    string `json:"origin"`    // scheme, host and port
	Partition int    `json:"partition"` // of its domain: courant.Partition
	AsOf      int64  `json:"as_of"`
}

// Fetch is a wanted download of one address.
type Fetch struct {
	Hash      []byte `json:"hash"` // digest of the address
	Origin    string `json:"origin"`
	Partition int    `json:"partition"`
	Priority  int    `json:"priority"`
}

// Version is a source's version of the document at an address, as of a time.
type Version struct {
	URL    []byte `json:"url"` // digest of the address
	Source int64  `json:"source,string"`
	AsOf   int64  `json:"as_of"`
}

// Batch is the nth batch of the documents that one reading of a large catalogue
// has found.
type Batch struct {
	Source int64 `json:"source,string"`
	AsOf   int64 `json:"as_of"`
	N      int   `json:"n"`
}

// Page is a page that a reader requests before it is rendered.
type Page struct {
	URL []byte `json:"url"` // digest of the address
}

// Kept says that some page changes have no number in the change feed yet.
type Kept struct{}

// Changes has the newest number of the change feed.
type Changes struct {
	Newest int64 `json:"newest"`
}

// File is a stored picture or video, named by the hash of its content.
type File struct {
	Content string `json:"content"`
}

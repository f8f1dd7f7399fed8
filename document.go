package courant

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// Document is one version of what a source published under an address: what
// becomes a light page.
type Document struct {
	URL    string `json:"url"` // canonical: the page's key
	Source int64  `json:"source,string"`
	Item   Item   `json:"item"`
	// Offer is there for a product. What Item holds of it (name, description,
	// pictures, address) it does not repeat; Whole puts them together.
	Offer *Offer `json:"offer,omitempty"`
}

// DocumentOf is the document of an offer.
func DocumentOf(url string, source int64, o *Offer) Document {
	d := Document{URL: url, Source: source, Item: Item{ID: o.ID, Link: o.URL, Title: o.Name, Content: o.Description,
		Images: o.Pictures, Hash: o.Hash}}
	rest := *o
	rest.ID, rest.URL, rest.Name, rest.Description, rest.Pictures, rest.Hash = "", "", "", "", nil, ""
	d.Offer = &rest
	return d
}

// Whole is the offer with what its document holds of it; nil if it is none.
func (d *Document) Whole() *Offer {
	if d.Offer == nil {
		return nil
	}
	o, i := *d.Offer, &d.Item
	o.ID, o.URL, o.Name, o.Description, o.Pictures, o.Hash = i.ID, i.Link, i.Title, i.Content, i.Images, i.Hash
	return &o
}

// Found is one of the versions that a large catalogue brings at once, with what
// its page needs before it is printed.
type Found struct {
	Key       []byte // digest of the address
	Address   string
	Rank      Rank
	Withdrawn bool // then there is a key alone
	Hash      []byte
	Title     string
	Document  []byte // as it lies in the store
}

// Picture is what is known of a picture or of one of its smaller variants.
type Picture struct {
	File   string `json:"file"` // under /media/
	Type   string `json:"type"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Size   int64  `json:"size"`
}

// Rank orders the sources that speak for one address: the higher one wins, among
// equals the later one.
type Rank int

// The ranks. A foreign source makes a page only where none exists, and never
// replaces or withdraws one.
const (
	Foreign Rank = iota
	OwnAutomatic
	OwnPushed
	OwnFeed
)

// RankOf is the rank of a source whose registered address has sourceHost for a
// document on documentHost.
func RankOf(trusted bool, sourceHost, documentHost string) Rank {
	if trusted || sourceHost == documentHost {
		return OwnFeed
	}
	return Foreign
}

// Beats says whether a version replaces another one of the same address that
// came from another source. Versions of one source go by their time alone.
func (r Rank) Beats(asOf int64, other Rank, otherAsOf int64) bool {
	switch {
	case r == Foreign:
		return false
	case r != other:
		return r > other
	}
	return asOf > otherAsOf
}

// MaxID is the longest id of an item, an offer or a category that is kept as it is.
const MaxID = 512

// ShortID is an id as it is kept: one of more than MaxID bytes by its beginning and
// a digest of all of it.
func ShortID(id string) string {
	if len(id) <= MaxID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return strings.ToValidUTF8(id[:64], "") + "-" + hex.EncodeToString(sum[:16])
}

// Step is one thing that happened to a document.
type Step struct {
	At   time.Time `json:"at"`
	Step string    `json:"step"` // fetched, parsed, waiting, picture, released, printed, withdrawn
	Note string    `json:"note,omitempty"`
}

// PageTime is when the page of an id was made: ids begin with the milliseconds
// since 2020, above 22 bits of node and count.
func PageTime(id int64) time.Time {
	return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(id>>22) * time.Millisecond)
}

// PictureFile is where a picture or a variant of it lies under /media/: by the
// SHA-256 of the original's bytes, in hexadecimal, and the width in pixels.
func PictureFile(content string, width int, mediaType string) string {
	return content + "/" + strconv.Itoa(width) + "." + strings.TrimPrefix(mediaType, "image/")
}

// PictureKey is the blob of such a file.
func PictureKey(file string) string { return "media/" + file[:2] + "/" + file }

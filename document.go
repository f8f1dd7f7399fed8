package courant

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Document is one version of what a source published under an address. It becomes a
// light page.
type Document struct {
	URL    string `json:"url"` // canonical: the page's key
	Source int64  `json:"source,string"`
	Item   Item   `json:"item"`
	// Offer is set for a product, without the fields that Item holds (name, description,
	// pictures, address). Whole puts them together.
	Offer *Offer `json:"offer,omitempty"`
}

// DocumentOf makes the document of an offer.
func DocumentOf(url string, source int64, o *Offer) Document {
	d := Document{URL: url, Source: source, Item: Item{ID: o.ID, Link: o.URL, Title: o.Name, Content: o.Description,
		Images: o.Pictures, Hash: o.Hash}}
	rest := *o
	rest.ID, rest.URL, rest.Name, rest.Description, rest.Pictures, rest.Hash = "", "", "", "", nil, ""
	d.Offer = &rest
	return d
}

// Whole is the offer with all its fields and the prices of the time now; nil if the
// document is not an offer.
func (d *Document) Whole(now time.Time) *Offer {
	if d.Offer == nil {
		return nil
	}
	o, i := *d.Offer, &d.Item
	o.ID, o.URL, o.Name, o.Description, o.Pictures, o.Hash = i.ID, i.Link, i.Title, i.Content, i.Images, i.Hash
	o.Price, o.OldPrice = o.PriceAt(now)
	return &o
}

// Found is one of the many versions that a large catalogue brings at once, with what
// its page needs before it is rendered.
type Found struct {
	Key       []byte // digest of the address
	Address   string
	Rank      Rank
	Withdrawn bool // then only Key is set
	Reprice   Time // when the price of the offer changes next; see Offer.PriceChanges
	Hash      []byte
	Title     string
	Document  []byte // encoded as in the store
}

// Picture is a stored picture or one of its smaller variants.
type Picture struct {
	File   string `json:"file"` // under /media/
	Type   string `json:"type"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Size   int64  `json:"size"`
}

// Rank orders the sources that publish under one address: the higher rank wins, and
// among equals the later version.
type Rank int

// The ranks. A foreign source can create a page only if none exists, and never
// replaces or withdraws one.
const (
	Foreign Rank = iota
	OwnAutomatic
	OwnPushed
	OwnFeed
)

// RankOf is the rank of a source, whose registered address is on sourceHost, for a
// document on documentHost.
func RankOf(trusted bool, sourceHost, documentHost string) Rank {
	if trusted || sourceHost == documentHost {
		return OwnFeed
	}
	return Foreign
}

// Beats says whether a version replaces another of the same address from a different
// source. Among versions of one source only the time counts.
func (r Rank) Beats(asOf int64, other Rank, otherAsOf int64) bool {
	switch {
	case r == Foreign:
		return false
	case r != other:
		return r > other
	}
	return asOf > otherAsOf
}

// MaxID is the longest id of an item, an offer or a category that is stored as it is,
// in bytes.
const MaxID = 512

// ShortID is an id as it is stored. One of more than MaxID bytes is replaced by its
// first 64 bytes and a digest of the whole.
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
	Step string    `json:"step"` // fetched, parsed, waiting, picture, released, printed, repriced, withdrawn
	Note string    `json:"note,omitempty"`
}

// PageTime is when the page with this id was created: the upper bits of an id are the
// milliseconds since 2020, the lower 22 node and count.
func PageTime(id int64) time.Time {
	return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(id>>22) * time.Millisecond)
}

// PictureFile is the path of a picture or a variant under /media/. content is the
// SHA-256 of the original's bytes in hexadecimal, width is in pixels.
func PictureFile(content string, width int, mediaType string) string {
	return content + "/" + strconv.Itoa(width) + "." + strings.TrimPrefix(mediaType, "image/")
}

// VariantFile is the path of a smaller version of a picture: like PictureFile, with the
// beginning of the SHA-256 of its own bytes.
func VariantFile(content string, width int, mediaType string, body []byte) string {
	sum := sha256.Sum256(body)
	return fmt.Sprintf("%s/%d-%x.%s", content, width, sum[:8], strings.TrimPrefix(mediaType, "image/"))
}

// PictureKey is the blob key of such a file.
func PictureKey(file string) string { return "media/" + file[:2] + "/" + file }

// PictureDigest is what a file of this path says about its bytes: the beginning of their
// SHA-256 in hexadecimal. It is that of the original if own is false, which is also true of
// the smaller versions that were made before their names had a digest.
func PictureDigest(file string) (digest string, own bool) {
	content, name, _ := strings.Cut(file, "/")
	name, _, _ = strings.Cut(name, ".")
	if _, digest, own = strings.Cut(name, "-"); own {
		return digest, true
	}
	return content, false
}

// PictureWidth is the width in the path of a picture, in pixels; 0 if there is none.
func PictureWidth(file string) int {
	_, name, _ := strings.Cut(file, "/")
	name, _, _ = strings.Cut(name, ".")
	name, _, _ = strings.Cut(name, "-")
	n, err := strconv.Atoi(name)
	if err != nil {
		return 0
	}
	return n
}

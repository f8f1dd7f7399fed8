// Package catalog reads product catalogues (YML, Google Merchant in RSS and in
// Atom) of any size: a stream of bytes in, a stream of offers out. Memory holds one
// piece of the document, the tree of categories and a digest of each offer's id, up
// to a limit, but no offers. A bad element gives a warning. Of a truncated file the
// last, incomplete offer is left out, because half of a price is another price.
//
// An offer's Hash is the hexadecimal form of the first 16 bytes of the SHA-256
// of this reader's version and all fields of the offer, each prefixed with its
// length, so that offers that differ in any field have different hashes.
package catalog

import (
	"errors"
	"hash/maphash"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/kit/unpack"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// Version is the version of the reader. It is part of every hash and must grow when
// the same bytes give different offers.
const Version = 2

// The limits of one catalogue.
const (
	maxCategories  = 1 << 20
	maxList        = 256 // pictures, params and the like of one offer
	maxLine        = 4096
	maxDescription = 64 << 10
	maxDepth       = 32 // of categories
	maxPerCode     = 10 // warnings
	maxShopList    = 10000
	maxIDs         = 1 << 23 // offer ids remembered to find duplicates
)

// Options say where a catalogue comes from and what receives its offers.
type Options struct {
	URL         string // of the catalogue; what addresses are relative to
	ContentType string // Content-Type of the response
	// Offer is called for each offer in the order of the file, and may keep it. An
	// error stops Read, which returns it. If Offer is nil, the Reading collects them.
	Offer func(*courant.Offer) error
	// Again opens the document once more. It is called if categories come after
	// offers; without it such offers have no category names.
	Again func() (io.ReadCloser, error)
	// Now is the time as of which sales with dates apply; zero means that of the clock.
	// It is no part of an offer's hash.
	Now time.Time
}

// Read reads a catalogue. It returns what it could read also with an error. Errors
// of src and of Options.Offer are returned unchanged; others are of kind
// courant.Invalid and begin with "not_a_feed:", "empty:" or "malformed:".
// WellFormed is false if anything was repaired, Complete is false if the document is
// truncated.
func Read(src io.Reader, opt Options) (out Catalog, err error) {
	r := newReader(src, opt)
	r.scan.Source = r.pieces.Next()
	if strings.TrimSpace(r.scan.Source) == "" {
		err = courant.Errorf(courant.Invalid, "empty: the document is empty")
	} else {
		err = r.document()
	}
	return r.finish(err)
}

// Catalog is a reading; Complete reports whether the document was read to its end.
type Catalog struct {
	courant.Reading
	Complete bool
	Count    int // number of offers
}

// reader is one reading in progress.
type reader struct {
	opt    Options
	pieces *xmlscan.Pieces
	scan   xmlscan.Scanner
	out    Catalog
	tree   tree
	clean  markup.Cleaner
	counts map[string]int
	hash   hasher
	buffer []byte
	failed error // returned by Options.Offer
	draft  draft // the current offer

	seed     maphash.Seed
	ids      map[uint64]struct{} // 8-byte digests of the offers so far
	merchant bool
	told     map[string]bool   // names that were noted
	untold   bool              // there are more
	notes    []courant.Warning // of level info
	bare     courant.Warning   // the first price without a currency
	bares    int               // prices without a currency
	priced   int               // offers with a price
	cut      bool              // the document ended inside an offer, which was left out
	seen     bool              // the categories were read in a first pass, because they follow offers
}

func newReader(src io.Reader, opt Options) *reader {
	if opt.Now.IsZero() {
		opt.Now = time.Now()
	}
	r := &reader{opt: opt, pieces: xmlscan.NewPieces(src, opt.ContentType), counts: map[string]int{}, seed: maphash.MakeSeed()}
	r.scan = xmlscan.Scanner{Refill: r.pieces.Next, Space: space, Report: func(f xmlscan.Fault) {
		r.out.WellFormed = false
		r.warn(f.Code, f.Offset, f.Element, f.Text)
	}}
	r.clean.Base = opt.URL
	r.out.WellFormed = true
	return r
}

// finish completes the reading.
func (r *reader) finish(err error) (Catalog, error) {
	o := &r.out
	o.Encoding = r.pieces.Encoding
	if o.Encoding == "" {
		o.Encoding = "utf-8"
	}
	if o.Format == "" {
		o.Format = "unknown"
	}
	if r.pieces.Healed {
		o.WellFormed = false
		r.warn("encoding", 0, "", "the bytes do not match the declared encoding, or there are characters that no document may contain, such as NUL; the text was read as "+o.Encoding+": declare the real encoding and remove such characters")
	}
	o.Complete = err == nil && !r.scan.Truncated() && r.pieces.Err() == nil
	if r.cut {
		r.amend("truncated", "; the offer that it ends in was left out")
	}
	if cut := r.pieces.Err(); cut != nil {
		o.WellFormed = false
		if errors.Is(cut, unpack.ErrDamaged) {
			r.warn("bad-archive", 0, "", cut.Error())
		} else if why := "the document could not be read to the end: " + cut.Error(); !r.amend("truncated", "; "+why) {
			r.warn("truncated", r.scan.Offset, "", why)
		}
		if err == nil && !errors.Is(cut, io.ErrUnexpectedEOF) && !errors.Is(cut, unpack.ErrDamaged) && o.Count == 0 {
			err = cut
		}
	}
	if err == nil && o.Count == 0 && r.scan.Truncated() {
		err = courant.Errorf(courant.Invalid, "malformed: the document ends before the end of its first offer")
	}
	o.WellFormed = o.WellFormed && err == nil
	r.tell()
	o.Categories = r.tree.list
	empty(&o.Reading)
	if r.failed != nil {
		return r.out, r.failed
	}
	return r.out, err
}

// tell adds the warnings about the catalogue as a whole, and last the notes.
func (r *reader) tell() {
	if r.bares > 0 {
		r.bare.Text = "the price has no currency; add it"
		if r.bares > 1 {
			r.bare.Text = strconv.Itoa(r.bares) + " offers have a price without a currency, of which this is the first; add the currency"
		}
		r.out.Warnings = append(r.out.Warnings, r.bare)
	}
	if r.merchant && r.out.Count > 0 && r.priced == 0 {
		r.warn("no-prices", 0, "", "no offer has a price, so this may be no catalogue but a feed; change the kind of the source to feed, or add prices")
	}
	r.out.Warnings = append(r.out.Warnings, r.notes...)
	if r.untold {
		r.out.Warnings = append(r.out.Warnings, moreNames)
	}
}

// empty replaces nil lists by empty ones.
func empty(r *courant.Reading) {
	if r.Items == nil {
		r.Items = []courant.Item{}
	}
	if r.Offers == nil {
		r.Offers = []courant.Offer{}
	}
	if r.Links == nil {
		r.Links = []courant.FeedLink{}
	}
	if r.Warnings == nil {
		r.Warnings = []courant.Warning{}
	}
	f := &r.Feed
	for _, l := range []*[]string{&f.Categories, &f.Hubs} {
		if *l == nil {
			*l = []string{}
		}
	}
	if f.Authors == nil {
		f.Authors = []courant.Person{}
	}
}

// warn adds a warning, up to maxPerCode for each code.
func (r *reader) warn(code string, offset int, element, text string) {
	if r.counts[code]++; r.counts[code] > maxPerCode {
		return
	}
	line, column := r.pieces.Position(offset)
	if len(element) > 64 {
		element = strings.ToValidUTF8(element[:64], "")
	}
	r.out.Warnings = append(r.out.Warnings, courant.Warning{Code: code, Line: line, Column: column,
		Element: strings.Clone(element), Text: text})
}

// amend appends text to the first warning with a code and reports whether there is one.
func (r *reader) amend(code, text string) bool {
	for i := range r.out.Warnings {
		if w := &r.out.Warnings[i]; w.Code == code {
			w.Text += text
			return true
		}
	}
	return false
}

// here is warn at the current token.
func (r *reader) here(code, text string) { r.warn(code, r.scan.Offset, r.scan.Raw, text) }

// give passes on a finished offer; it returns false to stop reading.
func (r *reader) give(o *courant.Offer) bool {
	r.bound(o)
	id := maphash.String(r.seed, o.ID)
	if _, before := r.ids[id]; before {
		r.here("duplicate-id", "the offer has the id "+o.ID+" of an earlier offer and was left out; give each offer its own id")
		return true
	}
	if r.ids == nil {
		r.ids = map[uint64]struct{}{}
	}
	if len(r.ids) < maxIDs {
		r.ids[id] = struct{}{}
	}
	r.count(o)
	o.Hash = r.hash.offer(o)
	r.out.Count++
	if r.opt.Offer == nil {
		r.out.Offers = append(r.out.Offers, *o)
		return true
	}
	r.failed = r.opt.Offer(o)
	return r.failed == nil
}

// count counts an offer's price, and whether it has a currency.
func (r *reader) count(o *courant.Offer) {
	if isZero(o.Price) {
		return
	}
	if r.priced++; o.Currency != "" {
		return
	}
	if r.bares++; r.bares == 1 {
		line, column := r.pieces.Position(r.scan.Offset)
		r.bare = courant.Warning{Code: "price-without-currency", Line: line, Column: column, Element: strings.Clone(r.scan.Raw)}
	}
}

// Package read reads any document that a source sends: feeds, catalogues,
// sitemaps and lists of feeds, packed or not. It detects the format from the bytes.
package read

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/unpack"
	"github.com/courant-platform/courant/internal/read/catalog"
	"github.com/courant-platform/courant/internal/read/feed"
	"github.com/courant-platform/courant/internal/read/opml"
	"github.com/courant-platform/courant/internal/read/sitemap"
)

// The size limits of a document in bytes, after unpacking.
const (
	MaxFeed    = 64 << 20
	MaxCatalog = 8 << 30
	// UsualFeed is the default of robot.max_feed in bytes; files may be larger.
	UsualFeed = 10 << 20
)

// Options say where a document comes from.
type Options struct {
	URL         string // after redirects
	ContentType string
	Kind        courant.SourceKind         // KindCatalog: RSS and Atom are read as catalogues; otherwise the bytes decide
	MaxItems    int                        // of a feed; 0 means feed.DefaultMaxItems
	MaxFeed     int64                      // size of a feed in bytes; 0 means the constant MaxFeed
	Offer       func(*courant.Offer) error // gets each offer of a catalogue; nil collects them
	Now         time.Time                  // as of which sales apply; zero means that of the clock
}

// Result is a reading. Complete is false for a truncated catalogue.
type Result struct {
	courant.Reading
	Complete bool
	Count    int // number of offers
}

// Catalog says whether the document is one.
func (r Result) Catalog() bool { return r.Format == "yml" || r.Format == "merchant" }

// Sitemap says whether the document is one.
func (r Result) Sitemap() bool { return strings.Contains(r.Format, "sitemap") }

// Read reads a document; it may call open twice. It returns an error of open or
// Options.Offer unchanged; other errors are of kind courant.Invalid and their text
// begins with "not_a_feed:", "empty:", "too_large:" or "malformed:". The result
// holds what was read before the error.
func Read(open func() (io.ReadCloser, error), opt Options) (Result, error) {
	r, err := readAny(open, opt)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, unpack.ErrDamaged) { // of the archive: a storage that fails says so otherwise
		err = courant.Errorf(courant.Invalid, "malformed: the archive is cut off or damaged, and nothing in it can be read: %w", err)
	}
	if err != nil {
		r.WellFormed = false
	}
	return r, err
}

// nothing is the result for a document of which nothing was read.
func nothing() Result { return Result{Reading: courant.Reading{Format: "unknown", Encoding: "utf-8"}} }

func readAny(open func() (io.ReadCloser, error), opt Options) (Result, error) {
	src, err := open()
	if err != nil {
		return nothing(), err
	}
	defer src.Close()
	f, err := unpack.Open(src, MaxCatalog)
	if err != nil {
		return nothing(), err
	}
	defer f.Close()
	kind, head, doc := detect(f, opt.ContentType)
	if err := wrongKind(opt.Kind, kind); err != nil {
		return nothing(), err
	}
	switch {
	case isCatalog(opt.Kind, kind):
		unknown := unknownEncoding(head, opt.ContentType)
		c, err := catalog.Read(doc, catalog.Options{URL: opt.URL, ContentType: opt.ContentType, Offer: opt.Offer, Again: again(open), Now: opt.Now})
		encodingWarning(&c.Reading, unknown)
		afterArchive(&c.Reading, f)
		return Result{c.Reading, c.Complete, c.Count}, err
	case kind == kindSitemap:
		unknown := unknownEncoding(head, opt.ContentType)
		r, err := sitemap.Read(doc, sitemap.Options{URL: opt.URL, ContentType: opt.ContentType})
		encodingWarning(r, unknown)
		afterArchive(r, f)
		return Result{Reading: *r, Complete: err == nil}, err
	}
	return readFeed(f, doc, kind, opt)
}

// readFeed reads what is neither a catalogue nor a sitemap. doc is the contents of f.
func readFeed(f *unpack.File, doc io.Reader, kind kind, opt Options) (Result, error) {
	most := min(cmp.Or(opt.MaxFeed, MaxFeed), MaxFeed)
	body, err := io.ReadAll(io.LimitReader(doc, most+1))
	switch {
	case int64(len(body)) > most:
		return nothing(), courant.Errorf(courant.Invalid, "too_large: the feed is larger than %d bytes", most)
	case err != nil && len(body) == 0:
		return nothing(), err
	case kind == kindOPML:
		return outlines(body)
	}
	r, readErr := feed.Read(body, feed.Options{URL: opt.URL, ContentType: opt.ContentType, MaxItems: opt.MaxItems})
	if err != nil { // the archive is cut off
		r.WellFormed = false
		unread(r, err)
	}
	afterArchive(r, f)
	if len(body) > UsualFeed && readErr == nil {
		r.Warnings = append(r.Warnings, courant.Warning{Code: "large-feed", Line: 1, Column: 1, Text: fmt.Sprintf(
			"the feed has %d bytes, but a feed from the web may have only %d unless robot.max_feed is changed; send fewer items at a time", len(body), UsualFeed)})
	}
	return Result{Reading: *r, Complete: readErr == nil}, readErr
}

// unread adds a warning that says why a document was not read to the end, or adds
// the reason to its "truncated" warning if there is one.
func unread(r *courant.Reading, why error) {
	if errors.Is(why, unpack.ErrDamaged) {
		r.Warnings = append(r.Warnings, courant.Warning{Code: "bad-archive", Line: 1, Column: 1, Text: why.Error()})
		return
	}
	text := "the document could not be read to the end: " + why.Error()
	for i := range r.Warnings {
		if w := &r.Warnings[i]; w.Code == "truncated" {
			w.Text += "; " + text
			return
		}
	}
	r.Warnings = append(r.Warnings, courant.Warning{Code: "truncated", Line: 1, Column: 1, Text: text})
}

// afterArchive warns of data after the archive that contained the document.
func afterArchive(r *courant.Reading, f *unpack.File) {
	if f.Junk {
		r.Warnings = append(r.Warnings, courant.Warning{Code: "bad-archive", Line: 1, Column: 1,
			Text: "there is data after the archive, which was skipped; remove it"})
	}
}

// outlines returns the feeds of an OPML or JSON list as links.
func outlines(body []byte) (Result, error) {
	list, err := opml.Read(body)
	r := courant.Reading{Format: "opml", Encoding: list.Encoding, WellFormed: list.WellFormed, Feed: courant.Feed{Title: list.Title},
		Links: []courant.FeedLink{}, Warnings: list.Warnings}
	for _, o := range list.Entries {
		if _, err := link.Entered(o.URL); err != nil {
			r.Warnings = append(r.Warnings, courant.Warning{Code: "bad-link", Line: 1, Column: 1, Element: "outline",
				Text: fmt.Sprintf("%.200q is not the address of a feed and was left out", o.URL)})
			continue
		}
		r.Links = append(r.Links, courant.FeedLink{URL: o.URL, Title: o.Title, Site: o.Site, Folder: strings.Join(o.Folder, " / ")})
	}
	if err != nil {
		r.WellFormed = false
		err = courant.Errorf(courant.Invalid, "malformed: %w", err)
	}
	return Result{Reading: r, Complete: err == nil}, err
}

// again returns a function that opens the document again, unpacked.
func again(open func() (io.ReadCloser, error)) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		src, err := open()
		if err != nil {
			return nil, err
		}
		f, err := unpack.Open(src, MaxCatalog)
		if err != nil {
			src.Close()
			return nil, err
		}
		return both{f, src}, nil
	}
}

type both struct {
	*unpack.File
	src io.Closer
}

func (b both) Close() error {
	b.File.Close() // frees memory only
	return b.src.Close()
}

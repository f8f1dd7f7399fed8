// Package feed reads news feeds (RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, JSON
// Feed, CDF) into the vocabulary: bytes in, a Reading out, no I/O. It reads what can be read: a
// bad byte costs a warning, a cut-off feed its last item, and only a document
// that is no feed at all an error.
//
// An item's Hash is the hexadecimal form of the first 16 bytes of the SHA-256
// over the version of this reader and the item's title, link, summary, content,
// authors, categories, enclosures, images, videos, date of publication and
// whether it is withdrawn. Neither the date of change nor the order of items,
// categories, enclosures and pictures counts, nor do blanks, counters of views
// and comments, advertisements, and what addresses hold of tracking, sessions,
// signatures and random numbers.
package feed

import (
	"sort"
	"strconv"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/charset"
	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// Version is the version of the reader: a change of what it makes of the same
// bytes makes all hashes new.
const Version = 2

// The bounds of one feed.
const (
	DefaultMaxItems = 1000
	maxWarnings     = 100
	maxPerCode      = 10
	maxList         = 64        // categories, authors, enclosures and the like of one item
	maxLine         = 4096      // bytes of a line of text; see also bound.go
	maxContent      = 512 << 10 // bytes of an item's HTML
)

// Options say where a feed comes from. All are optional.
type Options struct {
	URL         string // of the feed after redirects; what addresses are relative to
	ContentType string // as the transport named it
	MaxItems    int    // 0 means DefaultMaxItems
}

// Read reads a feed. An error is of the kind courant.Invalid and its text begins
// with not_a_feed, empty or malformed and a colon; the Reading comes with it, and
// holds the feeds that an HTML page offers. An Atom service document is no error:
// its format is unknown, and Links are its feeds.
func Read(body []byte, opt Options) (*courant.Reading, error) { return read(body, opt, false) }

// read is Read; raw leaves HTML as it is.
func read(body []byte, opt Options, raw bool) (*courant.Reading, error) {
	text, name, healed := charset.Decode(body, opt.ContentType)
	r := &reader{opt: opt, raw: raw, src: string(text), out: &courant.Reading{
		Format: "unknown", Encoding: name, WellFormed: true,
		Items: []courant.Item{}, Offers: []courant.Offer{}, Links: []courant.FeedLink{}, Warnings: []courant.Warning{},
	}}
	if r.opt.MaxItems <= 0 {
		r.opt.MaxItems = DefaultMaxItems
	}
	if healed {
		r.out.WellFormed = false
		r.warn("encoding", 0, "", "the bytes do not match the declared encoding, or there are characters that no document may contain, such as NUL; the text was read as "+name+": declare the real encoding and remove such characters")
	}
	err := r.read(body)
	r.finish()
	return r.out, err
}

// reader is one reading in progress.
type reader struct {
	opt   Options
	src   string
	scan  xmlscan.Scanner
	out   *courant.Reading
	clean markup.Cleaner
	rss   bool // the dialect is one of RSS
	scope scope
	based bool // an xml:base was seen
	// what an xml:base inside of markup is relative to
	inline string
	turbo  bool            // what is of Turbo RSS was seen
	links  map[string]bool // of its items
	raw    bool            // HTML is left as it is

	feedLinkKind      string // media type of the feed's link
	period, frequency int64  // of the syndication module
	synced            bool   // the TTL comes from them
	owner             courant.Person

	faults []fault
	counts map[string]int
	buffer []byte // of the cleaner
	hasher hasher
}

// scope is what elements inherit.
type scope struct{ base, lang string }

type fault struct {
	courant.Warning
	offset int
}

// read tells the dialects apart; each has its own file.
func (r *reader) read(body []byte) error {
	kind, at := sniff(r.src)
	r.scan = xmlscan.Scanner{Source: r.src[at:], Space: r.space, Rebase: r.rebase, Report: func(f xmlscan.Fault) {
		r.out.WellFormed = false
		r.warn(f.Code, at+f.Offset, f.Element, f.Text)
	}}
	r.scope.base = r.opt.URL
	if at > 0 {
		r.out.WellFormed = false
		r.warn("junk-before", 0, "", "there is other data before the feed, which was skipped; remove it")
	}
	switch kind {
	case kindEmpty:
		return courant.Errorf(courant.Invalid, "empty: the document is empty")
	case kindRSS:
		r.rss = true
		r.expect(strings.Count(r.src, "<item"))
		return r.readRSS()
	case kindAtom:
		r.expect(strings.Count(r.src, "<entry"))
		return r.readAtom()
	case kindJSON:
		return r.readJSON(at)
	case kindService:
		r.out.Links = collections(r.src, r.opt.URL)
		return nil // a sound document, though it has no items
	case kindText, kindOther:
		if isBinary(body, r.out.Encoding) {
			kind = kindBinary
		}
	case kindHTML:
		r.out.Links = offered(r.src, r.opt.URL)
		return courant.Errorf(courant.Invalid, "not_a_feed: this is an HTML page that offers %d feeds", len(r.out.Links))
	}
	return courant.Errorf(courant.Invalid, "not_a_feed: this is %s", kind)
}

// expect makes room for n items.
func (r *reader) expect(n int) { r.out.Items = make([]courant.Item, 0, min(n, r.opt.MaxItems)) }

// rebase resolves addresses inside of markup that has an xml:base.
func (r *reader) rebase(base, ref string) string { return resolve(firstOf(base, r.inline), ref) }

// warn notes what was healed or left out, up to a bound for each kind.
func (r *reader) warn(code string, offset int, element, text string) {
	if r.counts == nil {
		r.counts = make(map[string]int)
	}
	r.counts[code]++
	if len(r.faults) >= maxWarnings || r.counts[code] > maxPerCode {
		return
	}
	if len(element) > maxList {
		element = strings.ToValidUTF8(element[:maxList], "")
	}
	r.faults = append(r.faults, fault{courant.Warning{Code: code, Element: strings.Clone(element), Text: text}, offset})
}

// amend adds to the first warning of a kind.
func (r *reader) amend(code, text string) {
	for i := range r.faults {
		if f := &r.faults[i]; f.Code == code {
			f.Text += text
			return
		}
	}
}

// here is warn for the current token.
func (r *reader) here(code, text string) {
	r.warn(code, len(r.src)-len(r.scan.Source)+r.scan.Offset, r.scan.Raw, text)
}

// finish gives the warnings their lines and columns.
func (r *reader) finish() {
	r.boundFeed(&r.out.Feed)
	sort.SliceStable(r.faults, func(i, j int) bool { return r.faults[i].offset < r.faults[j].offset })
	line, column, at := 1, 1, 0
	for _, f := range r.faults {
		for _, c := range r.src[at:f.offset] {
			if column++; c == '\n' {
				line, column = line+1, 1
			}
		}
		at = f.offset
		f.Line, f.Column = line, column
		r.out.Warnings = append(r.out.Warnings, f.Warning)
	}
	f := &r.out.Feed
	if r.owner != (courant.Person{}) && (len(f.Authors) == 0 || f.Authors[0].Name == r.owner.Name) {
		f.Authors = addPerson(f.Authors, r.owner)
	}
	keepFeed(f)
}

// full says whether no more items are taken.
func (r *reader) full() bool {
	if len(r.out.Items) < r.opt.MaxItems {
		return false
	}
	r.here("too-many-items", r.tooMany())
	return true
}

func (r *reader) tooMany() string {
	return "the feed has more than " + strconv.Itoa(r.opt.MaxItems) + " items and the others were left out; send fewer items at a time"
}

// after looks at what follows the feed.
func (r *reader) after() {
	rest := strings.TrimLeft(r.scan.Rest(), " \t\r\n\x1a")
	if rest == "" || strings.HasPrefix(rest, "<!--") || strings.HasPrefix(rest, "<?") {
		return
	}
	r.out.WellFormed = false
	r.warn("junk-after", len(r.src)-len(rest), "", "there is other data after the feed, which was skipped; remove it")
}

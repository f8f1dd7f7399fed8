// Package feed reads news feeds (RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, JSON
// Feed, CDF): bytes in, a courant.Reading out, no I/O. It recovers as much as it
// can: bad bytes give a warning, a truncated feed an incomplete last item (Item.Cut),
// and only a document that is not a feed gives an error.
//
// An item's Hash is the hexadecimal form of the first 16 bytes of the SHA-256
// of this reader's version and the item's title, link, summary, content, authors,
// categories, enclosures, images, videos, date of publication and whether it is
// withdrawn. It ignores the date of change, the order of items, categories,
// enclosures and pictures, white space, counters of views and comments,
// advertisements, and parameters of addresses for tracking, sessions, signatures
// and random numbers.
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

// Version is the version of the reader. It is part of every hash and must grow when
// the same bytes give different items.
const Version = 3

// The limits of one feed.
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
	ContentType string // Content-Type of the response
	MaxItems    int    // 0 means DefaultMaxItems
}

// Read reads a feed. Errors are of kind courant.Invalid and begin with "not_a_feed:",
// "empty:" or "malformed:". The Reading is never nil; for an HTML page its Links are
// the feeds that the page offers. An Atom service document is not an error: its
// format is "unknown", and Links are its feeds.
func Read(body []byte, opt Options) (*courant.Reading, error) { return read(body, opt, false) }

// read is Read; raw leaves HTML as it is.
func read(body []byte, opt Options, raw bool) (*courant.Reading, error) {
	text, name, healed := charset.Decode(body, opt.ContentType)
	r := &reader{opt: opt, raw: raw, src: string(text), out: &courant.Reading{
		Format: "unknown", Encoding: name, WellFormed: true,
		Items: []courant.Item{}, Offers: []courant.Offer{}, Links: []courant.FeedLink{}, Warnings: []courant.Warning{},
	}}
	r.cut = &r.feedCuts
	if r.opt.MaxItems <= 0 {
		r.opt.MaxItems = DefaultMaxItems
	}
	if healed {
		r.out.WellFormed = false
		r.warn("encoding", 0, "", "the bytes do not match the declared encoding, or there are characters that no document may contain, such as NUL or C1 controls; the text was read as "+name+": declare the real encoding and remove such characters")
	}
	if label := charset.Unknown(body, opt.ContentType); label != "" {
		r.out.WellFormed = false
		r.warn("encoding", 0, "", "the document declares the encoding "+strconv.Quote(label[:min(len(label), maxTag)])+", which is unknown; the text was read as "+name+": declare the real encoding")
	}
	err := r.read(body)
	r.identify()
	r.out.WellFormed = r.out.WellFormed && err == nil
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
	rss   bool // the format is a version of RSS
	scope scope
	based bool // an xml:base was seen
	// base for an xml:base inside markup
	inline string
	turbo  bool            // something of Turbo RSS was seen
	links  map[string]bool // links of its items so far
	raw    bool            // HTML is left as it is

	dateName          string // the element that the date of the feed comes from
	imageName         string // the element that the picture of the feed comes from
	logo              bool   // that picture is better than others
	feedLinkKind      string // media type of the feed's link
	period, frequency int64  // of the syndication module
	synced            bool   // the TTL comes from them
	owner             courant.Person

	ownLang  string // xml:lang of the current element of an item
	cut      *cuts  // itemCuts or feedCuts
	itemCuts cuts   // of the current item
	feedCuts cuts
	origins  []origin // of the items of out
	ignored  ignored

	faults []fault
	counts map[string]int
	buffer []byte // for the cleaner
	hasher hasher
}

// scope holds what elements inherit from their parents.
type scope struct{ base, lang string }

type fault struct {
	courant.Warning
	offset int
}

// read detects the format and calls its reader; each format has its own file.
func (r *reader) read(body []byte) error {
	kind, at := sniff(r.src)
	r.scan = xmlscan.Scanner{Source: r.src[at:], Space: r.space, Rebase: r.rebase, Report: func(f xmlscan.Fault) {
		r.out.WellFormed = false
		r.warn(f.Code, at+f.Offset, f.Element, f.Text)
	}}
	r.scan.Ignored = r.ignoreAttr
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
		r.expect("<item")
		return r.readRSS()
	case kindAtom:
		r.expect("<entry")
		return r.readAtom()
	case kindJSON:
		return r.readJSON(at)
	case kindService:
		r.out.Links = collections(r.src, r.opt.URL)
		return nil // a valid document without items
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

// expect makes room for the items of the source, whose start tags begin with start. How
// many they are follows from the size of the first few: to count them all would cost as
// much as the scanner.
func (r *reader) expect(start string) {
	const first, most = 4, 256 // append makes room for more
	n, from, at := 0, 0, 0
	for n < first {
		i := strings.Index(r.src[at:], start)
		if i < 0 {
			break
		}
		if at += i + len(start); n == 0 {
			from = at
		}
		n++
	}
	if n == first {
		n += min((len(r.src)-at)/((at-from)/(first-1)), most)
	}
	r.room(n)
}

// room makes room for n items.
func (r *reader) room(n int) {
	n = min(n, r.opt.MaxItems)
	r.out.Items, r.origins = make([]courant.Item, 0, n), make([]origin, 0, n)
}

// rebase resolves addresses inside markup that has an xml:base.
func (r *reader) rebase(base, ref string) string { return resolve(firstOf(base, r.inline), ref) }

// warn adds a warning, up to maxPerCode for each code and maxWarnings in total.
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

// amend appends text to the first warning with a code.
func (r *reader) amend(code, text string) {
	for i := range r.faults {
		if f := &r.faults[i]; f.Code == code {
			f.Text += text
			return
		}
	}
}

// here is warn at the current token.
func (r *reader) here(code, text string) {
	r.warn(code, r.place(), r.scan.Raw, text)
}

// finish bounds the texts of the feed and computes the lines and columns of warnings.
func (r *reader) finish() {
	f := &r.out.Feed
	r.boundFeed(f)
	if r.owner != (courant.Person{}) && (len(f.Authors) == 0 || f.Authors[0].Name == r.owner.Name) {
		f.Authors = r.addPerson(f.Authors, r.owner)
	}
	r.feedCuts.report(r, "feed")
	r.locate(r.faults)
	r.locate(r.ignored.all())
	keepFeed(f)
}

// locate sorts faults by their place, computes their lines and columns and appends them
// to the warnings.
func (r *reader) locate(faults []fault) {
	sort.SliceStable(faults, func(i, j int) bool { return faults[i].offset < faults[j].offset })
	line, column, at := 1, 1, 0
	for _, f := range faults {
		for _, c := range r.src[at:f.offset] {
			if column++; c == '\n' {
				line, column = line+1, 1
			}
		}
		at = f.offset
		f.Line, f.Column = line, column
		r.out.Warnings = append(r.out.Warnings, f.Warning)
	}
}

// full reports whether the limit of items is reached; if so, it warns.
func (r *reader) full() bool {
	if len(r.out.Items) < r.opt.MaxItems {
		return false
	}
	if r.counts["too-many-items"] == 0 {
		r.here("too-many-items", r.tooMany())
	}
	return true
}

func (r *reader) tooMany() string {
	return "the feed has more than " + strconv.Itoa(r.opt.MaxItems) + " items and the others were left out; send fewer items at a time"
}

// after warns of data that follows the feed.
func (r *reader) after() {
	rest := strings.TrimLeft(r.scan.Rest(), " \t\r\n\x1a")
	if rest == "" || strings.HasPrefix(rest, "<!--") || strings.HasPrefix(rest, "<?") {
		return
	}
	r.out.WellFormed = false
	r.warn("junk-after", len(r.src)-len(rest), "", "there is other data after the feed, which was skipped; remove it")
}

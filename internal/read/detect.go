package read

import (
	"io"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/charset"
	"github.com/courant-platform/courant/internal/kit/unpack"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
	"github.com/courant-platform/courant/internal/read/catalog"
	"github.com/courant-platform/courant/internal/read/sitemap"
)

// How many bytes of a document are used to detect its format: usually headSize, up to
// mostHead if they hold no element that tells it, or no whole item of a feed.
const (
	headSize = 48 << 10
	mostHead = 3 << 20
)

// kind is the kind of a document, as far as it decides who reads it.
type kind string

const (
	kindYML      kind = "a catalogue"
	kindProducts kind = "a product feed"
	kindFeed     kind = "a feed" // in XML
	kindJSON     kind = "JSON"
	kindHTML     kind = "an HTML page"
	kindSitemap  kind = "a sitemap"
	kindOPML     kind = "a list of feeds (OPML)"
	kindOther    kind = "another document"
)

// detect returns the kind of a document, its beginning, which is valid until the first
// read, and a reader of all of it.
func detect(f *unpack.File, contentType string) (k kind, head []byte, doc io.Reader) {
	head = f.Beginning(headSize)
	k, sure := kindOf(head, contentType)
	if sure || len(head) < headSize {
		return k, head, f
	}
	p := &peeked{src: f}
	for size := 4 * headSize; ; size *= 4 {
		p.fill(min(size, mostHead))
		k, sure = kindOf(p.head, contentType)
		if sure || p.err != nil || size >= mostHead {
			return k, p.head, p
		}
	}
}

// peeked reads a document of which the beginning has been read already.
type peeked struct {
	head []byte
	read int // bytes of head that were read again
	src  io.Reader
	err  error // of src after head
}

// fill reads until head has size bytes.
func (p *peeked) fill(size int) {
	more := make([]byte, size)
	have := copy(more, p.head)
	for have < size && p.err == nil {
		n := 0
		n, p.err = p.src.Read(more[have:])
		have += n
	}
	p.head = more[:have]
}

// Read reads the head again and then src.
func (p *peeked) Read(b []byte) (int, error) {
	if p.read < len(p.head) {
		n := copy(b, p.head[p.read:])
		p.read += n
		return n, nil
	}
	if p.err != nil {
		return 0, p.err
	}
	return p.src.Read(b)
}

// kindOf returns the kind of a document that begins with head, by the first element that
// it knows. If sure is false, more of the document may give another answer.
func kindOf(head []byte, contentType string) (k kind, sure bool) {
	text, _, _ := charset.Decode(head, contentType)
	t := string(text)
	if start := strings.TrimLeft(t, " \t\r\n"); start != "" && (start[0] == '{' || start[0] == '[') {
		return kindJSON, true
	}
	s := xmlscan.Scanner{Source: t}
	for first := true; s.Next() != xmlscan.EOF; {
		if s.Kind() != xmlscan.Start {
			continue
		}
		switch k := elementKind(s.Name.Local, first, t); k {
		case kindOther:
			first = false
			s.CloseTo(0) // junk has tags without an end
		case kindFeed:
			products, sure := catalog.Detect(t)
			if products {
				k = kindProducts
			}
			return k, sure
		default:
			return k, true
		}
	}
	if sitemap.Text(t) {
		return kindSitemap, true
	}
	return kindOther, false
}

// elementKind returns the kind of a document that has an element. first reports that it
// is the first one of the document.
func elementKind(local string, first bool, text string) kind {
	switch local {
	case "yml_catalog":
		return kindYML
	case "shop", "offers":
		if first && strings.Contains(text, "<offer") {
			return kindYML // the root element is missing
		}
	case "urlset", "sitemapindex":
		return kindSitemap
	case "opml":
		return kindOPML
	case "rss", "feed", "rdf", "channel", "item", "entry":
		return kindFeed
	case "html":
		return kindHTML
	}
	return kindOther
}

// wrongKind returns the error for a source of kind catalog whose document cannot be read
// as one, nil if it can. A page's own error lists its feeds.
func wrongKind(source courant.SourceKind, k kind) error {
	if source != courant.KindCatalog {
		return nil
	}
	switch k {
	case kindJSON, kindSitemap, kindOPML:
		return courant.Errorf(courant.Invalid, "not_a_feed: the source is of kind catalog, but this is %s; give the address of a catalogue (YML, Merchant in RSS or Atom), or change the kind to feed", k)
	}
	return nil
}

// isCatalog reports whether a document is read as a catalogue: one of a source of kind
// catalog is, whatever fields its items have.
func isCatalog(source courant.SourceKind, k kind) bool {
	return k == kindYML || k == kindProducts || source == courant.KindCatalog && (k == kindFeed || k == kindOther)
}

// Package markup sanitizes HTML: a short allow-list of elements and attributes, balanced
// tags, absolute addresses, nothing active. Cleaning is idempotent, takes linear time
// and builds no tree.
//
// It has its own scanner after the HTML standard instead of the Tokenizer of
// x/net/html, which copies its input, keeps every one of a million attributes and cannot
// be reused; the tests check the output with x/net/html.
package markup

import (
	"github.com/courant-platform/courant/internal/kit/link"
)

// maxDepth is the limit of nesting in the output; deeper tags are dropped.
const maxDepth = 256

// Image is a picture before it is written. Srcset, Sizes and Loading are
// empty unless the callback sets them.
type Image struct {
	URL    string // absolute, the best version
	Alt    string
	Title  string
	Width  int // as the markup says, 0 if it does not
	Height int

	Srcset, Sizes, Loading string

	mute bool // it has an empty alt
}

// Video is a video or audio file before it is written.
type Video struct {
	URL    string // absolute
	Poster string // absolute, or ""
	Width  int
	Height int
	Audio  bool
}

// Found lists what the markup refers to, in order of appearance and before the
// callbacks change it. Frames are addresses of embedded pages. Dropped has the names of
// the elements that were left out with their contents, each once and at most maxDropped.
// Inline counts the pictures that were left out because their data is in the markup.
type Found struct {
	Images  []Image
	Videos  []Video
	Frames  []string
	Dropped []string
	Inline  int
}

// maxDropped is the limit of Found.Dropped.
const maxDropped = 16

// Cleaner holds the rules for one kind of document. The zero Cleaner keeps only absolute
// addresses. A Cleaner reuses its buffers: it must not be used concurrently.
type Cleaner struct {
	Base  string                   // what addresses are relative to
	Image func(*Image) bool        // may change a picture; false drops it
	Video func(*Video) bool        // the same for video and audio
	Link  func(href string) string // may change a link; "" keeps only its text

	scan    scanner
	base    link.Base
	baseURL string // what base was parsed from
	dst     []byte
	open    []opened
	picture picture
	lazy    lazy
	found   Found
	buffer  []byte
}

// opened is an element that is open in the input; a ghost has no tag in the output.
type opened struct {
	name  string
	ends  string // its name in the input, if that differs
	named bool   // its header becomes its title
	strip bool   // its pictures become figures
	ghost bool
	block bool
}

// Clean returns the clean form of html.
func (c *Cleaner) Clean(html string) string {
	c.buffer, _ = c.Append(c.buffer[:0], html)
	return string(c.buffer)
}

// Append appends the clean form of html to dst.
func (c *Cleaner) Append(dst []byte, html string) ([]byte, Found) {
	if c.Base != c.baseURL {
		c.base, c.baseURL = link.ParseBase(c.Base), c.Base
	}
	c.dst, c.open, c.found, c.picture = dst, c.open[:0], Found{}, picture{}
	c.lazy = lazy{}
	c.scan.src, c.scan.pos, c.scan.lastEnd, c.scan.noEnd = legalText(html), 0, nil, false
	for kind := c.scan.next(); kind != endOfInput; kind = c.scan.next() {
		switch kind {
		case textToken:
			c.dst = appendText(c.dst, c.scan.text)
		case startToken:
			c.start(c.scan.el)
		case endToken:
			c.end(c.scan.el)
		}
	}
	c.closeTo(0)
	c.scan.src = ""
	dst, c.dst = c.dst, nil
	return dst, c.found
}

// start handles a start tag.
func (c *Cleaner) start(el element) {
	switch {
	case el.turbo && (len(c.scan.atts) > 0 || c.scan.name == "menu" || c.scan.name == "header") && c.turbo(c.scan.name):
	case el.special:
		c.special(c.scan.name)
	case el.drop:
		c.drop(c.scan.name)
		if !el.raw {
			c.scan.skip()
		}
	case el.out == "":
	case el.table && !c.makeRoom(el.out):
	default:
		if !el.table {
			c.closeBefore(el)
		}
		c.emit(el)
	}
}

// drop records an element that is left out with its contents.
func (c *Cleaner) drop(name string) { c.found.Dropped = addName(c.found.Dropped, name) }

// emit writes a start tag and pushes it on open.
func (c *Cleaner) emit(el element) {
	if !el.void && len(c.open) >= maxDepth {
		return
	}
	mark := len(c.dst)
	c.dst = append(append(c.dst, '<'), el.out...)
	bare := len(c.dst)
	keep := c.attributes(el.out)
	if el.out == "span" && len(c.dst) == bare {
		keep = false // has no effect
	}
	if keep {
		c.dst = append(c.dst, '>')
	} else {
		c.dst = c.dst[:mark]
	}
	if !el.void {
		c.open = append(c.open, opened{name: el.out, ghost: !keep, block: el.block})
	}
}

// end handles an end tag; one without an open element is dropped.
func (c *Cleaner) end(el element) {
	switch {
	case c.scan.name == "br":
		c.dst = append(c.dst, "<br>"...)
	case el.special:
		c.endSpecial(c.scan.name)
	case el.out == "" || el.void:
	case c.scan.name == "menu" && c.endAs("menu"):
	default:
		if i := c.find(el); i >= 0 {
			c.closeTo(i)
		}
	}
}

// endAs closes the nearest widget whose end tag has another name in the input.
func (c *Cleaner) endAs(name string) bool {
	for i := len(c.open) - 1; i >= 0 && !isCell(c.open[i].name); i-- {
		switch {
		case c.open[i].ends == name:
			c.closeTo(i)
			return true
		case c.open[i].name == "ul":
			return false
		}
	}
	return false
}

// find returns the index of the open element that an end tag closes, or -1. Tags inside
// a cell do not close elements outside it.
func (c *Cleaner) find(el element) int {
	for i := len(c.open) - 1; i >= 0; i-- {
		name := c.open[i].name
		switch {
		case name == el.out:
			return i
		case name == "table", !el.table && el.out != "table" && isCell(name):
			return -1
		}
	}
	return -1
}

// closeTo closes open elements until n are left.
func (c *Cleaner) closeTo(n int) {
	for len(c.open) > n {
		last := c.open[len(c.open)-1]
		c.open = c.open[:len(c.open)-1]
		if !last.ghost {
			c.dst = append(append(append(c.dst, "</"...), last.name...), '>')
		}
	}
}

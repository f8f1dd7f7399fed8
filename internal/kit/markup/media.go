package markup

import (
	"strconv"
	"strings"

	"github.com/courant-platform/courant/internal/kit/charref"
)

// picture is the best source of an open picture element.
type picture struct {
	open  bool
	done  bool // its image is written
	url   string
	score float64
	wide  bool // it states its width and is not for small screens
}

// special handles pictures, video, audio and frames.
func (c *Cleaner) special(name string) {
	switch name {
	case "img", "image", "amp-img", "amp-anim":
		c.image()
	case "picture":
		c.picture = picture{open: true}
	case "source":
		c.pictureSource()
	case "video", "audio", "amp-video", "amp-audio":
		c.video(name)
	case "iframe", "amp-iframe", "amp-youtube":
		c.frame()
	case "noscript":
		c.noScript()
	case "math":
		c.math()
	}
}

// endSpecial handles the end tags of elements that special has opened.
func (c *Cleaner) endSpecial(name string) {
	switch name {
	case "picture":
		c.endPicture()
	case "noscript":
		c.lazy.script = false
	}
}

// image writes the current image unless it is a tracking pixel, has no address or is
// shown already.
func (c *Cleaner) image() {
	s := &c.scan
	im := Image{Width: size(s.attr("width")), Height: size(s.attr("height"))}
	if tiny(s.attr("width")) || tiny(s.attr("height")) || hidden(s.attr("style")) {
		return
	}
	var late bool
	im.URL, late = c.bestSource()
	if im.URL == "" {
		c.countInline()
		return
	}
	c.picture.done = true
	if c.repeats(im.URL) || s.name == "amp-img" && s.has("placeholder") {
		return
	}
	c.lazy.end, c.lazy.late = s.pos, late
	alt, given := s.lookupAttr("alt")
	im.Alt, im.mute = limited(alt), given && strings.TrimSpace(alt) == ""
	im.Title = limited(s.attr("title"))
	c.putFigure(im)
}

// minInline is how long a picture in a data: address must be, in bytes, to be more than
// a placeholder.
const minInline = 512

// countInline counts a picture whose data is in its address.
func (c *Cleaner) countInline() {
	src := strings.TrimSpace(c.scan.attr("src"))
	if len(src) >= minInline && strings.EqualFold(src[:len("data:")], "data:") {
		c.found.Inline++
	}
}

// putFigure writes a picture, as a figure if it is a direct child of a strip.
func (c *Cleaner) putFigure(im Image) {
	n, mark := len(c.open), len(c.dst)
	if n == 0 || !c.open[n-1].strip || n >= maxDepth {
		c.putImage(im)
		return
	}
	c.dst = append(c.dst, "<figure>"...)
	bare := len(c.dst)
	if c.putImage(im); len(c.dst) == bare {
		c.dst = c.dst[:mark]
		return
	}
	c.dst = append(c.dst, "</figure>"...)
}

// limited returns text of at most maxValue bytes, "" if it is longer.
func limited(s string) string {
	if s = strings.TrimSpace(s); len(s) > maxValue {
		return ""
	}
	return s
}

// putImage records a picture, calls the callback and writes the picture.
func (c *Cleaner) putImage(im Image) {
	c.found.Images = append(c.found.Images, im)
	if c.Image != nil && !c.Image(&im) {
		return
	}
	c.dst = append(c.dst, "<img"...)
	c.put("src", im.URL)
	if im.Alt != "" || im.mute {
		c.put("alt", im.Alt)
	}
	c.optional("title", im.Title)
	c.optionalSize("width", im.Width)
	c.optionalSize("height", im.Height)
	c.optional("srcset", im.Srcset)
	c.optional("sizes", im.Sizes)
	c.optional("loading", im.Loading)
	c.dst = append(c.dst, '>')
}

func (c *Cleaner) optional(name, value string) {
	if value != "" {
		c.put(name, value)
	}
}

func (c *Cleaner) optionalSize(name string, n int) {
	if n > 0 {
		c.put(name, strconv.Itoa(n))
	}
}

// pictureSource keeps a source of an open picture if it is the best so far.
func (c *Cleaner) pictureSource() {
	if !c.picture.open {
		return
	}
	s := &c.scan
	var url string
	var score float64
	for _, name := range &lazySets {
		if url, score = best(s.attr(name)); url != "" {
			break
		}
	}
	url = c.address(url)
	if url == "" {
		return
	}
	small := strings.Contains(s.attr("media"), "max-width")
	if strings.Contains(s.attr("type"), "avif") || small {
		score /= 1000 // not all browsers support it
	}
	if score > c.picture.score {
		c.picture.url, c.picture.score, c.picture.wide = url, score, score >= 640 && !small
	}
}

// endPicture writes a picture without an img element.
func (c *Cleaner) endPicture() {
	if c.picture.open && !c.picture.done && c.picture.url != "" {
		c.putFigure(Image{URL: c.picture.url})
	}
	c.picture = picture{}
}

// video reads a video or audio element up to its end tag and writes it without sources,
// autoplay or fallback.
func (c *Cleaner) video(name string) {
	s := &c.scan
	v := Video{Audio: strings.HasSuffix(name, "audio"), Width: size(s.attr("width")), Height: size(s.attr("height"))}
	v.URL = c.firstAddress("src", "data-src")
	v.Poster = c.firstAddress("poster", "data-poster")
	preferred := v.URL != ""
	for kind := s.next(); kind != endOfInput && !(kind == endToken && s.name == name); kind = s.next() {
		if kind != startToken || s.name != "source" || preferred {
			continue
		}
		if url := c.firstAddress("src", "data-src"); url != "" {
			preferred = strings.Contains(s.attr("type"), "mp4") || strings.Contains(s.attr("type"), "mpeg")
			if v.URL == "" || preferred {
				v.URL = url
			}
		}
	}
	if v.URL == "" {
		return
	}
	c.found.Videos = append(c.found.Videos, v)
	if c.Video == nil || c.Video(&v) {
		c.putVideo(strings.TrimPrefix(name, "amp-"), v)
	}
}

// firstAddress returns the first attribute that is an address.
func (c *Cleaner) firstAddress(names ...string) string {
	for _, name := range names {
		if url := c.address(c.scan.attr(name)); url != "" {
			return url
		}
	}
	return ""
}

// putVideo writes a video that is not preloaded.
func (c *Cleaner) putVideo(name string, v Video) {
	c.dst = append(append(c.dst, '<'), name...)
	c.put("src", v.URL)
	if !v.Audio {
		c.optional("poster", v.Poster)
		c.optionalSize("width", v.Width)
		c.optionalSize("height", v.Height)
	}
	c.dst = append(c.dst, ` controls="" preload="none"></`...)
	c.dst = append(append(c.dst, name...), '>')
}

// frame writes an embedded page as a link to it. Hidden frames are those of trackers.
func (c *Cleaner) frame() {
	s := &c.scan
	url := c.firstAddress("src", "data-src", "data-lazy-src")
	if id := s.attr("data-videoid"); s.name == "amp-youtube" && id != "" {
		url = c.address("https://www.youtube.com/watch?v=" + id)
	}
	if url == "" || tiny(s.attr("width")) || tiny(s.attr("height")) || hidden(s.attr("style")) {
		return
	}
	c.found.Frames = append(c.found.Frames, url)
	text := limited(c.scan.attr("title"))
	if text == "" {
		text = url
	}
	if c.Link != nil {
		url = c.Link(url)
	}
	c.closeOpen("a", false)
	c.closeOpen("p", true)
	if len(c.open)+2 > maxDepth {
		return
	}
	c.dst = append(c.dst, `<div data-widget="frame">`...)
	if url != "" {
		c.dst = append(c.dst, `<a`...)
		c.put("href", url)
		c.dst = append(append(appendEscapedText(append(c.dst, '>'), text), "</a>"...), "</div>"...)
		return
	}
	c.dst = append(appendEscapedText(c.dst, text), "</div>"...)
}

// appendEscapedText writes decoded text, escaped.
func appendEscapedText(dst []byte, s string) []byte {
	for _, r := range s {
		switch r {
		case '&':
			dst = append(dst, "&amp;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		default:
			dst = charref.AppendRune(dst, r)
		}
	}
	return dst
}

// size reads "640" or "640px".
func size(s string) int {
	s = strings.TrimSuffix(strings.TrimSpace(s), "px")
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' || n > maxSize {
			return 0
		}
		n = n*10 + int(s[i]-'0')
	}
	if n > maxSize {
		return 0
	}
	return n
}

// maxSize is the limit of a width or height in pixels.
const maxSize = 1 << 16

// tiny reports whether a width or height is that of a tracking pixel.
func tiny(s string) bool {
	s = strings.TrimSuffix(strings.TrimSpace(s), "px")
	return s == "0" || s == "1"
}

// hidden reports whether an inline style hides a picture or shrinks it to a dot.
func hidden(style string) bool {
	if style == "" {
		return false
	}
	style = strings.ToLower(strings.ReplaceAll(style, " ", "")) + ";"
	for _, s := range [...]string{"display:none", "visibility:hidden"} {
		if strings.Contains(style, s) {
			return true
		}
	}
	for _, s := range [...]string{"width:1px;", "width:0;", "width:0px;", "height:1px;", "height:0px;"} {
		if strings.HasPrefix(style, s) || strings.Contains(style, ";"+s) {
			return true
		}
	}
	return false
}

package markup

import "strings"

// turbo handles a start tag that has a special meaning in Turbo pages, and the contents
// of the element if they belong to the widget. It reports whether it did; then the
// element is open or has been read to its end.
func (c *Cleaner) turbo(name string) bool {
	s := &c.scan
	switch name {
	case "div", "section":
		if block, ok := s.lookupAttr("data-block"); ok {
			return c.turboBlock(strings.ToLower(strings.TrimSpace(block)))
		}
		if kind, ok := s.lookupAttr("itemtype"); ok && strings.HasSuffix(kind, "schema.org/Rating") {
			return c.turboRating(name)
		}
	case "header":
		if s.closes(name) && c.isTitle() {
			s.skip()
			return true
		}
	case "figure":
		if slot, ok := s.lookupAttr("data-turbo-ad-id"); ok && s.ends(name) {
			s.leave()
			c.whole("ad", "", slot)
			return true
		}
	case "menu":
		if s.isNext("<a") && s.closes(name) {
			return c.openAs("menu", "menu")
		}
	case "a":
		if strings.EqualFold(s.attr("data-block"), "button") && s.closes(name) {
			return c.turboButton(name, s.attr("href"))
		}
	case "button":
		if !s.ends(name) {
			return false
		}
		if to, ok := s.lookupAttr("formaction"); ok {
			return c.turboButton(name, to)
		}
		if to := s.attr("data-send-to"); to != "" {
			return c.turboButton(name, "mailto:"+to)
		}
	case "form":
		return s.ends(name) && c.turboForm()
	}
	return false
}

// closes reports whether an end tag with a name follows.
func (s *scanner) closes(name string) bool {
	if s.lastEnd == nil {
		s.lastEnd = map[string]int{}
	}
	at, ok := s.lastEnd[name]
	if !ok {
		at = max(strings.LastIndex(s.src, "</"+name), strings.LastIndex(s.src, "</"+strings.ToUpper(name)))
		s.lastEnd[name] = at
	}
	return at >= s.pos
}

// shut reports whether the current start tag is self-closing as in XML; a slash at the
// end of an unquoted value does not count.
func (s *scanner) shut() bool {
	tag := s.src[:s.pos]
	return strings.HasSuffix(tag, "\"/>") || strings.HasSuffix(tag, "'/>") || strings.HasSuffix(tag, " />")
}

// ends reports whether the current element is self-closing or an end tag follows.
func (s *scanner) ends(name string) bool { return s.shut() || s.closes(name) }

// leave skips the contents of the current widget.
func (s *scanner) leave() {
	if !s.shut() {
		s.skip()
	}
}

// isNext reports whether the input continues with a prefix after white space.
func (s *scanner) isNext(prefix string) bool {
	return strings.HasPrefix(strings.TrimLeft(s.src[s.pos:min(len(s.src), s.pos+64)], " \t\r\n"), prefix)
}

// openAs opens a widget instead of an element; the end tag of the element closes it.
func (c *Cleaner) openAs(name, kind string, values ...string) bool {
	if c.openDiv(kind, values...) && name != "div" {
		c.open[len(c.open)-1].ends = name
	}
	return true
}

// header returns the title of a strip of pictures: its attribute, or else the text of the
// header among its figures (named is true then, and isTitle drops that header).
func (c *Cleaner) header() (title string, named bool) {
	s := &c.scan
	if title = s.attr("data-title"); title != "" || len(c.open) >= maxDepth {
		return title, false
	}
	part := s.src[s.pos:min(len(s.src), s.pos+headerWindow)]
	if end := strings.Index(part, "</div>"); end >= 0 {
		part = part[:end]
	}
	_, part, ok := strings.Cut(part, "<header")
	if !ok || part == "" || part[0] != '>' && !isBlank(part[0]) {
		return "", false
	}
	_, part, _ = strings.Cut(part, ">")
	title, _, ok = strings.Cut(part, "</header>")
	if !ok || len(title) > maxHeader {
		return "", false
	}
	return Plain(title), true
}

// The limits in bytes for finding the header of a strip.
const (
	headerWindow = 8 << 10
	maxHeader    = 1 << 10
)

func (c *Cleaner) openStrip(named bool, kind string, values ...string) bool {
	if c.openDiv(kind, values...) {
		last := &c.open[len(c.open)-1]
		last.named, last.strip = named, kind != "carousel"
	}
	return true
}

// isTitle reports whether the current header has become the title of its strip; only the
// first header has.
func (c *Cleaner) isTitle() bool {
	for i := len(c.open) - 1; i >= max(0, len(c.open)-2); i-- {
		if c.open[i].named {
			c.open[i].named = false
			return true
		}
	}
	return false
}

// turboBlock handles a div with data-block and reports whether the block is known.
func (c *Cleaner) turboBlock(block string) bool {
	shut, room := c.scan.shut(), len(c.open) < maxDepth
	if !c.turboBox(block) {
		return c.turboLeaf(block)
	}
	if shut && room {
		c.closeDiv()
	}
	return true
}

// turboBox handles the blocks whose contents are HTML or other blocks.
func (c *Cleaner) turboBox(block string) bool {
	s := &c.scan
	switch block {
	case "accordion", "fold", "cards", "card":
		return c.openAs("div", block)
	case "gallery", "carousel":
		title, named := c.header()
		return c.openStrip(named, block, title)
	case "slider":
		title, named := c.header()
		return c.openStrip(named, block, s.attr("data-view"), title)
	case "item":
		return c.openAs("div", block, s.attr("data-title"), s.attr("data-expanded"))
	case "breadcrumblist", "breadcrumbs":
		return c.openAs("div", "breadcrumbs")
	case "feed":
		return c.openAs("div", block, s.attr("data-layout"), s.attr("data-title"))
	case "comment":
		avatar := s.attr("data-avatar-url")
		c.openAs("div", block, s.attr("data-author"), s.attr("data-subtitle"))
		if avatar = c.address(avatar); avatar != "" {
			c.putImage(Image{URL: avatar, mute: true})
		}
		return true
	case "comments":
		more := s.attr("data-url")
		c.openAs("div", block)
		if c.address(more) != "" {
			c.anchor(more, "", c.address(more))
		}
		return true
	case "histogram":
		return c.openAs("div", block)
	}
	return false
}

// turboLeaf handles the blocks that are described by their attributes.
func (c *Cleaner) turboLeaf(block string) bool {
	s := &c.scan
	if !s.ends("div") {
		return false
	}
	switch block {
	case "snippet":
		title, picture, url := s.attr("data-title"), s.attr("data-img"), s.attr("data-url")
		if title == "" && picture == "" && !s.shut() {
			return c.openAs("div", block) // it has contents instead of attributes
		}
		s.leave()
		if c.openDiv(block) {
			c.anchor(url, picture, limited(title))
			c.closeDiv()
		}
	case "feed-item":
		title, text := limited(s.attr("data-title")), limited(s.attr("data-description"))
		picture, url, place := s.attr("data-thumb"), s.attr("data-href"), s.attr("data-thumb-position")
		s.leave()
		if c.openDiv(block, place) {
			c.anchor(url, picture, title)
			if text != "" {
				c.dst = append(appendEscapedText(append(c.dst, "<p>"...), text), "</p>"...)
			}
			c.closeDiv()
		}
	case "histogram-item":
		title, value, height, tint, icon := limited(s.attr("data-title")), limited(s.attr("data-value")), s.attr("data-height"), s.attr("data-color"), s.attr("data-icon")
		s.leave()
		if c.openDiv("bar", height, tint) {
			if icon = c.address(icon); icon != "" {
				c.putImage(Image{URL: icon, mute: true})
			}
			if title != "" && value != "" {
				title += ": "
			}
			c.dst = appendEscapedText(c.dst, title+value)
			c.closeDiv()
		}
	case "share":
		networks := s.attr("data-network")
		s.leave()
		c.whole(block, "", networks)
	case "audio":
		v := Video{URL: c.address(s.attr("src")), Audio: true}
		s.leave()
		if v.URL != "" {
			c.found.Videos = append(c.found.Videos, v)
			if c.Video == nil || c.Video(&v) {
				c.putVideo("audio", v)
			}
		}
	case "widget-feedback":
		c.turboFeedback()
	default:
		return false
	}
	return true
}

// turboRating writes a rating given by meta elements of schema.org. A rating with visible
// text stays unchanged.
func (c *Cleaner) turboRating(name string) bool {
	s := &c.scan
	part := s.src[s.pos:min(len(s.src), s.pos+maxHeader)]
	end := strings.Index(part, "</"+name)
	if end < 0 {
		return false
	}
	value, best := ratingIn(part[:end])
	value, best = c.data("value", value), c.data("best", best)
	if value == "" {
		return false
	}
	s.skip()
	text := value
	if best != "" {
		text += " / " + best
	}
	c.whole("rating", text, value, best)
	return true
}

// ratingIn returns the values of the meta elements, unless there is text between them.
func ratingIn(part string) (value, best string) {
	s := scanner{src: part}
	for kind := s.next(); kind != endOfInput; kind = s.next() {
		if kind == textToken && strings.TrimSpace(s.text) != "" {
			return "", ""
		}
		if kind != startToken || s.name != "meta" {
			continue
		}
		switch strings.ToLower(s.attr("itemprop")) {
		case "ratingvalue":
			value = s.attr("content")
		case "bestrating":
			best = s.attr("content")
		}
	}
	return value, best
}

// within reads the current element to its end and calls f for every start tag.
func (c *Cleaner) within(name string, f func()) {
	s := &c.scan
	if s.shut() {
		return
	}
	for depth := 1; depth > 0; {
		switch s.next() {
		case endOfInput:
			return
		case startToken:
			if s.name == name && !s.shut() {
				depth++
			}
			f()
		case endToken:
			if s.name == name {
				depth--
			}
		}
	}
}

// textWithin reads the current element to its end and returns its text, escaped.
func (c *Cleaner) textWithin(name string) string {
	s := &c.scan
	if s.shut() {
		return ""
	}
	var text []byte
	for depth := 1; depth > 0; {
		switch s.next() {
		case endOfInput:
			return strings.TrimSpace(string(text))
		case textToken:
			text = appendText(text, s.text)
		case startToken:
			if s.name == name && !s.shut() {
				depth++
			}
		case endToken:
			if s.name == name {
				depth--
			}
		}
	}
	return strings.TrimSpace(string(text))
}

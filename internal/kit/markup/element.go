package markup

// element is the rule for an HTML element. The zero element is unknown: its tags are
// dropped and its contents stay.
type element struct {
	out     string // the name in the output, "" to drop the tags
	known   bool   // it is an element of HTML
	void    bool   // it has no contents
	block   bool   // it is a block
	drop    bool   // it is dropped with its contents
	raw     bool   // its contents are not markup
	foreign bool   // svg
	table   bool   // it is only allowed inside a table
	special bool   // Cleaner.special handles it
	turbo   bool   // it may have another meaning in Turbo pages
}

// lookup returns the rule for an element. Elements not listed here never reach the
// output.
func lookup(name string) element {
	switch name {
	case "b", "strong", "i", "em", "u", "s", "del", "ins", "sub", "sup", "small", "mark", "code", "kbd", "samp",
		"abbr", "q", "cite", "time", "var", "dfn", "bdi", "bdo", "ruby", "rt", "rp", "span":
		return element{out: name, known: true}
	case "a":
		return element{out: name, known: true, turbo: true}
	case "div", "figure":
		return element{out: name, known: true, block: true, turbo: true}
	case "p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "ul", "ol", "li", "dl", "dt", "dd",
		"figcaption", "details", "summary", "table":
		return element{out: name, known: true, block: true}
	case "tr", "td", "th", "thead", "tbody", "tfoot", "caption", "colgroup":
		return element{out: name, known: true, block: true, table: true}
	case "col":
		return element{out: name, known: true, void: true, table: true}
	case "br", "wbr":
		return element{out: name, known: true, void: true}
	case "hr":
		return element{out: name, known: true, void: true, block: true}
	case "img", "image":
		return element{known: true, special: true, void: true}
	case "picture", "video", "audio", "noscript", "math":
		return element{known: true, special: true}
	case "source":
		return element{known: true, special: true, void: true}
	case "iframe":
		return element{known: true, special: true, raw: true, block: true}
	}
	return renamed(name)
}

// renamed holds the elements that are replaced by others.
func renamed(name string) element {
	switch name {
	case "header":
		return element{out: "div", known: true, block: true, turbo: true}
	case "article", "footer", "aside", "main", "nav", "center", "hgroup", "address",
		"fieldset", "legend", "dialog", "search", "marquee":
		return element{out: "div", known: true, block: true}
	case "section", "form":
		return element{out: "div", known: true, block: true, turbo: true}
	case "menu":
		return element{out: "ul", known: true, block: true, turbo: true}
	case "dir":
		return element{out: "ul", known: true, block: true}
	case "strike":
		return element{out: "s", known: true}
	case "tt":
		return element{out: "code", known: true}
	case "acronym":
		return element{out: "abbr", known: true}
	case "amp-img", "amp-anim":
		return element{known: true, special: true, void: true}
	case "amp-video", "amp-audio", "amp-iframe", "amp-youtube":
		return element{known: true, special: true}
	}
	return removed(name)
}

// removed holds the elements that are dropped, with or without their contents.
func removed(name string) element {
	switch name {
	case "script", "style", "textarea", "title", "xmp", "noembed", "noframes", "plaintext":
		return element{known: true, raw: true, drop: true}
	case "svg":
		return element{known: true, drop: true, foreign: true}
	case "object", "applet", "template", "select", "datalist", "canvas", "map", "frameset", "portal":
		return element{known: true, drop: true}
	case "button":
		return element{known: true, drop: true, turbo: true}
	case "meta", "link", "base", "basefont", "bgsound", "frame", "embed", "input", "param", "area", "track", "keygen",
		"isindex", "nextid", "command":
		return element{known: true, void: true}
	case "html", "head", "body", "font", "big", "blink", "nobr", "label", "output", "meter", "progress", "data",
		"option", "optgroup", "slot", "rb", "rtc", "spacer", "multicol", "listing":
		return element{known: true}
	}
	return element{}
}

// isCell reports whether an element is a cell or caption of a table, which isolates its
// contents.
func isCell(name string) bool { return name == "td" || name == "th" || name == "caption" }

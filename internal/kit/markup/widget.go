package markup

import (
	"strconv"
	"strings"
)

// Widgets are the controls of Turbo pages as inert HTML: a div (a link for buttons and
// contacts) with data-widget and a few validated data attributes. Package light renders
// them as controls; for all others they are ordinary HTML.

// widgetAttrs returns the data attributes that a widget may have, in the order of the
// output.
func widgetAttrs(kind string) []string {
	switch kind {
	case "gallery", "carousel", "feedback":
		return []string{"title"}
	case "slider":
		return []string{"view", "title"}
	case "item":
		return []string{"title", "expanded"}
	case "feed":
		return []string{"layout", "title"}
	case "feed-item":
		return []string{"thumb"}
	case "comment":
		return []string{"author", "subtitle"}
	case "rating":
		return []string{"value", "best"}
	case "bar":
		return []string{"height", "color"}
	case "share":
		return []string{"network"}
	case "callback":
		return []string{"to", "company", "agreement"}
	case "field":
		return []string{"type", "name", "label", "required", "hint"}
	case "form":
		return []string{"action"}
	case "option":
		return []string{"checked"}
	case "search":
		return []string{"action", "name", "placeholder"}
	case "ad":
		return []string{"slot"}
	case "button":
		return []string{"color", "background", "primary"}
	case "contact":
		return []string{"type"}
	}
	return nil
}

// isWidget reports whether a div may be a widget of a kind.
func isWidget(kind string) bool {
	switch kind {
	case "gallery", "slider", "accordion", "item", "fold", "cards", "card", "carousel", "snippet", "feed", "feed-item",
		"comments", "comment", "rating", "histogram", "bar", "share", "feedback", "callback", "form", "field", "option",
		"submit", "search", "ad", "frame", "breadcrumbs", "menu":
		return true
	}
	return false
}

// data validates the value of a data attribute; it returns "" to leave it out.
func (c *Cleaner) data(name, value string) string {
	value = strings.TrimSpace(value)
	switch name {
	case "view":
		return oneOf(value, "landscape", "portrait", "square")
	case "layout":
		return oneOf(value, "vertical", "horizontal")
	case "thumb":
		return oneOf(value, "left", "right", "top")
	case "expanded", "primary", "required", "checked":
		return oneOf(value, "true")
	case "height":
		if n, err := strconv.Atoi(strings.TrimSuffix(value, "%")); err == nil && n >= 0 && n <= 100 {
			return strconv.Itoa(n)
		}
		return ""
	case "value", "best":
		if n, err := strconv.ParseFloat(strings.Replace(value, ",", ".", 1), 64); err == nil && n >= 0 && n <= 1000 {
			return strconv.FormatFloat(n, 'f', -1, 64)
		}
		return ""
	case "color", "background":
		return color(value)
	case "network":
		return strings.Join(strings.FieldsFunc(strings.ToLower(value), func(r rune) bool { return r < 'a' || r > 'z' }), " ")
	case "type":
		return strings.ToLower(onlyLetters(value))
	case "to":
		if !isMail(value) {
			return ""
		}
		return value
	case "agreement":
		return c.address(value)
	case "action":
		return c.action(value)
	}
	return limited(value)
}

func oneOf(value string, allowed ...string) string {
	for _, a := range allowed {
		if strings.EqualFold(value, a) {
			return a
		}
	}
	return ""
}

// color returns a colour written as #rgb, #rrggbb or a name, or "".
func color(s string) string {
	s = strings.ToLower(s)
	if rest, ok := strings.CutPrefix(s, "#"); ok {
		if (len(rest) == 3 || len(rest) == 6) && strings.Trim(rest, "0123456789abcdef") == "" {
			return s
		}
		return ""
	}
	if s != "" && len(s) <= 24 && onlyLetters(s) == s {
		return s
	}
	return ""
}

// onlyLetters returns s if it is one word of ASCII letters and dashes, else "".
func onlyLetters(s string) string {
	for i := range len(s) {
		if !isLetter(s[i]) && s[i] != '-' {
			return ""
		}
	}
	if len(s) > 32 {
		return ""
	}
	return s
}

// action returns the address of a search form; {text} is replaced by the query.
func (c *Cleaner) action(value string) string {
	const slot, safe = "{text}", "courant-slot-text"
	url := c.address(strings.ReplaceAll(value, slot, safe))
	return strings.ReplaceAll(url, safe, slot)
}

// ownWidget writes the data of a widget that is already in our format.
func (c *Cleaner) ownWidget(kind string) {
	c.put("data-widget", kind)
	for _, name := range widgetAttrs(kind) {
		c.putData(name, c.scan.attr("data-"+name))
	}
}

func (c *Cleaner) putData(name, value string) {
	if value = c.data(name, value); value != "" {
		c.put("data-"+name, value)
	}
}

// openDiv opens the div of a widget; values are its data in the order of widgetAttrs.
func (c *Cleaner) openDiv(kind string, values ...string) bool {
	switch kind {
	case "snippet", "feed-item", "comments", "feedback":
		c.closeOpen("a", false) // widgets contain links
	}
	c.closeOpen("p", true)
	if len(c.open) >= maxDepth {
		return false
	}
	c.dst = append(c.dst, "<div"...)
	c.put("data-widget", kind)
	for i, name := range widgetAttrs(kind) {
		if i < len(values) {
			c.putData(name, values[i])
		}
	}
	c.dst = append(c.dst, '>')
	c.open = append(c.open, opened{name: "div", block: true})
	return true
}

// closeDiv closes the div of openDiv.
func (c *Cleaner) closeDiv() { c.closeTo(len(c.open) - 1) }

// whole writes a widget whose only content is text.
func (c *Cleaner) whole(kind, text string, values ...string) {
	if c.openDiv(kind, values...) {
		c.dst = appendEscapedText(c.dst, text)
		c.closeDiv()
	}
}

// anchor writes a link with a picture and a text.
func (c *Cleaner) anchor(url, picture, text string) {
	url = c.address(url)
	if url != "" && c.Link != nil {
		url = c.Link(url)
	}
	if url != "" {
		c.dst = append(c.dst, "<a"...)
		c.put("href", url)
		c.dst = append(c.dst, '>')
	}
	if picture = c.address(picture); picture != "" {
		c.putImage(Image{URL: picture, mute: true})
	}
	c.dst = appendEscapedText(c.dst, strings.TrimSpace(text))
	if url != "" {
		c.dst = append(c.dst, "</a>"...)
	}
}

package light

import (
	"math"
	"strconv"
	"strings"

	"github.com/courant-platform/courant/internal/kit/link"
)

// controls turns the inert widgets of clean HTML into controls that need no
// script, and says whether there were any. The HTML is what the cleaner gives:
// well nested, attributes in double quotes with "<", ">" and quotes escaped.
func controls(html, page string) (out string, any bool) {
	if !strings.Contains(html, " data-widget=") {
		return html, false
	}
	c := control{page: page}
	c.out.Grow(len(html) + len(html)/4)
	for html != "" {
		i := strings.IndexByte(html, '<')
		if i < 0 {
			i = len(html)
		}
		c.out.WriteString(html[:i])
		if html = html[i:]; html == "" {
			break
		}
		end := strings.IndexByte(html, '>') + 1
		if end == 0 {
			end = len(html)
		}
		c.tag(html[:end])
		html = html[end:]
	}
	for len(c.open) > 0 {
		c.close()
	}
	return c.out.String(), true
}

// control is one transformation; open holds what closes the open divs.
type control struct {
	page string
	out  strings.Builder
	open []string
}

func (c *control) close() {
	c.out.WriteString(c.open[len(c.open)-1])
	c.open = c.open[:len(c.open)-1]
}

// tag writes a tag, as it is or as a control.
func (c *control) tag(tag string) {
	kind := attr(tag, "data-widget")
	switch {
	case tag == "</div>" && len(c.open) > 0:
		c.close()
	case strings.HasPrefix(tag, "<div"):
		if kind == "" {
			c.out.WriteString(tag)
			c.open = append(c.open, "</div>")
			return
		}
		before, after := c.div(kind, tag)
		c.out.WriteString(before)
		c.open = append(c.open, after)
	case kind != "" && strings.HasPrefix(tag, "<a "):
		c.out.WriteString(`<a class="btn ` + tint(tag) + `" href="` + attr(tag, "href") + `" rel="noopener">`)
	case kind != "" && strings.HasPrefix(tag, "<span"):
		c.out.WriteString(`<span class="btn off">`)
	default:
		c.out.WriteString(tag)
	}
}

// attr is the value of an attribute as it is written: escaped.
func attr(tag, name string) string {
	_, rest, ok := strings.Cut(tag, " "+name+`="`)
	if !ok {
		return ""
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// div gives what stands in place of the tags of a widget's div.
func (c *control) div(kind, tag string) (before, after string) {
	switch kind {
	case "gallery", "carousel":
		return title(tag) + `<div class="strip">`, "</div>"
	case "slider":
		return title(tag) + `<div class="strip ` + attr(tag, "data-view") + `">`, "</div>"
	case "item":
		open := ""
		if attr(tag, "data-expanded") == "true" {
			open = " open"
		}
		name := attr(tag, "data-title")
		if name == "" {
			name = "…"
		}
		return "<details" + open + "><summary>" + name + "</summary>", "</details>"
	case "fold":
		return "<details><summary>Show more</summary>", "</details>"
	case "cards", "card", "snippet", "menu", "accordion", "histogram":
		return `<div class="` + kind + `">`, "</div>"
	case "breadcrumbs":
		return `<div class="crumbs">`, "</div>"
	case "feed":
		return title(tag) + `<div class="feed ` + attr(tag, "data-layout") + `">`, "</div>"
	case "feed-item":
		return `<div class="feed-item ` + attr(tag, "data-thumb") + `">`, "</div>"
	case "comments":
		return `<div class="comments">`, "</div>"
	case "comment":
		return `<div class="comment"><p class="by"><b>` + attr(tag, "data-author") + "</b> " + attr(tag, "data-subtitle") + "</p>", "</div>"
	case "rating":
		return `<p class="rating">` + stars(attr(tag, "data-value"), attr(tag, "data-best")) + " ", "</p>"
	case "bar":
		return `<div class="bar-row"><meter min="0" max="100" value="` + attr(tag, "data-height") + `"></meter> `, "</div>"
	}
	return c.contacts(kind, tag)
}

// contacts gives the widgets that lead to somebody else.
func (c *control) contacts(kind, tag string) (before, after string) {
	switch kind {
	case "share":
		return c.share(attr(tag, "data-network")), ""
	case "feedback":
		return title(tag) + `<div class="btns">`, "</div>"
	case "callback":
		return callback(tag), ""
	case "form":
		return `<div class="form"><p class="by">This form works at <a href="` + escape(c.page) + `" rel="noopener">` + escape(link.Host(c.page)) + "</a></p>", "</div>"
	case "field":
		mark := ""
		if attr(tag, "data-required") != "" {
			mark = " *"
		}
		return `<div class="field ` + attr(tag, "data-type") + `"><span>` + attr(tag, "data-label") + mark + "</span>", "</div>"
	case "option":
		return `<div class="opt">`, "</div>"
	case "submit":
		return `<div class="btn off">`, "</div>"
	case "search":
		where, _, _ := strings.Cut(attr(tag, "data-action"), "?")
		where, _, _ = strings.Cut(where, "{")
		return `<p><a class="btn" href="` + where + `" rel="noopener">Search at ` + link.Host(where) + "</a></p>", ""
	case "ad":
		return `<div class="ad">Advertisement`, "</div>"
	}
	return `<div class="box">`, "</div>"
}

func title(tag string) string {
	if t := attr(tag, "data-title"); t != "" {
		return `<p class="wt">` + t + "</p>"
	}
	return ""
}

// callback leads to a mail, since a form would need a script.
func callback(tag string) string {
	out := `<p class="box">Leave your number`
	if to := attr(tag, "data-to"); to != "" {
		out = `<p class="box"><a class="btn" href="mailto:` + to + `">Write to ` + to + "</a>"
	}
	if company := attr(tag, "data-company"); company != "" {
		out += " " + company
	}
	if terms := attr(tag, "data-agreement"); terms != "" {
		out += ` <a href="` + terms + `" rel="noopener">Terms</a>`
	}
	return out + "</p>"
}

// share links to the networks' own pages for sharing an address.
func (c *control) share(networks string) string {
	var b strings.Builder
	for name := range strings.FieldsSeq(networks) {
		to, label := "", ""
		switch name {
		case "vkontakte", "vk":
			to, label = "https://vk.com/share.php?url=", "VK"
		case "telegram":
			to, label = "https://t.me/share/url?url=", "Telegram"
		case "odnoklassniki":
			to, label = "https://connect.ok.ru/offer?url=", "OK"
		case "facebook":
			to, label = "https://www.facebook.com/sharer/sharer.php?u=", "Facebook"
		case "twitter":
			to, label = "https://twitter.com/intent/tweet?url=", "X"
		case "whatsapp":
			to, label = "https://wa.me/?text=", "WhatsApp"
		case "viber":
			continue // has no address of the web
		}
		if to != "" {
			b.WriteString(`<a class="btn" href="` + to + query(c.page) + `" rel="noopener">` + label + "</a>")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return `<div class="btns">` + b.String() + "</div>"
}

// stars are five, full or empty.
func stars(value, best string) string {
	v, err := strconv.ParseFloat(value, 64)
	most, bad := strconv.ParseFloat(best, 64)
	if bad != nil || most <= 0 {
		most = 5
	}
	if err != nil {
		return ""
	}
	full := int(math.Round(min(max(v/most, 0), 1) * 5))
	return `<span class="stars">` + strings.Repeat("★", full) + strings.Repeat("☆", 5-full) + "</span>"
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;").Replace(s)
}

// query escapes an address as the value of a parameter.
func query(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}

// tint is the class of a button: that of the palette's colour nearest to the one
// that the source wants, all of which white text can be read on.
func tint(tag string) string {
	r, g, b, ok := rgb(attr(tag, "data-background"))
	if !ok {
		if attr(tag, "data-primary") == "true" {
			return "primary"
		}
		return ""
	}
	best, distance := "", math.MaxInt
	for _, p := range palette {
		dr, dg, db := r-p.r, g-p.g, b-p.b
		if d := 2*dr*dr + 4*dg*dg + 3*db*db; d < distance {
			best, distance = p.class, d
		}
	}
	return best
}

// palette is that of look's more.css; "" is the pale button of the page.
var palette = []struct {
	class   string
	r, g, b int
}{
	{"c-red", 0xc0, 0x2b, 0x2b}, {"c-orange", 0xb3, 0x54, 0x0e}, {"c-green", 0x1f, 0x7a, 0x3a}, {"c-teal", 0x0f, 0x76, 0x7a},
	{"c-blue", 0x1a, 0x55, 0xc4}, {"c-violet", 0x6d, 0x3b, 0xbf}, {"c-grey", 0x5d, 0x61, 0x70}, {"c-black", 0x1c, 0x1d, 0x22}, {"", 0xf4, 0xf5, 0xf8},
}

// rgb reads #rgb, #rrggbb and the names that buttons usually have.
func rgb(s string) (r, g, b int, ok bool) {
	if named, ok := map[string]string{"red": "#ff0000", "green": "#008000", "blue": "#0000ff", "black": "#000000", "white": "#ffffff",
		"orange": "#ffa500", "yellow": "#ffff00", "gray": "#808080", "grey": "#808080", "purple": "#800080", "teal": "#008080"}[s]; ok {
		s = named
	}
	if len(s) == 4 {
		s = "#" + strings.Repeat(s[1:2], 2) + strings.Repeat(s[2:3], 2) + strings.Repeat(s[3:4], 2)
	}
	if len(s) != 7 || s[0] != '#' {
		return 0, 0, 0, false
	}
	n, err := strconv.ParseUint(s[1:], 16, 32)
	return int(n >> 16), int(n >> 8 & 0xff), int(n & 0xff), err == nil
}

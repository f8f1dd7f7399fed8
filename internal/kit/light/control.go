package light

import (
	"cmp"
	"html"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/courant-platform/courant/internal/kit/link"
)

// controls converts the inert widgets of clean HTML to controls that need no script,
// and reports whether there may be any. The HTML must come from markup.Cleaner: well
// nested, attributes in double quotes with "<", ">" and quotes escaped.
func controls(text, page string) (out string, found bool) {
	if !strings.Contains(text, " data-widget=") && !strings.Contains(text, "<video") && !strings.Contains(text, "<audio") {
		return text, false
	}
	c := control{page: page, out: make([]byte, 0, len(text)+len(text)/4)}
	for text != "" {
		i := strings.IndexByte(text, '<')
		if i < 0 {
			i = len(text)
		}
		c.text(text[:i])
		if text = text[i:]; text == "" {
			break
		}
		end := strings.IndexByte(text, '>') + 1
		if end == 0 {
			end = len(text)
		}
		c.tag(text[:end])
		text = text[end:]
	}
	for len(c.open) > 0 {
		c.close()
	}
	return string(c.out), true
}

// control is the state of one conversion.
type control struct {
	page   string
	out    []byte
	open   []div
	inLink bool
	label  bool   // the text of the current link is already written
	was    string // a text of the current link that is replaced
	better string // by this one
	links  int    // links to the page so far
}

// div is an open div. An empty widget is left out.
type div struct {
	kind   string // "" for a plain div
	after  string // closing tags
	start  int    // offset in out
	filled bool
}

// mostLinks is the limit of links to the page itself, whose address may be long.
const mostLinks = 30

func (c *control) put(parts ...string) {
	for _, p := range parts {
		c.out = append(c.out, p...)
	}
}

func (c *control) text(s string) {
	if c.label {
		return
	}
	if c.was != "" && s == c.was {
		s = c.better
	}
	c.put(s)
	if strings.TrimSpace(s) != "" {
		c.fill()
	}
}

func (c *control) fill() {
	if n := len(c.open); n > 0 {
		c.open[n-1].filled = true
	}
}

func (c *control) close() {
	last := c.open[len(c.open)-1]
	c.open = c.open[:len(c.open)-1]
	if last.kind != "" && !last.filled {
		c.out = c.out[:last.start]
		return
	}
	c.put(last.after)
	if last.filled {
		c.fill()
	}
}

// tag writes a tag unchanged or as a control.
func (c *control) tag(tag string) {
	kind := attr(tag, "data-widget")
	switch {
	case tag == "</div>" && len(c.open) > 0:
		c.close()
	case tag == "</a>":
		c.inLink, c.label, c.was = false, false, ""
		c.put(tag)
	case tag == "</video>", tag == "</audio>":
	case strings.HasPrefix(tag, "<div"):
		c.openDiv(kind, tag)
	case strings.HasPrefix(tag, "<a "):
		c.anchor(kind, tag)
	case kind != "" && strings.HasPrefix(tag, "<span"):
		c.put(`<span class="btn off">`)
	case strings.HasPrefix(tag, "<video "):
		c.media("Video", attr(tag, "src"))
	case strings.HasPrefix(tag, "<audio "):
		c.media("Audio", attr(tag, "src"))
	default:
		c.put(tag)
		if strings.HasPrefix(tag, "<img ") {
			c.fill()
		}
	}
}

func (c *control) anchor(kind, tag string) {
	c.inLink = true
	within := ""
	if n := len(c.open); n > 0 {
		within = c.open[n-1].kind
	}
	switch {
	case kind != "":
		c.was = attr(tag, "data-type")
		c.better = channel(c.was)
		c.put(`<a class="`, strings.TrimSpace("btn "+buttonTint(tag)), `" href="`, attr(tag, "href"), `" rel="noopener">`)
	case within == "comments":
		c.put(tag, "All comments")
		c.label = true
		c.fill()
	case within == "frame":
		c.frame(attr(tag, "href"))
	default:
		c.put(tag)
	}
}

// media links to a video or audio file: the page must not play files of other sites.
func (c *control) media(what, from string) {
	c.fill()
	label := what + " at " + escape(link.Host(from))
	if c.inLink {
		c.put(label)
		return
	}
	c.put(`<a class="btn play" href="`, from, `" rel="noopener">`, label, "</a>")
}

// frame links to an embedded page, or to the page of a video if its player is known.
func (c *control) frame(from string) {
	c.was = from
	to, film := watch(html.UnescapeString(from))
	host := escape(strings.TrimPrefix(link.Host(to), "www."))
	if !film {
		c.better = "Embedded page at " + host
		c.put(`<a href="`, from, `" rel="noopener">`)
		return
	}
	c.better = "Video at " + host
	c.put(`<a class="btn play" href="`, escape(to), `" rel="noopener">`)
}

func (c *control) openDiv(kind, tag string) {
	d := div{kind: kind, after: "</div>", start: len(c.out)}
	before := tag
	if kind != "" {
		before, d.after, d.filled = c.div(kind, tag)
	}
	c.put(before)
	c.open = append(c.open, d)
}

// attr returns the escaped value of an attribute.
func attr(tag, name string) string {
	_, rest, ok := strings.Cut(tag, " "+name+`="`)
	if !ok {
		return ""
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// div returns the replacements for the tags of a widget's div, and whether the widget
// is shown even without contents.
func (c *control) div(kind, tag string) (before, after string, filled bool) {
	switch kind {
	case "gallery", "carousel":
		return title(tag) + `<div class="strip">`, "</div>", false
	case "slider":
		return title(tag) + `<div class="` + strings.TrimSpace("strip "+attr(tag, "data-view")) + `">`, "</div>", false
	case "item":
		open := ""
		if attr(tag, "data-expanded") == "true" {
			open = " open"
		}
		name := attr(tag, "data-title")
		return "<details" + open + "><summary>" + cmp.Or(name, "…") + "</summary>", "</details>", name != ""
	case "fold":
		return "<details><summary>Show more</summary>", "</details>", false
	case "cards", "card", "snippet", "menu", "accordion", "histogram", "comments":
		return `<div class="` + kind + `">`, "</div>", false
	case "breadcrumbs":
		return `<div class="crumbs">`, "</div>", false
	case "feed", "feed-item":
		shape := attr(tag, "data-layout") + attr(tag, "data-thumb")
		return title(tag) + `<div class="` + strings.TrimSpace(kind+" "+shape) + `">`, "</div>", false
	case "comment":
		author := attr(tag, "data-author")
		by := strings.TrimSpace("<b>" + author + "</b> " + attr(tag, "data-subtitle"))
		return `<div class="comment"><p class="by">` + by + "</p>", "</div>", author != ""
	case "rating":
		return `<div class="rating">` + stars(attr(tag, "data-value"), attr(tag, "data-best")) + " ", "</div>", false
	case "bar":
		return `<div class="` + strings.TrimSpace("bar-row "+tint(attr(tag, "data-color"))) + `"><meter min="0" max="100" value="` + cmp.Or(attr(tag, "data-height"), "0") + `"></meter> `, "</div>", false
	}
	return c.contacts(kind, tag)
}

// contacts is div for widgets that link to other sites.
func (c *control) contacts(kind, tag string) (before, after string, filled bool) {
	switch kind {
	case "share":
		return c.share(attr(tag, "data-network")), "", true
	case "feedback":
		return title(tag) + `<div class="btns">`, "</div>", false
	case "callback":
		return c.callback(tag), "", true
	case "form":
		return `<div class="form"><p class="by">This form is available at ` + c.original() + "</p>", "</div>", false
	case "field":
		mark := ""
		if attr(tag, "data-required") != "" {
			mark = " *"
		}
		kind, box := attr(tag, "data-type"), "<i>"+attr(tag, "data-hint")+"</i>"
		if kind == "checkbox" || kind == "radio" || kind == "select" {
			box = ""
		}
		return `<div class="field ` + kind + `"><span>` + attr(tag, "data-label") + mark + "</span>" + box, "</div>", true
	case "option":
		return `<div class="` + strings.TrimSpace("opt "+attr(tag, "data-checked")) + `">`, "</div>", false
	case "submit":
		return `<div class="btn off">`, "</div>", false
	case "search":
		where, _, _ := strings.Cut(attr(tag, "data-action"), "?")
		where, _, _ = strings.Cut(where, "{")
		if where == "" {
			return "", "", true
		}
		return `<p><a class="btn" href="` + where + `" rel="noopener">Search at ` + escape(link.Host(where)) + "</a></p>", "", true
	case "ad":
		return `<div class="ad">Advertisement`, "</div>", true
	}
	return `<div class="box">`, "</div>", false
}

// original returns a link to the original page, or only the host once there are
// mostLinks.
func (c *control) original() string {
	if c.page == "" {
		return "its site"
	}
	host := escape(link.Host(c.page))
	if c.links++; c.links > mostLinks {
		return host
	}
	return `<a href="` + escape(c.page) + `" rel="noopener">` + host + "</a>"
}

func title(tag string) string {
	if t := attr(tag, "data-title"); t != "" {
		return `<p class="wt">` + t + "</p>"
	}
	return ""
}

// callback links to a mail address or to the original page: a form would need a script.
func (c *control) callback(tag string) string {
	out, between := `<p class="box">Request a call at `+c.original(), " · "
	if to := attr(tag, "data-to"); to != "" {
		out = `<p class="box"><a class="btn" href="mailto:` + to + `">Write to ` + to + "</a>"
		between = " "
	}
	if company := attr(tag, "data-company"); company != "" {
		out += between + company
	}
	if terms := attr(tag, "data-agreement"); terms != "" {
		out += ` · <a href="` + terms + `" rel="noopener">Terms</a>`
	}
	return out + "</p>"
}

// networks lists the pages of social networks for sharing an address.
var networks = []struct{ name, to, label string }{
	{"vkontakte", "https://vk.com/share.php?url=", "VK"},
	{"telegram", "https://t.me/share/url?url=", "Telegram"},
	{"odnoklassniki", "https://connect.ok.ru/offer?url=", "OK"},
	{"facebook", "https://www.facebook.com/sharer/sharer.php?u=", "Facebook"},
	{"twitter", "https://twitter.com/intent/tweet?url=", "X"},
	{"whatsapp", "https://wa.me/?text=", "WhatsApp"},
}

// share links to the pages of the wanted networks for sharing an address.
func (c *control) share(wanted string) string {
	if c.links += len(networks); c.links > mostLinks || c.page == "" {
		return ""
	}
	out := ""
	for _, n := range networks {
		if slices.Contains(strings.Fields(wanted), n.name) {
			out += `<a class="btn" href="` + n.to + url.QueryEscape(c.page) + `" rel="noopener">` + n.label + "</a>"
		}
	}
	if out == "" {
		return ""
	}
	return `<div class="btns">` + out + "</div>"
}

// stars shows a rating as five stars, in halves.
func stars(value, best string) string {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return ""
	}
	most, err := strconv.ParseFloat(best, 64)
	if err != nil || most <= 0 {
		most = 5
	}
	halves := int(math.Round(min(max(v/most, 0), 1) * 10))
	return `<span class="stars">` + strings.Repeat("★", halves/2) + strings.Repeat("½", halves%2) + strings.Repeat("☆", (10-halves)/2) + "</span>"
}

// escape escapes text for HTML and for attributes in double quotes.
func escape(s string) string { return html.EscapeString(s) }

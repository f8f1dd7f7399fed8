package feed

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/charref"
	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// turboChannel reads a channel element of Turbo RSS or of the older news format. Codes
// of counters and advertisements are stored and never run.
func (r *reader) turboChannel(local string) {
	s, f := &r.scan, &r.out.Feed
	r.turbo = r.turbo || s.Name.Space == "turbo" || local == "analytics" || local == "adnetwork"
	switch local {
	case "analytics":
		r.turboCounter()
	case "adnetwork":
		r.turboAds()
		return
	case "goal":
		f.Goals = r.addGoal(f.Goals, r.goal())
	case "cms_plugin":
		r.first(&f.Plugin, line(s.Inner(channelChild)))
		return
	case "logo":
		square := strings.EqualFold(s.Attr("type"), "square")
		url := r.url(r.scope.base, s.Inner(channelChild))
		if square {
			r.first(&f.SquareLogo, url)
		} else {
			r.first(&f.Logo, url)
		}
		return
	default:
		r.unknownTurbo(isTurboItem(local), "item")
		s.MarkRead()
	}
	s.Skip(channelChild)
}

// unknownTurbo warns of an element that Turbo RSS does not have, or not in this place.
func (r *reader) unknownTurbo(elsewhere bool, place string) {
	if elsewhere {
		r.here("misplaced-element", "the element of Turbo RSS has no meaning here and was left out; move it into the "+place)
		return
	}
	r.here("unknown-element", "the element is not part of Turbo RSS and was left out; check its name")
}

// isTurboItem reports whether an element belongs to an item, isTurboFeed whether it
// belongs to the channel.
func isTurboItem(local string) bool {
	switch local {
	case "content", "full-text", "related", "source", "topic", "extendedhtml", "genre", "official-comment":
		return true
	}
	return false
}

func isTurboFeed(local string) bool {
	return local == "analytics" || local == "adnetwork" || local == "cms_plugin" || local == "logo"
}

// turboCounter reads one counter and warns if it is incomplete.
func (r *reader) turboCounter() {
	s, f := &r.scan, &r.out.Feed
	c := courant.Counter{Type: s.Attr("type"), ID: s.Attr("id"), Params: s.Attr("params"), URL: r.url(r.scope.base, s.Attr("url"))}
	if len(f.Analytics) < maxList {
		f.Analytics = append(f.Analytics, c)
	} else {
		r.feedCuts.others++
	}
	whole := c.ID != ""
	switch strings.ToLower(c.Type) {
	case "liveinternet":
		whole = true
	case "custom":
		whole = c.URL != ""
	case "yandex", "google", "mailru", "rambler", "mediascope":
	default:
		whole = false
	}
	if !whole {
		r.here("bad-counter", "the counter has an unknown type, or lacks its id or url; write type and id, or type and url if the type is custom")
	}
}

// turboAds reads an advertising network and warns if it has no slot.
func (r *reader) turboAds() {
	s, f := &r.scan, &r.out.Feed
	a := courant.AdNetwork{Type: s.Attr("type"), ID: s.Attr("id"), Slot: s.Attr("turbo-ad-id")}
	if a.Slot == "" {
		r.here("ad-without-slot", "the advertising network has no turbo-ad-id, so it cannot be shown anywhere; add one and repeat it in the figure")
	}
	if a.Code = strings.TrimSpace(s.Inner(channelChild)); len(a.Code) > maxLine {
		a.Code = "" // part of a code is worthless
		r.here("too-long", "the code of the advertising network is longer than 4 KiB and was left out; shorten it")
	}
	if len(f.Ads) < maxList {
		f.Ads = append(f.Ads, a)
	} else {
		r.feedCuts.others++
	}
}

func (r *reader) goal() courant.Goal {
	s := &r.scan
	return courant.Goal{Type: s.Attr("type"), ID: s.Attr("id"), Name: line(s.Attr("name")), Key: s.Attr("turbo-goal-id")}
}

func (r *reader) addGoal(list []courant.Goal, g courant.Goal) []courant.Goal {
	if g == (courant.Goal{}) {
		return list
	}
	if len(list) >= maxList {
		r.cut.others++
		return list
	}
	return append(list, g)
}

// turboChild reads an item element of Turbo RSS or of the news format.
func (r *reader) turboChild(d *draft) {
	s := &r.scan
	r.turbo = r.turbo || s.Name.Space == "turbo" || s.Name.Local == "content"
	switch s.Name.Local {
	case "content":
		r.turboContent(d)
	case "full-text":
		r.offer(&d.content, r.piece(d, 2))
	case "related":
		r.turboRelated(d)
	case "source":
		r.first(&d.item.ReportURL, r.url(d.scope.base, s.Inner(itemChild)))
	case "topic":
		r.first(&d.item.ReportTitle, r.plain(s.Inner(itemChild)))
	case "goal":
		d.item.Goals = r.addGoal(d.item.Goals, r.goal())
		s.Skip(itemChild)
	case "extendedhtml", "genre", "official-comment":
		r.skip(itemChild) // changes nothing that is shown
	default:
		r.unknownTurbo(isTurboFeed(s.Name.Local), "channel")
		s.MarkRead()
		s.Skip(itemChild)
	}
}

// turboContent reads the page of an item, which has priority over every other text.
// The heading in its header may become the title; see headed.
func (r *reader) turboContent(d *draft) {
	p := r.piece(d, 5)
	html := p.html
	if strings.TrimSpace(html) == "" {
		return
	}
	if d.turbo {
		r.here("repeated-element", "the item has two turbo:content elements and the first one was used; put everything into one")
		return
	}
	d.turbo = true
	if once := unescaped(html); once != html {
		html = once
		r.here("escaped-twice", "tags in turbo:content are escaped twice and were read as tags; escape them once, or not at all inside CDATA")
	}
	heading, rest := heading(html)
	if heading != "" {
		d.heading = heading
		d.headless = rest
	}
	p.html, p.loose = html, false
	r.offer(&d.content, p)
}

// unescaped undoes a second escaping: of the whole page, or of paired tags for emphasis
// such as <b>. A page with pre or code elements and other tags is left alone.
func unescaped(html string) string {
	if !strings.Contains(html, "&lt;") {
		return html
	}
	if strings.IndexByte(html, '<') < 0 {
		if strings.Contains(html, "&lt;/") || strings.Contains(html, "&lt;br") || strings.Contains(html, "&lt;img") {
			return charref.String(html, false)
		}
		return html
	}
	if strings.Contains(html, "<pre") || strings.Contains(html, "<code") {
		return html
	}
	for _, name := range [...]string{"strong", "b", "em", "i", "u"} {
		begin, end := "&lt;"+name+"&gt;", "&lt;/"+name+"&gt;"
		if n := strings.Count(html, begin); n > 0 && n == strings.Count(html, end) && strings.Index(html, begin) < strings.Index(html, end) {
			html = strings.ReplaceAll(strings.ReplaceAll(html, begin, "<"+name+">"), end, "</"+name+">")
		}
	}
	return html
}

// heading returns the text of the h1 in the header of a page and the page without it.
func heading(html string) (text, rest string) {
	const window = 8 << 10
	head := html[:min(len(html), window)]
	inside := false
	for at := 0; ; at++ {
		next := strings.IndexByte(head[at:], '<')
		if next < 0 {
			return "", ""
		}
		at += next
		switch tag := head[at:]; {
		case beginsWith(tag, "<header"):
			inside = true
		case beginsWith(tag, "</header"):
			inside = false
		case beginsWith(tag, "<h1") && !inside:
			return "", ""
		case beginsWith(tag, "<h1"):
			begin, end := strings.IndexByte(tag, '>'), indexTag(tag, "</h1>")
			if begin < 0 || end < begin {
				return "", ""
			}
			return markup.Plain(tag[begin+1 : end]), html[:at] + html[at+end+len("</h1>"):]
		}
	}
}

// indexTag returns the offset of the first such tag, or -1.
func indexTag(s, tag string) int {
	for at := 0; ; at++ {
		next := strings.IndexByte(s[at:], '<')
		if next < 0 {
			return -1
		}
		if at += next; beginsWith(s[at:], tag) {
			return at
		}
	}
}

// beginsWith is strings.HasPrefix that ignores the case of ASCII.
func beginsWith(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// headed sets the title of a Turbo page to the heading if the item has none, and
// removes a heading that repeats the title.
func (d *draft) headed() {
	if d.heading == "" {
		return
	}
	it := &d.item
	if it.Title == "" {
		it.Title = d.heading
	}
	if strings.EqualFold(markup.Line(it.Title), d.heading) {
		d.content.html = d.headless
	}
}

// turboRelated reads the links to related pages.
func (r *reader) turboRelated(d *draft) {
	s := &r.scan
	if strings.EqualFold(s.Attr("type"), "infinity") {
		d.item.Endless = true
	}
	element := s.Raw
	s.Children(isItem, func() {
		if s.Kind() != xmlscan.Start {
			r.stray()
			return
		}
		if s.Name.Local != "link" {
			r.skipIn(element, isItem)
			return
		}
		l := courant.RelatedLink{URL: r.near(d, s.Attr("url")), Image: r.near(d, firstOf(s.Attr("img"), s.Attr("image")))}
		l.Title = r.plain(s.Inner(isItem))
		r.relate(d, l)
	})
}

// near resolves an address that may be relative to the page.
func (r *reader) near(d *draft, ref string) string {
	return resolve(firstOf(d.scope.base, d.item.Link, r.out.Feed.Link), ref)
}

// relate adds a related page.
func (r *reader) relate(d *draft, l courant.RelatedLink) {
	switch {
	case l.URL == "":
	case len(d.item.Related) >= maxList:
		r.cut.links++
	default:
		d.item.Related = append(d.item.Related, l)
	}
}

// metrics reads breadcrumbs, which Turbo RSS declares for analytics.
func (r *reader) metrics(d *draft) {
	s := &r.scan
	depth := s.Depth()
	for k := s.Next(); k != xmlscan.EOF; k = s.Next() {
		switch {
		case k == xmlscan.End && s.Depth() <= depth:
			return
		case k == xmlscan.Start && isItem(s.Name):
			s.Interrupt(depth)
			return
		case k == xmlscan.Start && s.Name.Local == "breadcrumb":
			r.crumb(d)
		}
	}
}

// crumb reads one breadcrumb.
func (r *reader) crumb(d *draft) {
	c := courant.Crumb{URL: r.near(d, r.scan.Attr("url")), Text: line(r.scan.Attr("text"))}
	switch {
	case c.Text == "":
	case len(d.item.Breadcrumbs) >= maxList:
		r.cut.others++
	default:
		d.item.Breadcrumbs = append(d.item.Breadcrumbs, c)
	}
}

// checkTurbo warns of missing parts and repeated links of a Turbo item.
func (r *reader) checkTurbo(d *draft) {
	it := &d.item
	switch {
	case it.Turbo == nil || !*it.Turbo:
	case it.Link == "":
		r.here("item-without-link", "the Turbo item has no link, which identifies its page, so that its page gets an address of its own; add the link of the page")
	case !d.turbo && d.content.html == "":
		r.here("turbo-without-content", "the Turbo item has no turbo:content, or an empty one, so its page shows the description; add the content")
	case d.turbo && d.heading == "":
		r.here("turbo-without-heading", "the Turbo page has no h1 in a header at its beginning; add one: it is the title if the item has no other")
	}
	if !r.turbo || it.Link == "" {
		return
	}
	if r.links == nil {
		r.links = map[string]bool{}
	}
	page, _, _ := strings.Cut(it.Link, "#")
	if r.links[page] {
		r.here("shared-link", "two Turbo items have the same address and the first one is used; give each page its own address")
	}
	r.links[page] = true
}

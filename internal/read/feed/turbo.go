package feed

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/charref"
	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// turboChannel reads what Turbo RSS, and the news format before it, say of a
// channel. Nothing of it is ever run.
func (r *reader) turboChannel(local string) {
	s, f := &r.scan, &r.out.Feed
	switch local {
	case "analytics":
		c := courant.Counter{Type: s.Attr("type"), ID: s.Attr("id"), Params: s.Attr("params"), URL: resolve(r.scope.base, s.Attr("url"))}
		if len(f.Analytics) < maxList {
			f.Analytics = append(f.Analytics, c)
		}
		r.turbo = true
	case "adnetwork":
		a := courant.AdNetwork{Type: s.Attr("type"), ID: s.Attr("id"), Slot: s.Attr("turbo-ad-id")}
		if a.Code = strings.TrimSpace(s.Inner(channelChild)); len(a.Code) > maxLine {
			a.Code = "" // no longer whole
		}
		if len(f.Ads) < maxList {
			f.Ads = append(f.Ads, a)
		}
		r.turbo = true
		return
	case "cms_plugin":
		f.Plugin = line(s.Inner(channelChild))
		r.turbo = true
		return
	case "logo":
		square := strings.EqualFold(s.Attr("type"), "square")
		url := resolve(r.scope.base, s.Inner(channelChild))
		if square {
			f.SquareLogo = firstOf(f.SquareLogo, url)
		} else {
			f.Logo = firstOf(f.Logo, url)
		}
		return
	default:
		r.unknownTurbo()
	}
	s.Skip(channelChild)
}

// unknownTurbo warns of an element that Turbo RSS does not have.
func (r *reader) unknownTurbo() {
	r.here("unknown-element", "an element is none of Turbo RSS; it was left out")
}

// turboChild reads what Turbo RSS and the news format add to an item.
func (r *reader) turboChild(d *draft) {
	s := &r.scan
	switch s.Name.Local {
	case "content":
		r.turbo, d.turbo = true, true
		r.turboContent(d, s.Inner(itemChild))
	case "full-text":
		html := s.Inner(itemChild)
		d.content.offer(html, r.ownBase(d), 2)
	case "related":
		r.turboRelated(d)
	case "source":
		d.item.ReportURL = d.address(s.Inner(itemChild))
	case "topic":
		d.item.ReportTitle = plain(s.Inner(itemChild))
	case "extendedhtml", "goal", "genre", "official-comment":
		s.Skip(itemChild) // changes nothing that is shown
	default:
		r.unknownTurbo()
		s.Skip(itemChild)
	}
}

// turboContent takes the page of an item, which beats every other text. The
// heading of its header is the title, which is not repeated.
func (r *reader) turboContent(d *draft, html string) {
	if strings.IndexByte(html, '<') < 0 && strings.Contains(html, "&lt;") {
		html = charref.String(html, false) // escaped twice
	}
	heading, rest := heading(html)
	if heading != "" {
		d.heading = heading
		d.headless = rest
	}
	d.content.offer(html, r.ownBase(d), 5)
}

// heading finds the h1 in the header of a page, and the page without it.
func heading(html string) (text, rest string) {
	const window = 8 << 10
	head := strings.ToLower(html[:min(len(html), window)])
	from := strings.Index(head, "<h1")
	if from < 0 || !strings.Contains(head, "<header") || strings.Index(head, "<header") > from {
		return "", ""
	}
	begin := strings.IndexByte(head[from:], '>')
	end := strings.Index(head[from:], "</h1>")
	if begin < 0 || end < begin || len(head) != len(html[:min(len(html), window)]) {
		return "", ""
	}
	return plain(html[from+begin+1 : from+end]), html[:from] + html[from+end+len("</h1>"):]
}

// headed settles the title of a Turbo page: the item's own one, else the heading;
// a heading that repeats it goes.
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

// turboRelated reads the pages that a reader may go on to.
func (r *reader) turboRelated(d *draft) {
	s := &r.scan
	if strings.EqualFold(s.Attr("type"), "infinity") {
		d.item.Endless = true
	}
	s.Children(isItem, func() {
		if s.Kind() != xmlscan.Start {
			return
		}
		if s.Name.Local != "link" {
			s.Skip(isItem)
			return
		}
		l := courant.RelatedLink{URL: d.address(s.Attr("url")), Image: d.address(firstOf(s.Attr("img"), s.Attr("image")))}
		l.Title = plain(s.Inner(isItem))
		d.relate(l)
	})
}

// relate adds a related page.
func (d *draft) relate(l courant.RelatedLink) {
	if l.URL != "" && len(d.item.Related) < maxList {
		d.item.Related = append(d.item.Related, l)
	}
}

// metrics reads the breadcrumbs that analytics are told of.
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
			c := courant.Crumb{URL: d.address(s.Attr("url")), Text: line(s.Attr("text"))}
			if c.Text != "" && len(d.item.Breadcrumbs) < maxList {
				d.item.Breadcrumbs = append(d.item.Breadcrumbs, c)
			}
		}
	}
}

// checkTurbo warns of what makes a Turbo item useless.
func (r *reader) checkTurbo(d *draft) {
	it := &d.item
	switch {
	case it.Turbo == nil || !*it.Turbo:
	case it.Link == "":
		r.here("item-without-link", "a Turbo item has no link, by which its page is known; it was left out")
	case !d.turbo && d.content.html == "":
		r.here("turbo-without-content", "a Turbo item has no turbo:content; its page shows the description")
	}
	if !r.turbo || it.Link == "" {
		return
	}
	if r.links == nil {
		r.links = map[string]bool{}
	}
	page, _, _ := strings.Cut(it.Link, "#")
	if r.links[page] {
		r.here("shared-link", "two items have the same link; a page has one address, so that the first one counts")
	}
	r.links[page] = true
}

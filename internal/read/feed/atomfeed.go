package feed

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// feedElement reads an Atom element about the feed itself; RSS channels use them too.
func (r *reader) feedElement() {
	s, f := &r.scan, &r.out.Feed
	switch s.Name.Local {
	case "title":
		r.first(&f.Title, r.atomText())
	case "subtitle", "tagline":
		r.first(&f.Description, r.atomNote(r.inherit(r.scope).base))
	case "link":
		r.feedLink()
	case "updated", "modified":
		r.channelDate(false)
	case "author":
		if p := r.atomPerson(r.scope); p != (courant.Person{}) {
			f.Authors = r.addPerson(f.Authors, p)
		}
	case "category":
		r.atomCategory(&f.Categories)
	case "rights", "copyright":
		r.first(&f.Rights, r.atomNote(r.inherit(r.scope).base))
	case "logo":
		r.feedPicture(r.url(r.scope.base, s.Inner(atomStop)), true)
	case "icon":
		r.feedPicture(r.url(r.scope.base, s.Inner(atomStop)), false)
	case "generator":
		r.first(&f.Generator, line(s.Inner(atomStop)))
	default:
		r.skip(isEntry)
	}
}

// feedPicture sets the picture of the feed. A better one, such as a logo, replaces
// another; the element of the other is named if it is known.
func (r *reader) feedPicture(url string, better bool) {
	f := &r.out.Feed
	switch {
	case url == "":
	case f.Image == "" || better && !r.logo:
		if f.Image != "" && f.Image != url {
			r.ignore(r.imageName, "", notNeeded)
		}
		f.Image, r.imageName, r.logo = url, r.scan.Raw, better
	case url != f.Image:
		r.unused()
	}
}

// feedLink reads a link of a feed.
func (r *reader) feedLink() {
	s, f := &r.scan, &r.out.Feed
	rel := r.relation()
	switch rel {
	case "", "alternate", "self", "next", "prev-archive", "hub":
	default:
		r.skipLink(rel)
		return
	}
	kind := strings.ToLower(s.Attr("type"))
	base := r.inherit(r.scope).base
	ref, given := s.LookupAttr("href")
	if text := strings.TrimSpace(s.Inner(atomStop)); !given {
		ref = text // as in RSS
	} else if text != "" && text != ref {
		r.ignore(s.Raw+"/text()", "", notNeeded)
	}
	href := r.url(base, ref)
	if given && ref == "" {
		href = base // the document itself
	}
	if href == "" {
		return
	}
	switch rel {
	case "", "alternate":
		old := f.Link
		if f.Link == "" && !isFeedType(kind) || kind == "text/html" && r.feedLinkKind != kind {
			f.Link, r.feedLinkKind = strings.Clone(href), kind
		}
		if old != "" && old != href || f.Link == "" {
			r.ignore(s.Raw+`[@rel="alternate"]`, "", notNeeded)
		}
		r.assumeBase(f.Link)
	case "self":
		r.first(&f.Self, strings.Clone(href))
		r.assumeBase(f.Self)
	case "next", "prev-archive": // older entries, as in RFC 5005
		r.first(&f.Next, strings.Clone(href))
	case "hub":
		if len(f.Hubs) < maxList {
			f.Hubs = append(f.Hubs, strings.Clone(href))
		} else {
			r.feedCuts.links++
		}
	}
}

// atomPerson reads a person construct inside a scope.
func (r *reader) atomPerson(outer scope) courant.Person {
	s, element := &r.scan, r.scan.Raw
	base := r.inherit(outer).base
	var p courant.Person
	text := ""
	s.Children(atomStop, func() {
		switch {
		case s.Kind() == xmlscan.Text:
			text += s.Text[:min(len(s.Text), maxLine-min(len(text), maxLine))]
		case s.Name.Local == "name":
			r.first(&p.Name, line(s.Inner(atomStop)))
		case s.Name.Local == "email":
			r.first(&p.Email, strings.TrimPrefix(line(s.Inner(atomStop)), "mailto:"))
		case s.Name.Local == "uri" || s.Name.Local == "url" || s.Name.Local == "homepage":
			r.personLink(&p, base, s.Inner(atomStop))
		default:
			r.skipIn(element, atomStop)
		}
	})
	if text = strings.TrimSpace(text); text != "" && p != (courant.Person{}) {
		r.ignore(element, "", strayText)
	}
	return r.orText(p, text)
}

// personLink reads the address of a person's page, or a mail address in its place.
func (r *reader) personLink(p *courant.Person, base, text string) {
	if mail, ok := strings.CutPrefix(strings.TrimSpace(text), "mailto:"); ok && isMail(mail) {
		r.first(&p.Email, mail)
		return
	}
	r.first(&p.URL, r.url(base, text))
}

// orText completes a person from text that is there instead of elements.
func (r *reader) orText(p courant.Person, text string) courant.Person {
	if p == (courant.Person{}) {
		p, _ = r.person(text)
	}
	if q, ok := r.person(p.Name); ok && p.Email == "" {
		p.Name, p.Email = firstOf(q.Name, p.Name), q.Email
	}
	return p
}

// atomSource reads the feed that an entry was copied from. Its authors and rights
// apply if the entry has none.
func (r *reader) atomSource(d *draft) {
	s, element := &r.scan, r.scan.Raw
	s.Children(isEntry, func() {
		switch {
		case s.Kind() != xmlscan.Start:
			r.stray()
		case s.Name.Local == "author":
			d.author, d.authorName = r.addPerson(d.author, r.atomPerson(d.scope)), element+"/author"
		case s.Name.Local == "rights":
			r.spare(&d.rights, r.atomNote(r.inherit(d.scope).base))
		default:
			r.skipIn(element, isEntry)
		}
	})
}

// tombstone reads at:deleted-entry (RFC 6721).
func (r *reader) tombstone() {
	s := &r.scan
	d := r.begin(r.inherit(r.scope))
	d.item.ID, d.item.Withdrawn = strings.TrimSpace(s.Attr("ref")), true
	r.setDate(&d.item.Updated, s.Attr("when"))
	s.Children(isEntry, func() {
		switch {
		case s.Kind() != xmlscan.Start:
		case s.Name.Local == "link":
			r.atomLink(d)
		default:
			r.skipIn("deleted-entry", isEntry)
		}
	})
	if d.item.ID != "" && !r.full() {
		r.add(d)
	}
}

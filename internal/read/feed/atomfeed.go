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
		f.Title = firstOf(f.Title, r.atomText())
	case "subtitle", "tagline":
		f.Description = firstOf(f.Description, r.atomNote(r.inherit(r.scope).base))
	case "link":
		r.feedLink()
	case "updated", "modified":
		r.setDate(&f.Updated, s.Inner(atomStop))
	case "author":
		if p := r.atomPerson(r.scope); p != (courant.Person{}) {
			f.Authors = addPerson(f.Authors, p)
		}
	case "category":
		r.atomCategory(&f.Categories)
	case "rights", "copyright":
		f.Rights = firstOf(f.Rights, r.atomNote(r.inherit(r.scope).base))
	case "logo":
		f.Image = firstOf(resolve(r.scope.base, s.Inner(atomStop)), f.Image)
	case "icon":
		f.Image = firstOf(f.Image, resolve(r.scope.base, s.Inner(atomStop)))
	default:
		s.Skip(isEntry)
	}
}

// feedLink reads a link of a feed.
func (r *reader) feedLink() {
	s, f := &r.scan, &r.out.Feed
	rel := strings.ToLower(strings.TrimSpace(s.Attr("rel")))
	kind := strings.ToLower(s.Attr("type"))
	href := resolve(r.inherit(r.scope).base, s.Attr("href"))
	s.Skip(atomStop)
	if href == "" {
		return
	}
	switch rel {
	case "", "alternate":
		if f.Link == "" && !isFeedType(kind) || kind == "text/html" && r.feedLinkKind != kind {
			f.Link, r.feedLinkKind = strings.Clone(href), kind
		}
	case "self":
		f.Self = firstOf(f.Self, strings.Clone(href))
	case "next", "prev-archive": // older entries, as in RFC 5005
		f.Next = firstOf(f.Next, strings.Clone(href))
	case "hub":
		if len(f.Hubs) < maxList {
			f.Hubs = append(f.Hubs, strings.Clone(href))
		}
	}
}

// atomPerson reads a person construct inside a scope.
func (r *reader) atomPerson(outer scope) courant.Person {
	s := &r.scan
	base := r.inherit(outer).base
	var p courant.Person
	text := ""
	s.Children(atomStop, func() {
		switch {
		case s.Kind() == xmlscan.Text:
			text += s.Text[:min(len(s.Text), maxLine-min(len(text), maxLine))]
		case s.Name.Local == "name":
			p.Name = firstOf(p.Name, line(s.Inner(atomStop)))
		case s.Name.Local == "email":
			p.Email = firstOf(p.Email, strings.TrimPrefix(line(s.Inner(atomStop)), "mailto:"))
		case s.Name.Local == "uri" || s.Name.Local == "url" || s.Name.Local == "homepage":
			p.URL = firstOf(p.URL, resolve(base, s.Inner(atomStop)))
		default:
			s.Skip(atomStop)
		}
	})
	return orText(p, text)
}

// orText completes a person from text that is there instead of elements.
func orText(p courant.Person, text string) courant.Person {
	if p == (courant.Person{}) {
		p, _ = person(text)
	}
	if q, ok := person(p.Name); ok && p.Email == "" {
		p.Name, p.Email = firstOf(q.Name, p.Name), q.Email
	}
	return p
}

// atomSource reads the feed that an entry was copied from. Its authors and rights
// apply if the entry has none.
func (r *reader) atomSource(d *draft) {
	s := &r.scan
	s.Children(isEntry, func() {
		switch {
		case s.Kind() != xmlscan.Start:
		case s.Name.Local == "author":
			d.author = addPerson(d.author, r.atomPerson(d.scope))
		case s.Name.Local == "rights":
			d.rights = firstOf(d.rights, r.atomNote(r.inherit(d.scope).base))
		default:
			s.Skip(isEntry)
		}
	})
}

// tombstone reads at:deleted-entry (RFC 6721).
func (r *reader) tombstone() {
	s := &r.scan
	d := draft{scope: r.inherit(r.scope)}
	d.item.ID, d.item.Withdrawn = strings.TrimSpace(s.Attr("ref")), true
	r.setDate(&d.item.Updated, s.Attr("when"))
	s.Children(isEntry, func() {
		switch {
		case s.Kind() != xmlscan.Start:
		case s.Name.Local == "link":
			r.atomLink(&d)
		default:
			s.Skip(isEntry)
		}
	})
	if d.item.ID != "" && !r.full() {
		r.add(&d)
	}
}

package feed

import (
	"strings"

	"github.com/courant-platform/courant"
)

// The limits in bytes of texts that lists of pages show: a list holds many pages.
const (
	maxName = 1024 // of a title, a name, a category
	maxTag  = 64   // of a language
	maxMail = 254
)

// identifier shortens an id to courant.MaxID bytes.
func (r *reader) identifier(id string) string {
	if id = strings.TrimSpace(id); len(id) <= courant.MaxID {
		return line(id)
	}
	r.here("too-long", "the id is longer than 512 bytes and was shortened to its beginning and a digest; shorten it")
	return line(courant.ShortID(id))
}

// boundItem shortens titles, names and other short texts of an item.
func (r *reader) boundItem(it *courant.Item) {
	b := bounds{}
	b.cut(&it.Title, &it.ReportTitle)
	b.drop(maxTag, &it.Language)
	b.people(it.Authors)
	b.names(it.Categories)
	for i := range it.Enclosures {
		b.drop(maxName, &it.Enclosures[i].Type)
		b.cut(&it.Enclosures[i].Title)
	}
	for i := range it.Related {
		b.cut(&it.Related[i].Title)
	}
	for i := range it.Breadcrumbs {
		b.cut(&it.Breadcrumbs[i].Text)
	}
	b.goals(it.Goals)
	if b.met {
		r.here("too-long", "a title, name, category or another short text of the item is longer than the limit; its end, or all of it, was left out")
	}
}

// boundFeed does the same for a feed.
func (r *reader) boundFeed(f *courant.Feed) {
	b := bounds{}
	b.cut(&f.Title, &f.Plugin, &f.Generator)
	b.drop(maxTag, &f.Language)
	b.people(f.Authors)
	b.names(f.Categories)
	b.goals(f.Goals)
	for i := range f.Analytics {
		c := &f.Analytics[i]
		b.drop(maxLine, &c.Type, &c.ID, &c.Params)
	}
	for i := range f.Ads {
		a := &f.Ads[i]
		b.drop(maxLine, &a.Type, &a.ID, &a.Slot)
	}
	if b.met {
		r.here("too-long", "a title, name, category or another short text of the feed is longer than the limit; its end, or all of it, was left out")
	}
}

// bounds shortens texts and records whether any was too long.
type bounds struct{ met bool }

// cut removes the end of names that are too long.
func (b *bounds) cut(names ...*string) {
	for _, s := range names {
		if len(*s) > maxName {
			*s, b.met = strings.TrimSpace(strings.ToValidUTF8((*s)[:maxName], "")), true
		}
	}
}

// drop removes codes that are too long, because part of a code is worthless.
func (b *bounds) drop(most int, codes ...*string) {
	for _, s := range codes {
		if len(*s) > most {
			*s, b.met = "", true
		}
	}
}

func (b *bounds) names(list []string) {
	for i := range list {
		b.cut(&list[i])
	}
}

func (b *bounds) people(list []courant.Person) {
	for i := range list {
		b.cut(&list[i].Name)
		b.drop(maxMail, &list[i].Email)
	}
}

func (b *bounds) goals(list []courant.Goal) {
	for i := range list {
		g := &list[i]
		b.cut(&g.Name)
		b.drop(maxName, &g.Type, &g.ID, &g.Key)
	}
}

package feed

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/courant-platform/courant"
)

// hash returns the hash of an item's content; see the package comment.
func (h *hasher) hash(it *courant.Item) string {
	h.buf = slices.Grow(h.buf[:0], len(it.Summary)+len(it.Content)+512)
	h.number(Version)
	h.text(it.Title, stable(it.Link))
	h.html(it.Summary)
	h.html(it.Content)
	h.number(len(it.Authors))
	for _, a := range it.Authors {
		h.text(a.Name, a.Email, a.URL)
	}
	h.set(len(it.Categories), func(i int) { h.text(it.Categories[i]) })
	h.set(len(it.Enclosures), func(i int) {
		e := &it.Enclosures[i]
		h.text(stable(e.URL), e.Type)
		h.number(int(e.Length))
		if e.Title != "" || e.Duration != 0 {
			h.text(e.Title)
			h.number(int(e.Duration))
		}
	})
	h.set(len(it.Images), func(i int) { h.text(stable(it.Images[i])) })
	h.set(len(it.Videos), func(i int) { h.text(stable(it.Videos[i])) })
	if it.Published.IsZero() {
		h.text("")
	} else {
		h.text(it.Published.UTC().Format(time.RFC3339Nano))
	}
	if it.Withdrawn {
		h.number(1)
	}
	sum := sha256.Sum256(h.buf)
	return hex.EncodeToString(sum[:16])
}

// hasher collects fields, each prefixed with its length. It can be reused.
type hasher struct{ buf []byte }

// number appends a number as a varint.
func (h *hasher) number(n int) {
	for u := uint64(n); ; u >>= 7 {
		if u < 0x80 {
			h.buf = append(h.buf, byte(u))
			return
		}
		h.buf = append(h.buf, byte(u)|0x80)
	}
}

// text appends strings with their lengths.
func (h *hasher) text(fields ...string) {
	for _, f := range fields {
		h.number(len(f))
		h.buf = append(h.buf, f...)
	}
}

// set appends n elements independently of their order: as the sum of the digests of
// what f appends for each.
func (h *hasher) set(n int, f func(i int)) {
	start, sum := len(h.buf), uint64(0)
	for i := range n {
		f(i)
		digest := uint64(14695981039346656037) // FNV-1a
		for _, c := range h.buf[start:] {
			digest = (digest ^ uint64(c)) * 1099511628211
		}
		sum += digest ^ digest>>32
		h.buf = h.buf[:start]
	}
	h.number(n)
	h.buf = binary.LittleEndian.AppendUint64(h.buf, sum)
}

// keep copies strings that may share the memory of the source, so that an item does
// not keep the whole feed in memory. It replaces nil lists by empty ones.
func keep(it *courant.Item) {
	for _, s := range [...]*string{&it.ID, &it.Link, &it.Title, &it.Language, &it.Base, &it.Rights, &it.Comments, &it.ReportURL, &it.ReportTitle} {
		*s = strings.Clone(*s)
	}
	keepPeople(&it.Authors)
	if it.Enclosures == nil {
		it.Enclosures = []courant.Enclosure{}
	}
	for i, e := range it.Enclosures {
		f := &it.Enclosures[i]
		f.URL, f.Type, f.Title = strings.Clone(e.URL), strings.Clone(e.Type), strings.Clone(e.Title)
	}
	keepLists(&it.Categories, &it.Images, &it.Videos)
	if it.Related == nil {
		it.Related = []courant.RelatedLink{}
	}
	for i, l := range it.Related {
		it.Related[i] = courant.RelatedLink{URL: strings.Clone(l.URL), Title: strings.Clone(l.Title), Image: strings.Clone(l.Image)}
	}
	keepGoals(it.Goals)
	for i, c := range it.Breadcrumbs {
		it.Breadcrumbs[i] = courant.Crumb{URL: strings.Clone(c.URL), Text: strings.Clone(c.Text)}
	}
}

// keepFeed is keep for a feed.
func keepFeed(f *courant.Feed) {
	for _, s := range [...]*string{&f.Title, &f.Link, &f.Description, &f.Language, &f.Rights, &f.Self, &f.Next, &f.Image, &f.Generator, &f.Logo, &f.SquareLogo, &f.Plugin} {
		*s = strings.Clone(*s)
	}
	keepPeople(&f.Authors)
	keepLists(&f.Categories, &f.Hubs)
	for i, c := range f.Analytics {
		f.Analytics[i] = courant.Counter{Type: strings.Clone(c.Type), ID: strings.Clone(c.ID), Params: strings.Clone(c.Params), URL: strings.Clone(c.URL)}
	}
	keepGoals(f.Goals)
	for i, a := range f.Ads {
		f.Ads[i] = courant.AdNetwork{Type: strings.Clone(a.Type), ID: strings.Clone(a.ID), Slot: strings.Clone(a.Slot), Code: strings.Clone(a.Code)}
	}
}

// keepGoals copies the strings of a list.
func keepGoals(list []courant.Goal) {
	for i, g := range list {
		list[i] = courant.Goal{Type: strings.Clone(g.Type), ID: strings.Clone(g.ID), Name: strings.Clone(g.Name), Key: strings.Clone(g.Key)}
	}
}

// keepPeople copies the strings of a list.
func keepPeople(list *[]courant.Person) {
	if *list == nil {
		*list = []courant.Person{}
	}
	for i, p := range *list {
		(*list)[i] = courant.Person{Name: strings.Clone(p.Name), Email: strings.Clone(p.Email), URL: strings.Clone(p.URL)}
	}
}

// keepLists copies the strings of lists.
func keepLists(lists ...*[]string) {
	for _, l := range lists {
		if *l == nil {
			*l = []string{}
		}
		for i, s := range *l {
			(*l)[i] = strings.Clone(s)
		}
	}
}

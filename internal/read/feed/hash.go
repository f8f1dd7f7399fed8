package feed

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/courant-platform/courant"
)

// hash returns the hash of an item's content; see the package comment.
func (h *hasher) hash(it *courant.Item) string {
	h.buf = h.buf[:0]
	h.number(Version)
	h.text(it.Title, it.Link, it.Summary, it.Content)
	h.number(len(it.Authors))
	for _, a := range it.Authors {
		h.text(a.Name, a.Email, a.URL)
	}
	h.list(it.Categories)
	h.number(len(it.Enclosures))
	for _, e := range it.Enclosures {
		h.text(e.URL, e.Type)
		h.number(int(e.Length))
	}
	h.list(it.Images)
	h.list(it.Videos)
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

// hasher collects fields, each with its length before it; it may be used again.
type hasher struct{ buf []byte }

// number appends a number in the form of varints.
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

// list appends a list with its length.
func (h *hasher) list(l []string) {
	h.number(len(l))
	h.text(l...)
}

// keep copies the strings of an item that may be parts of the source, so that
// an item does not hold the whole feed in memory. No list stays nil.
func keep(it *courant.Item) {
	for _, s := range [...]*string{&it.ID, &it.Link, &it.Title, &it.Language, &it.Base, &it.Rights} {
		*s = strings.Clone(*s)
	}
	keepPeople(&it.Authors)
	if it.Enclosures == nil {
		it.Enclosures = []courant.Enclosure{}
	}
	for i, e := range it.Enclosures {
		it.Enclosures[i].URL, it.Enclosures[i].Type = strings.Clone(e.URL), strings.Clone(e.Type)
	}
	keepLists(&it.Categories, &it.Images, &it.Videos, &it.Related)
}

// keepFeed does the same for a feed.
func keepFeed(f *courant.Feed) {
	for _, s := range [...]*string{&f.Title, &f.Link, &f.Description, &f.Language, &f.Rights, &f.Self, &f.Image} {
		*s = strings.Clone(*s)
	}
	keepPeople(&f.Authors)
	keepLists(&f.Categories, &f.Hubs)
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

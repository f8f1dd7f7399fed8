package feed

import (
	"strconv"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// maxIgnored is the limit of the names that one feed gets as ignored.
const maxIgnored = 128

// The reasons for which something is ignored.
const (
	noUse        = "Courant has no use for the element, which was left out with its contents"
	noUseAttr    = "Courant has no use for the attribute, which was left out"
	noUseName    = "Courant has no use for the field, which was left out with its contents"
	notNeeded    = "another value with the same meaning was used and this one was left out"
	notPlausible = "the value is not one that the format has, and was left out"
	strayText    = "text beside the elements has no meaning here and was left out; put it into an element"
	inContent    = "the element cannot be shown safely and was left out of the text with its contents"
)

// ignored collects the names of what a feed says and the reading does not.
type ignored struct {
	names  map[[2]string]bool // element and attribute
	faults []fault
	others int // further names
}

// skip names the current element as ignored and skips it.
func (r *reader) skip(stop func(xmlscan.Name) bool) {
	r.ignore(r.scan.Raw, "", noUse)
	r.scan.MarkRead()
	r.scan.Skip(stop)
}

// skipIn is skip for a child whose name alone would not be clear.
func (r *reader) skipIn(parent string, stop func(xmlscan.Name) bool) {
	r.ignore(parent+"/"+r.scan.Raw, "", noUse)
	r.scan.MarkRead()
	r.scan.Skip(stop)
}

// ignoreAttr names an attribute of the current element as ignored.
func (r *reader) ignoreAttr(attr string) { r.ignore(r.scan.Raw, attr, noUseAttr) }

// unused names the current element because another one is used.
func (r *reader) unused() { r.ignore(r.scan.Raw, "", notNeeded) }

// ignore names an element or, if attr is not empty, an attribute as ignored, once.
func (r *reader) ignore(element, attr, why string) {
	if element == "" {
		return
	}
	g := &r.ignored
	key := [2]string{element, attr}
	if g.names[key] {
		return
	}
	if len(g.faults) >= maxIgnored {
		g.others++
		return
	}
	if g.names == nil {
		g.names = make(map[[2]string]bool)
	}
	g.names[key] = true
	name := bounded(element)
	if attr != "" {
		name += "/@" + bounded(attr)
	}
	g.faults = append(g.faults, fault{courant.Warning{Code: "ignored", Element: strings.Clone(name), Text: why, Level: courant.LevelInfo}, r.place()})
}

// bounded shortens a name that is shown in a warning.
func bounded(name string) string {
	if len(name) <= maxTag {
		return name
	}
	return strings.ToValidUTF8(name[:maxTag], "")
}

// place is the offset of the current token.
func (r *reader) place() int { return len(r.src) - len(r.scan.Source) + r.scan.Offset }

// all returns what was ignored in the order of the document.
func (g *ignored) all() []fault {
	if g.others > 0 {
		g.faults[len(g.faults)-1].Text += "; further elements and attributes, met " + strconv.Itoa(g.others) + " times, were left out without their names"
	}
	return g.faults
}

// first sets dst to a value of the current element. A different value of an earlier
// element stays, and the element is named as ignored.
func (r *reader) first(dst *string, value string) {
	switch {
	case *dst == "":
		*dst = value
	case value != "" && value != *dst:
		r.unused()
	}
}

// spare is a value that is used only if there is no better one, and the name of the
// element that it comes from.
type spare struct{ value, name string }

// spare keeps the first value of its kind.
func (r *reader) spare(s *spare, value string) {
	switch {
	case s.value == "" && value != "":
		*s = spare{value, r.scan.Raw}
	case value != "" && value != s.value:
		r.unused()
	}
}

// or returns the value in use, which is that of the spare if it is empty. It names the
// element of the spare if it is not used.
func (r *reader) or(used string, s spare) string {
	switch {
	case used == "":
		return s.value
	case s.value != "" && s.value != used:
		r.ignore(s.name, "", notNeeded)
	}
	return used
}

// cuts counts the values beyond the limits of lists.
type cuts struct{ authors, categories, files, pictures, videos, links, others int }

// report warns of the values that were left out of an item or, if whose says so, of the
// feed.
func (c cuts) report(r *reader, whose string) {
	if c == (cuts{}) {
		return
	}
	var parts []string
	for _, p := range [...]struct {
		n, most int
		name    string
	}{
		{c.authors, maxList, "authors"}, {c.categories, maxList, "categories"}, {c.files, maxList, "enclosures"}, {c.pictures, maxImages, "pictures"},
		{c.videos, maxImages, "videos"}, {c.links, maxList, "links"}, {c.others, maxList, "other elements"},
	} {
		if p.n > 0 {
			parts = append(parts, strconv.Itoa(p.n)+" "+p.name+" after the first "+strconv.Itoa(p.most))
		}
	}
	r.warn("too-many", r.place(), whose, "the "+whose+" has too many values: "+strings.Join(parts, ", ")+" were left out; send fewer")
}

package catalog

import (
	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// document finds the root element and reads what it holds.
func (r *reader) document() error {
	var read func() error
	found, junk := r.scan.Root(func(xmlscan.Name) bool {
		read = r.rootReader()
		return read != nil
	})
	if !found {
		return courant.Errorf(courant.Invalid, "not_a_feed: the document is not a catalogue: it has no element yml_catalog, rss or feed")
	}
	if junk {
		r.out.WellFormed = false
		r.warn("junk-before", 0, "", "there is other data before the catalogue, which was skipped; remove it, also blank lines before the XML declaration")
	}
	return read()
}

// rootReader returns the reader for a document whose root is the current element, nil if
// it is none.
func (r *reader) rootReader() func() error {
	switch name := r.scan.Name; {
	case name.Local == "yml_catalog" || name.Local == "shop" || name.Local == "offers":
		r.out.Format = "yml"
		return r.yml
	case name.Local == "rss" || name.Local == "feed" || name.Local == "rdf" || name.Local == "channel" || isItem(name):
		r.out.Format, r.merchant = "merchant", true
		return r.items
	}
	return nil
}

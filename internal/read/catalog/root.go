package catalog

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// document finds the root element and reads what it holds.
func (r *reader) document() error {
	s := &r.scan
	report, junk := s.Report, false
	var faults []xmlscan.Fault
	s.Report = func(f xmlscan.Fault) {
		if len(faults) < maxPerCode {
			faults = append(faults, f)
		}
	}
	for {
		switch s.Next() {
		case xmlscan.EOF:
			return courant.Errorf(courant.Invalid, "not_a_feed: the document is not a catalogue: it has no element yml_catalog, rss or feed")
		case xmlscan.Text:
			junk = junk || !isBlank(s.Text)
		case xmlscan.Start:
			read := r.rootReader()
			if read == nil {
				junk = true
				s.CloseTo(0) // junk has tags without an end
				continue
			}
			if junk || strings.LastIndex(s.Source[:s.Offset], "<?xml ") > 0 {
				r.junk()
				faults = nil
			}
			s.Report = report
			for _, f := range faults {
				report(f)
			}
			return read()
		}
	}
}

// junk warns of what stands before the current root element and begins the document
// there.
func (r *reader) junk() {
	r.out.WellFormed = false
	r.warn("junk-before", 0, "", "there is other data before the catalogue, which was skipped; remove it, also blank lines before the XML declaration")
	r.scan.Unread()
	r.scan.CloseTo(0)
	r.scan.Next()
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

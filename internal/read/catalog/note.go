package catalog

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/charref"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// maxNames is how many names of ignored and of unknown elements a reading tells.
const maxNames = 200

const maxNameLength = 64 // of a name in a note, in bytes

// once reports whether a name comes for the first time. It is false for all names beyond
// maxNames.
func (r *reader) once(name string) bool {
	if r.told[name] {
		return false
	}
	if len(r.told) >= maxNames {
		r.untold = true
		return false
	}
	if r.told == nil {
		r.told = map[string]bool{}
	}
	r.told[strings.Clone(name)] = true
	return true
}

// moreNames is the note on the names beyond maxNames.
var moreNames = courant.Warning{Code: "ignored", Level: courant.LevelInfo, Line: 1, Column: 1,
	Text: "the document has more names that are not known or of no use than the 200 that are told; use fewer names"}

// note says once for each name that an element or attribute is of no use; %s in the text
// is its name.
func (r *reader) note(name string, offset int, text string) {
	if !r.once(name) {
		return
	}
	name = strings.ToValidUTF8(strings.Clone(name[:min(len(name), maxNameLength)]), "")
	line, column := r.pieces.Position(offset)
	r.notes = append(r.notes, courant.Warning{Code: "ignored", Level: courant.LevelInfo, Line: line, Column: column,
		Element: name, Text: strings.ReplaceAll(text, "%s", name)})
}

// ignore skips the rest of the current element and notes its name if it, or an element
// inside it, has a value.
func (r *reader) ignore() {
	s, stop := &r.scan, r.stop()
	offset, raw, depth := s.Offset, s.Raw, s.Depth()
	value := hasValue(s.Attrs)
	for open := true; open; {
		switch s.Next() {
		case xmlscan.EOF:
			open = false
		case xmlscan.End:
			open = s.Depth() > depth
		case xmlscan.Start:
			if open = !stop(s.Name); !open {
				s.Interrupt(depth)
			}
			value = value || hasValue(s.Attrs)
		case xmlscan.Text:
			value = value || !isBlank(s.Text)
		}
	}
	if value {
		r.note(raw, offset, ignoredElement)
	}
}

// stray notes text between elements; around is the name of the element around it.
func (r *reader) stray(around string) {
	if !isBlank(r.scan.Text) {
		r.note(around, r.scan.Offset, "Courant has no use for text between the elements of %s and ignores it")
	}
}

// hasValue reports whether an attribute has a value that is not about syntax.
func hasValue(attrs []xmlscan.Attr) bool {
	for i := range attrs {
		if attrs[i].Value != "" && !isSyntax(attrs[i].Name) {
			return true
		}
	}
	return false
}

const (
	ignoredElement   = "Courant has no use for the element %s, nor for what is inside it, and ignores it"
	ignoredAttribute = "Courant has no use for the attribute %s and ignores it"
)

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// attributes notes the attributes of the current start tag that are not read.
func (r *reader) attributes() {
	s := &r.scan
	for i := range s.Attrs {
		a := &s.Attrs[i]
		if !isRead(s.Name.Local, a.Name) && a.Value != "" && !isSyntax(a.Name) && !isRead(s.Name.Local, strings.ToLower(a.Name)) {
			r.note(a.Name, s.Offset, ignoredAttribute)
		}
	}
}

// isSyntax reports whether an attribute says how the document is written.
func isSyntax(name string) bool {
	return strings.HasPrefix(name, "xmlns") || strings.HasPrefix(name, "xml:") || strings.HasPrefix(name, "xsi:") || strings.HasPrefix(name, "rdf:")
}

// isRead reports whether an attribute of an element is read. Both are in lower case.
func isRead(element, attr string) bool {
	switch element {
	case "param":
		return attr == "name" || attr == "unit"
	case "offer":
		return attr == "id" || attr == "type" || attr == "available" || attr == "group_id"
	case "category":
		return attr == "id" || attr == "parentid" || attr == "term" || attr == "label"
	case "price", "oldprice", "sale_price", "discount-price":
		return attr == "from" || attr == "value" || attr == "currency" || attr == "currencyid"
	case "age":
		return attr == "unit"
	case "currency":
		return attr == "id" || attr == "rate" || attr == "plus"
	case "option":
		return attr == "cost" || attr == "days" || attr == "order-before"
	case "outlet":
		return attr == "id" || attr == "instock" || attr == "booking"
	case "set", "gift":
		return attr == "id"
	case "promo":
		return attr == "id" || attr == "type"
	case "discount":
		return attr == "unit" || attr == "currency"
	case "product":
		return attr == "offer-id" || attr == "category-id"
	case "promo-gift":
		return attr == "offer-id" || attr == "gift-id"
	}
	return isReadOutside(element, attr)
}

// isReadOutside is isRead for the elements of feeds and for those around the offers.
func isReadOutside(element, attr string) bool {
	switch element {
	case "condition", "offers":
		return attr == "type"
	case "yml_catalog":
		return attr == "date"
	case "rss", "feed":
		return attr == "version" || attr == "lang"
	case "link":
		return attr == "href" || attr == "rel" || attr == "type"
	case "guid":
		return attr == "ispermalink"
	case "title", "summary", "content", "subtitle":
		return attr == "type"
	case "enclosure":
		return attr == "url" || attr == "type" || attr == "length"
	}
	return false
}

// unknown keeps the text of an element that is not known in this place as a detail, and
// that of the elements inside it.
func (r *reader) unknown(details *[]courant.Param) {
	s, stop := &r.scan, r.stop()
	name, depth := strings.Clone(s.Raw[strings.IndexByte(s.Raw, ':')+1:]), s.Depth()
	if r.once("unknown element " + name) {
		r.here("unknown-element", "the element is not known in this place and was kept as a detail; check its name")
	}
	var text []byte
	for open := true; open; {
		switch s.Next() {
		case xmlscan.EOF:
			return
		case xmlscan.End:
			open = s.Depth() > depth
		case xmlscan.Start:
			if open = !stop(s.Name); !open {
				s.Interrupt(depth)
				continue
			}
			r.attributes()
			r.unknown(details)
		case xmlscan.Text:
			text = r.appendText(text)
		}
	}
	if len(text) > maxLine {
		r.here("too-long", "the text is longer than 4,096 bytes and its end was left out; shorten it")
	}
	r.addDetail(details, name, line(decoded(string(text))))
}

// appendText appends the current piece of text, unless there is more than maxLine.
func (r *reader) appendText(text []byte) []byte {
	part := r.scan.Text
	if isBlank(part) || len(text) > maxLine {
		return text
	}
	part = part[:min(len(part), 2*maxLine)]
	if len(text) > 0 {
		text = append(text, ' ')
	}
	if r.scan.CDATA {
		return append(text, part...)
	}
	return charref.Append(text, part, true)
}

// addDetail adds a detail if it has a value.
func (r *reader) addDetail(details *[]courant.Param, name, value string) {
	if value != "" && r.fits(len(*details), maxList) {
		*details = append(*details, courant.Param{Name: name, Value: value})
	}
}

// repeated keeps the second value of an element that an offer should have once.
func (r *reader) repeated(o *courant.Offer, name, value string) {
	if r.once("repeated " + name) {
		r.here("repeated-element", "the offer has this element twice, with different values; the first one was used, the other one was kept as a detail")
	}
	r.addDetail(&o.Details, name, value)
}

// put sets a field to the first of its values that is not empty.
func (r *reader) put(o *courant.Offer, to *string, name, value string) {
	switch {
	case *to == "":
		*to = value
	case value != "" && value != *to:
		r.repeated(o, name, value)
	}
}

// boolean reads a boolean.
func (r *reader) boolean(text string) bool {
	switch strings.ToLower(text) {
	case "", "false", "0", "no", "n", "нет", "off":
		return false
	}
	if yes(text) {
		return true
	}
	r.here("bad-value", "the value is neither true nor false and was read as false; write true or false")
	return false
}

// short shortens text for a warning.
func short(text string) string {
	const most = 40
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

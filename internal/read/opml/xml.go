package opml

import (
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/markup"
	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// reader reads OPML (http://opml.org/spec2.opml).
type reader struct {
	*List
	scan    xmlscan.Scanner
	lines   lines
	folders []folder
	comment int  // depth of the comment that is open, plus 1; 0 if there is none
	seen    bool // the element opml
}

// folder is an open outline.
type folder struct {
	name   string
	depth  int
	source bool // it is a source itself, so that it names no folder
}

// mostDepth is the limit of folders in folders.
const mostDepth = 64

func (l *List) readXML(text string) error {
	r := reader{List: l, lines: lines{text: text, line: 1, column: 1}}
	s := &r.scan
	*s = xmlscan.Scanner{Source: text, Space: space, Report: func(f xmlscan.Fault) {
		r.warn(f.Code, f.Offset, f.Element, f.Text)
	}}
	for s.Next() != xmlscan.EOF {
		switch s.Kind() {
		case xmlscan.Start:
			r.start()
		case xmlscan.End:
			r.end()
		}
	}
	if !r.seen {
		return courant.Errorf(courant.Invalid, "the file is neither OPML nor JSON: there is no <opml> element")
	}
	return nil
}

func space(uri, prefix string) string {
	if uri == Namespace || prefix == "courant" {
		return "courant"
	}
	return prefix
}

func (r *reader) warn(code string, offset int, element, text string) {
	line, column := r.lines.at(offset)
	r.List.warn(courant.Warning{Code: code, Line: line, Column: column, Element: strings.Clone(element), Text: text})
}

// ignore names what has no place in a source, once.
func (r *reader) ignore(name string) {
	line, column := r.lines.at(r.scan.Offset)
	r.List.ignore(name, courant.Warning{Line: line, Column: column})
}

func (r *reader) start() {
	switch s := &r.scan; s.Name.Local {
	case "opml":
		r.seen = true
	case "head", "body":
	case "title":
		r.Title = markup.Line(s.Inner(isOutline))
	case "outline":
		r.outline()
	default:
		r.ignore(strings.Clone(s.Raw))
	}
}

func isOutline(n xmlscan.Name) bool { return n.Local == "outline" || n.Local == "body" }

func (r *reader) end() {
	for n := len(r.folders); n > 0 && r.folders[n-1].depth >= r.scan.Depth(); n = len(r.folders) {
		r.folders = r.folders[:n-1]
	}
	if r.comment > r.scan.Depth() {
		r.comment = 0
	}
}

// outline reads an outline: a source, or a folder of the outlines in it.
func (r *reader) outline() {
	s := &r.scan
	if r.comment > 0 {
		return
	}
	if strings.EqualFold(s.Attr("isComment"), "true") { // so are the outlines in it
		r.comment = s.Depth() + 1
		r.ignore("isComment")
		return
	}
	f := folder{depth: s.Depth()}
	e := r.entry()
	if e.URL != "" {
		f.source = true
		r.Entries = append(r.Entries, e)
	} else {
		f.name = e.Title
	}
	if len(r.folders) < mostDepth {
		r.folders = append(r.folders, f)
	}
}

// entry reads the attributes of an outline. Names of attributes are compared without
// regard to case.
func (r *reader) entry() Entry {
	s := &r.scan
	e := Entry{Folder: r.path()}
	var text, url, kind string
	for _, a := range s.Attrs {
		value := strings.TrimSpace(s.Attr(a.Name))
		switch name := strings.ToLower(a.Name); name {
		case "xmlurl":
			e.URL = value
		case "url":
			url = value
		case "type":
			kind = strings.ToLower(value)
		case "title":
			e.Title = value
		case "text":
			text = value
		case "htmlurl":
			e.Site = value
		case "iscomment", "version": // of the feed, which tells it itself
		default:
			if !e.ours(name, value) && value != "" {
				r.ignore(strings.Clone(a.Name))
			}
		}
	}
	if e.Title == "" && e.Name == "" { // the text of one of ours may be its name
		e.Title = text
	}
	switch {
	case e.URL == "" && url != "" && (kind == "rss" || kind == "atom" || kind == "feed"):
		e.URL = url
	case e.URL == "" && url != "" && kind == "include":
		r.warn("included-list", s.Offset, s.Raw, "the list includes another one, which was not read; import it too: "+url)
	case e.URL == "" && (kind == "rss" || kind == "atom" || kind == "feed"):
		r.warn("outline-without-url", s.Offset, s.Raw, "the outline is a feed without an address and was left out; add xmlUrl")
	case e.URL == "" && url != "":
		r.ignore("url")
	}
	return e
}

// ours sets the field of one of Courant's own attributes.
func (e *Entry) ours(name, value string) bool {
	switch name {
	case "courant:kind":
		e.Kind = courant.SourceKind(value)
	case "courant:xpath":
		e.XPath = value
	case "courant:next":
		e.Next = value
	case "courant:name":
		e.Name = value
	case "courant:every":
		e.Every = value
	case "courant:absence":
		e.Absence = courant.Absence(value)
	case "courant:trusted":
		e.Trusted = value == "true"
	case "courant:ignorerobots":
		e.IgnoreRobots = value == "true"
	default:
		return strings.HasPrefix(name, "xmlns")
	}
	return true
}

// path is the names of the folders around the outline.
func (r *reader) path() (names []string) {
	for _, f := range r.folders {
		if !f.source && f.name != "" {
			names = append(names, f.name)
		}
	}
	return names
}

// lines finds the line and column of offsets, going on from the last one.
type lines struct {
	text         string
	offset       int
	line, column int // of offset, from 1; columns in characters
}

func (l *lines) at(offset int) (line, column int) {
	if offset < l.offset {
		l.offset, l.line, l.column = 0, 1, 1
	}
	offset = min(offset, len(l.text))
	for _, c := range l.text[l.offset:offset] {
		if l.column++; c == '\n' {
			l.line, l.column = l.line+1, 1
		}
	}
	l.offset = offset
	return l.line, l.column
}

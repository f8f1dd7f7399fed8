// Package opml reads and writes lists of sources: OPML 1.0 and 2.0, and (read only)
// JSON arrays and JSON lines.
package opml

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/charset"
)

// Namespace is the namespace of our attributes in OPML.
const Namespace = "https://courant-platform.github.io/ns"

// Entry is one source of a list.
type Entry struct {
	URL   string             `json:"url"`
	Kind  courant.SourceKind `json:"kind"`
	Name  string             `json:"name,omitempty"`
	Title string             `json:"title"`
	XPath string             `json:"list_xpath,omitempty"`
	Next  string             `json:"next_xpath,omitempty"`
}

const maxDepth = 64

// Read reads a list in any of these formats. Outlines without an address are folders
// and are left out. Errors are of kind courant.Invalid and say where they occurred.
func Read(body []byte) ([]Entry, error) {
	text, _, _ := charset.Decode(body, "")
	trimmed := bytes.TrimSpace(text)
	switch {
	case len(trimmed) == 0:
		return nil, courant.Errorf(courant.Invalid, "the file is empty")
	case trimmed[0] == '[':
		var entries []Entry
		if err := json.Unmarshal(trimmed, &entries); err != nil {
			return nil, courant.Errorf(courant.Invalid, "read JSON array: %w", err)
		}
		return entries, nil
	case trimmed[0] == '{':
		return readLines(trimmed)
	}
	return readXML(trimmed)
}

func readLines(text []byte) ([]Entry, error) {
	var entries []Entry
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, courant.Errorf(courant.Invalid, "line %d: %w", n, err)
		}
		entries = append(entries, e)
	}
	if err := lines.Err(); err != nil {
		return nil, courant.Errorf(courant.Invalid, "read JSON lines: %w", err)
	}
	return entries, nil
}

func readXML(text []byte) ([]Entry, error) {
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8 by now
	var entries []Entry
	seen, depth := false, 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			line, column := d.InputPos()
			return nil, courant.Errorf(courant.Invalid, "line %d, column %d: %w", line, column, err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return nil, courant.Errorf(courant.Invalid, "elements are nested more than %d levels deep", maxDepth)
			}
			seen = seen || t.Name.Local == "opml"
			if t.Name.Local == "outline" {
				entries = outline(entries, t.Attr)
			}
		case xml.EndElement:
			depth--
		}
	}
	if !seen {
		return nil, courant.Errorf(courant.Invalid, "the file is neither OPML nor JSON: there is no <opml> element")
	}
	return entries, nil
}

// outline appends the source of an outline; it ignores the case of attribute names.
func outline(entries []Entry, attrs []xml.Attr) []Entry {
	var e Entry
	var text string
	for _, a := range attrs {
		ours := a.Name.Space == Namespace || a.Name.Space == "courant"
		switch name := strings.ToLower(a.Name.Local); {
		case ours && name == "kind":
			e.Kind = courant.SourceKind(a.Value)
		case ours && name == "xpath":
			e.XPath = a.Value
		case ours && name == "next":
			e.Next = a.Value
		case ours && name == "name":
			e.Name = a.Value
		case name == "xmlurl":
			e.URL = strings.TrimSpace(a.Value)
		case name == "title":
			e.Title = a.Value
		case name == "text":
			text = a.Value
		}
	}
	if e.Title == "" && text != e.Name { // Write has nothing else to show
		e.Title = text
	}
	if e.URL == "" {
		return entries
	}
	return append(entries, e)
}

// Write writes OPML 2.0.
func Write(w io.Writer, title string, entries []Entry) error {
	var b bytes.Buffer
	b.WriteString(xml.Header + `<opml version="2.0" xmlns:courant="` + Namespace + "\">\n<head><title>" + escape(title) + "</title></head>\n<body>\n")
	for _, e := range entries {
		text := e.Title
		if text == "" {
			text = e.Name
		}
		b.WriteString(`<outline type="rss"` + attribute("text", text) + attribute("title", e.Title) + attribute("xmlUrl", e.URL) +
			attribute("courant:kind", string(e.Kind)) + attribute("courant:name", e.Name) +
			attribute("courant:xpath", e.XPath) + attribute("courant:next", e.Next) + "/>\n")
	}
	b.WriteString("</body>\n</opml>\n")
	_, err := w.Write(b.Bytes())
	return err
}

func attribute(name, value string) string {
	if value == "" && name != "text" {
		return ""
	}
	return " " + name + `="` + escape(value) + `"`
}

func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return ""
	}
	return b.String()
}

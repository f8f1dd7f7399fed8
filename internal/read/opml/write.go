package opml

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"io"
	"slices"
	"strings"
)

// Write writes OPML 2.0 with the entries in their folders.
func Write(w io.Writer, title string, entries []Entry) error {
	b := bytes.NewBufferString(xml.Header + `<opml version="2.0" xmlns:courant="` + Namespace + "\">\n<head><title>" + escape(title) + "</title></head>\n<body>\n")
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(x, y Entry) int { return slices.Compare(x.Folder, y.Folder) })
	var open []string
	for _, e := range sorted {
		same := 0
		for same < len(open) && same < len(e.Folder) && open[same] == e.Folder[same] {
			same++
		}
		closeFolders(b, len(open), same)
		for depth, name := range e.Folder[same:] {
			b.WriteString(indent(same+depth) + "<outline" + attribute("text", name) + ">\n")
		}
		open = e.Folder
		writeEntry(b, e)
	}
	closeFolders(b, len(open), 0)
	b.WriteString("</body>\n</opml>\n")
	_, err := w.Write(b.Bytes())
	return err
}

func closeFolders(b *bytes.Buffer, from, to int) {
	for depth := from; depth > to; depth-- {
		b.WriteString(indent(depth-1) + "</outline>\n")
	}
}

func indent(depth int) string { return strings.Repeat("  ", depth) }

func writeEntry(b *bytes.Buffer, e Entry) {
	b.WriteString(indent(len(e.Folder)) + `<outline type="rss"` + attribute("text", cmp.Or(e.Title, e.Text, e.Name)) + attribute("title", e.Title) +
		attribute("xmlUrl", e.URL) + attribute("htmlUrl", e.Site) + attribute("courant:kind", string(e.Kind)) + attribute("courant:name", e.Name) +
		attribute("courant:every", e.Every) + attribute("courant:absence", string(e.Absence)) + flag("courant:trusted", e.Trusted) +
		flag("courant:ignoreRobots", e.IgnoreRobots) + attribute("courant:xpath", e.XPath) + attribute("courant:next", e.Next) + "/>\n")
}

func attribute(name, value string) string {
	if value == "" && name != "text" {
		return ""
	}
	return " " + name + `="` + escape(value) + `"`
}

func flag(name string, set bool) string {
	if !set {
		return ""
	}
	return " " + name + `="true"`
}

func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return ""
	}
	return b.String()
}

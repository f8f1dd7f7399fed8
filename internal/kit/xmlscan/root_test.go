package xmlscan_test

import (
	"strings"
	"testing"

	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

func TestTheRootIsFoundBehindOtherData(t *testing.T) {
	for src, want := range map[string]string{
		`<?xml version="1.0"?><root a="1">x</root>`:   "found x", // nothing before it
		`<!-- c --> <root>x</root>`:                   "found x",
		`<root a=1>x</root>`:                          "found x bad-attribute", // its own fault is reported
		"\n<?xml version=\"1.0\"?><root>x</root>":     "found junk x",
		`error & more<root>x</root>`:                  "found junk x", // the faults of what is skipped are not
		`<html><body><p>no<br></wrong><root>x</root>`: "found junk x",
		`<html><root a=1><root>x</root></root>`:       "found junk ",
		`<html><body>nothing</body></html>`:           "junk",
		``:                                            "",
	} {
		var got []string
		s := xmlscan.Scanner{Source: src}
		s.Report = func(f xmlscan.Fault) { got = append(got, f.Code) }
		found, junk := s.Root(func(n xmlscan.Name) bool { return n.Local == "root" })
		said := ""
		if junk {
			said = "junk"
		}
		if found {
			said = strings.TrimSpace("found "+said) + " "
			if s.Depth() != 0 || s.Kind() != xmlscan.Start || s.Name.Local != "root" {
				t.Errorf("%s: at %s in %d elements", src, s.Raw, s.Depth())
			}
			if s.Next() == xmlscan.Text {
				said += s.Text
			}
		}
		if len(got) > 0 {
			said += " " + strings.Join(got, " ")
		}
		if said != want {
			t.Errorf("%s: got %q, want %q", src, said, want)
		}
	}
}

package xmlscan_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/courant-platform/courant/internal/kit/xmlscan"
)

// large is a document of many pieces: element n holds the text n, in different
// forms.
func large(n int) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="utf-8"?>` + "\n<list>\n")
	for i := range n {
		switch i % 3 {
		case 0:
			fmt.Fprintf(&b, "<e a='%d'>текст %d</e>\n", i, i)
		case 1:
			fmt.Fprintf(&b, "<e><![CDATA[<b>текст</b> <e>%d]]></e>\n", i)
		case 2:
			fmt.Fprintf(&b, "<!-- <e>none</e> %s --><e>текст %d</e>\n", strings.Repeat("- ", 100), i)
		}
	}
	b.WriteString("</list>")
	return b.String()
}

func elements(t *testing.T, r io.Reader) (texts []string, lines []int, p *xmlscan.Pieces) {
	t.Helper()
	p = xmlscan.NewPieces(r, "")
	s := xmlscan.Scanner{Source: p.Next(), Refill: p.Next, Report: func(f xmlscan.Fault) { t.Errorf("fault %+v", f) }}
	for k := s.Next(); k != xmlscan.EOF; k = s.Next() {
		if k == xmlscan.Start && s.Name.Local == "e" {
			line, _ := p.Position(s.Offset)
			lines = append(lines, line)
			texts = append(texts, strings.Clone(s.Inner(nil)))
		}
	}
	return texts, lines, p
}

func TestALargeDocumentIsReadInPieces(t *testing.T) {
	const n = 60000
	text := large(n)
	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(strings.Replace(text, "utf-8", "utf-16", 1))
	if err != nil {
		t.Fatal(err)
	}
	cyrillic, err := charmap.Windows1251.NewEncoder().String(strings.Replace(text, "utf-8", "windows-1251", 1))
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]io.Reader{"utf-8": strings.NewReader(text), "utf-16le": strings.NewReader(utf16),
		"windows-1251": strings.NewReader(cyrillic)} {
		texts, lines, p := elements(t, r)
		if len(texts) != n || p.Encoding != name || p.Healed || p.Err() != nil {
			t.Fatalf("%s: %d elements, encoding %s, healed %v, %v", name, len(texts), p.Encoding, p.Healed, p.Err())
		}
		for i, got := range texts {
			want := fmt.Sprint("текст ", i)
			if i%3 == 1 {
				want = fmt.Sprintf("<b>текст</b> <e>%d", i)
			}
			if got != want || lines[i] != i+3 {
				t.Fatalf("%s: element %d is %q in line %d", name, i, got, lines[i])
			}
		}
	}
}

func TestADocumentThatCannotBeReadToItsEndSaysWhy(t *testing.T) {
	text := large(60000)
	p := xmlscan.NewPieces(io.MultiReader(strings.NewReader(text[:3<<20]), iotest.ErrReader(io.ErrUnexpectedEOF)), "")
	n := 0
	for p.Next() != "" {
		n++
	}
	if n < 2 || p.Err() != io.ErrUnexpectedEOF {
		t.Errorf("%d pieces, %v", n, p.Err())
	}
}

func TestATokenWithoutAnEndIsAbandoned(t *testing.T) {
	p := xmlscan.NewPieces(io.LimitReader(endless('a'), 100<<20), "")
	if first := p.Next(); len(first) < 4<<20 || len(first) > 16<<20 {
		t.Errorf("the first piece has %d bytes", len(first))
	}
}

type endless byte

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}

package pages

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/look"
	"github.com/courant-platform/courant/internal/kit/markup"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// printed is a page ready to be served.
type printed struct {
	html    []byte // gzip
	picture string // address of a small picture for listings, "" if there is none
}

// view is what the template sees.
type view struct {
	Style               template.HTML
	Language, Direction string
	Title, URL, Host    string
	Site                string // what readers know it by
	Foreign             string // name of the source where it is not the site itself
	Authors             string
	Date, DateText      string
	Lead                *shown
	Body                template.HTML
	Summary             bool // the body is a summary only
}

// shown is a picture as the page shows it.
type shown struct {
	Src, Srcset   string
	Alt           string
	Width, Height int
}

// print renders and compresses the page of a document.
func (p *Pages) print(d document) (printed, error) {
	item := d.doc.Item
	v := view{
		Style: look.Style(), Language: item.Language, Direction: direction(item.Language),
		Title: item.Title, URL: d.doc.URL, Host: link.Host(d.doc.URL), Authors: names(item.Authors),
	}
	v.Site = v.Host
	if d.rank == courant.Foreign {
		v.Foreign = d.sourceName
	} else if d.sourceTitle != "" {
		v.Site = d.sourceTitle
	}
	if v.Title == "" {
		v.Title = v.Host
	}
	when := item.Published
	if when.IsZero() {
		when = item.Updated
	}
	if !when.IsZero() {
		v.Date, v.DateText = when.UTC().Format("2006-01-02T15:04:05Z"), when.UTC().Format("2 January 2006, 15:04 UTC")
	}
	var first *shown
	v.Body, first = d.body()
	v.Summary = item.Content == ""
	if first == nil {
		v.Lead = d.lead()
		first = v.Lead
	}
	html, err := p.render(v)
	if err != nil {
		return printed{}, fmt.Errorf("print %s: %w", d.doc.URL, err)
	}
	out := printed{html: html}
	if first != nil {
		out.picture = first.Src
	}
	return out, nil
}

// body is the cleaned text with our own pictures, and the first of them.
func (d document) body() (template.HTML, *shown) {
	var first *shown
	c := markup.Cleaner{Base: d.doc.URL, Image: func(i *markup.Image) bool {
		s := d.show(i.URL)
		if s == nil {
			return false
		}
		if first == nil {
			first = s
		}
		i.URL, i.Srcset, i.Width, i.Height = s.Src, s.Srcset, s.Width, s.Height
		i.Sizes = "(min-width:46rem) 44rem, 100vw"
		if s != first {
			i.Loading = "lazy"
		}
		return true
	}}
	text := d.doc.Item.Content
	if text == "" {
		text = d.doc.Item.Summary
	}
	return template.HTML(c.Clean(text)), first
}

// lead is the first picture that the source gives beside the text.
func (d document) lead() *shown {
	for _, url := range d.doc.Item.Images {
		if s := d.show(url); s != nil {
			return s
		}
	}
	return nil
}

// show is our copy of a picture, nil if we have none.
func (d document) show(url string) *shown {
	canonical, err := link.Canonical(url)
	if err != nil {
		return nil
	}
	m, ok := d.media[link.Digest(canonical)]
	if !ok {
		return nil
	}
	s := &shown{Src: "/media/" + m.full.File, Width: m.full.Width, Height: m.full.Height}
	var set []string
	for _, v := range m.variants {
		set = append(set, fmt.Sprintf("/media/%s %dw", v.File, v.Width))
		s.Src = "/media/" + v.File
	}
	if len(set) > 0 {
		s.Srcset = strings.Join(append(set, fmt.Sprintf("/media/%s %dw", m.full.File, m.full.Width)), ", ")
	}
	return s
}

// zip is a compressor with its working space, which is large and used again.
type zip struct {
	out  bytes.Buffer
	gzip *gzip.Writer
}

func newZip() any {
	z, err := gzip.NewWriterLevel(nil, 5)
	if err != nil {
		panic(err) // the level is a constant
	}
	return &zip{gzip: z}
}

func (p *Pages) render(v view) ([]byte, error) {
	z := p.zips.Get().(*zip)
	defer p.zips.Put(z)
	z.out.Reset()
	z.gzip.Reset(&z.out)
	if err := pageTemplate.Execute(z.gzip, v); err != nil {
		return nil, err
	}
	err := z.gzip.Close()
	return bytes.Clone(z.out.Bytes()), err
}

func names(authors []courant.Person) string {
	var out []string
	for _, a := range authors {
		if a.Name != "" {
			out = append(out, a.Name)
		}
	}
	return strings.Join(out, ", ")
}

// direction is that of the language's script.
func direction(language string) string {
	main, _, _ := strings.Cut(strings.ToLower(language), "-")
	switch main {
	case "ar", "he", "iw", "fa", "ur", "yi", "ps", "sd", "ug", "dv", "ckb":
		return "rtl"
	}
	return "ltr"
}

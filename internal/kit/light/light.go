// Package light renders the light page of a document: clean HTML, one style sheet, our
// copies of its pictures, and controls that need no script. It does no I/O.
package light

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/look"
	"github.com/courant-platform/courant/internal/kit/markup"
)

//go:embed page.html
var pageText string

//go:embed product.html
var productText string

var pageTemplate = template.Must(template.Must(template.New("page").Parse(pageText)).Parse(productText))

// Page is the input of Render.
type Page struct {
	Document    courant.Document
	SourceTitle string // the title of the source: the operator's, or else its own; "" for none
	SourceName  string // the title of the source, or its short name
	Foreign     bool   // the source does not speak for the address
	Pictures    Pictures
	Now         time.Time // prices are those of this time
}

// Pictures are our copies of pictures by link.Digest of their canonical addresses.
type Pictures map[[16]byte]Kept

// Kept is a stored picture with its smaller variants.
type Kept struct {
	Full     courant.Picture
	Variants []courant.Picture
}

// KeptOf makes a Kept from a row of the table media: the hash of the content, the
// picture, and its variants as JSON.
func KeptOf(content string, full courant.Picture, variants string) (Kept, error) {
	k := Kept{Full: full}
	k.Full.File = courant.PictureFile(content, full.Width, full.Type)
	err := json.Unmarshal([]byte(variants), &k.Variants)
	return k, err
}

// Keys calls f with the digest of each picture of a document.
func Keys(images []string, f func(key [16]byte) error) error {
	for _, url := range images {
		canonical, err := link.Canonical(url)
		if err != nil {
			continue
		}
		if err := f(link.Digest(canonical)); err != nil {
			return err
		}
	}
	return nil
}

// original returns the address of the original page, "" if there is none on the web.
// It is not the page's own address if that was derived: for an offer, from the address
// of the catalogue; for an item that shares its link, from the link; for an item
// without a link, from the address of its source.
func original(d *courant.Document) string {
	url := d.URL
	if c, err := link.Canonical(d.Item.Link); err != nil && d.Offer == nil {
		return ""
	} else if err == nil && (d.Offer != nil || c != url) {
		url = d.Item.Link
	}
	if link.Host(url) == courant.ImportHost {
		return ""
	}
	return url
}

// view is the data of the template.
type view struct {
	Style, More         template.HTML
	Language, Direction string
	Title, URL, Host    string
	Site                string // name of the site
	Foreign             string // name of the source if it is another site
	Authors             string
	Date, DateText      string
	Lead                *shown
	Body                template.HTML
	Summary             bool // the body is a summary only
	Crumbs              []courant.Crumb
	Related             []courant.RelatedLink
	Files               []file
	Topics              string
	Product             *product
}

// shown is a picture on the page.
type shown struct {
	Src, Srcset   string
	Alt           string
	Width, Height int
}

// Render writes the page and returns the address of a small picture for listings, ""
// if the page has none.
func Render(w io.Writer, p Page) (picture string, err error) {
	item := p.Document.Item
	v := view{
		Style: look.Style(), Language: item.Language, Direction: direction(item.Language),
		Title: item.Title, URL: original(&p.Document), Authors: names(item.Authors),
		Crumbs: item.Breadcrumbs, Related: item.Related, Topics: strings.Join(item.Categories, " · "),
	}
	v.Host = cmp.Or(link.Host(v.URL), p.SourceName)
	v.Site = v.Host
	if p.Foreign {
		v.Foreign = p.SourceName
	} else if p.SourceTitle != "" {
		v.Site = p.SourceTitle
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
	v.Body, first = p.body(&v)
	if strings.Contains(string(v.Body), `<div class="crumbs">`) {
		v.Crumbs = nil // the text has its own breadcrumbs
	}
	v.Summary = item.Content == "" || item.Content == item.Summary
	if p.Document.Offer != nil {
		v.Product = p.product()
		v.Summary, v.More = false, look.More()
		v.Lead = nil
		if len(v.Product.Pictures) > 0 {
			first = &v.Product.Pictures[0]
		}
	} else if first == nil {
		v.Lead = p.lead()
		first = v.Lead
	}
	if v.Files = p.files(string(v.Body)); len(v.Crumbs)+len(v.Files) > 0 {
		v.More = look.More()
	}
	if err := pageTemplate.Execute(w, v); err != nil {
		return "", fmt.Errorf("page of %s: %w", p.Document.URL, err)
	}
	if first != nil {
		picture = first.Src
	}
	return picture, nil
}

// body returns the clean text with our copies of pictures and with widgets as controls,
// and the first picture.
func (p Page) body(v *view) (template.HTML, *shown) {
	var first *shown
	c := markup.Cleaner{Base: p.Document.URL, Image: func(i *markup.Image) bool {
		s := p.show(i.URL)
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
	text := p.Document.Item.Content
	if text == "" {
		text = p.Document.Item.Summary
	}
	html, found := controls(withoutTitle(c.Clean(text), p.Document.Item.Title), v.URL)
	if found {
		v.More = look.More()
	}
	return template.HTML(html), first
}

// withoutTitle removes a heading at the beginning that repeats the title.
func withoutTitle(html, title string) string {
	before, rest, _ := strings.Cut(html, "<h1>")
	inside, after, ok := strings.Cut(rest, "</h1>")
	if !ok || len(before) > 1000 || words(markup.Text(before)) != "" || words(markup.Text(inside)) != words(title) {
		return html
	}
	return before + after
}

// words is text with single blanks.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// lead returns the first picture that the source gives outside the text.
func (p Page) lead() *shown {
	for _, url := range p.Document.Item.Images {
		if s := p.show(url); s != nil {
			return s
		}
	}
	return nil
}

// show returns our copy of a picture, nil if there is none.
func (p Page) show(url string) *shown {
	canonical, err := link.Canonical(url)
	if err != nil {
		return nil
	}
	m, ok := p.Pictures[link.Digest(canonical)]
	if !ok {
		return nil
	}
	s := &shown{Src: "/media/" + m.Full.File, Width: m.Full.Width, Height: m.Full.Height}
	var set []string
	for _, v := range m.Variants {
		set = append(set, fmt.Sprintf("/media/%s %dw", v.File, v.Width))
		s.Src = "/media/" + v.File
	}
	if len(set) > 0 {
		s.Srcset = strings.Join(append(set, fmt.Sprintf("/media/%s %dw", m.Full.File, m.Full.Width)), ", ")
	}
	return s
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

// direction returns the direction of the language's script: ltr or rtl.
func direction(language string) string {
	main, _, _ := strings.Cut(strings.ToLower(language), "-")
	switch main {
	case "ar", "he", "iw", "fa", "ur", "yi", "ps", "sd", "ug", "dv", "ckb":
		return "rtl"
	}
	return "ltr"
}

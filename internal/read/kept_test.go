package read_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/charset"
	"github.com/courant-platform/courant/internal/read"
)

// value is a text or an attribute of a document.
type value struct {
	names []string // of the elements around it and of the attribute, as written
	text  string
}

// valuesOf walks over a document with the parser of the standard library and returns each
// value, except those that say how the document is written.
func valuesOf(t *testing.T, body []byte) (out []value) {
	t.Helper()
	text, _, _ := charset.Decode(body, "")
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Strict, d.Entity = false, xml.HTMLEntity
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var open []string
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			open = append(open, rawName(token.Name))
			for _, a := range token.Attr {
				name := rawName(a.Name)
				if !regexp.MustCompile(`^(xmlns|xml:|xsi:|rdf:|version$|isPermaLink$|rel$|type$|resource$)`).MatchString(name) || name == "type" && open[len(open)-1] != "link" {
					out = append(out, value{append(slices.Clone(open), name), a.Value})
				}
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if strings.TrimSpace(string(token)) != "" {
				out = append(out, value{slices.Clone(open), string(token)})
			}
		}
	}
}

func rawName(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

// output is what a reading says, and the names that it ignored.
type output struct {
	text    string
	digits  string
	ignored map[string]bool // true if that holds for what is inside it too
}

func outputOf(t *testing.T, r *read.Result) output {
	t.Helper()
	o := output{ignored: map[string]bool{}}
	for _, w := range r.Warnings {
		if w.Level == courant.LevelInfo {
			o.ignored[strings.ToLower(w.Element)] = strings.Contains(w.Text, "inside it") || strings.Contains(w.Text, "without a value")
		}
	}
	encoded, err := json.Marshal(r.Reading)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(encoded, &tree); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	texts(tree, &b)
	o.text = normal(b.String())
	if plain, err := url.PathUnescape(o.text); err == nil {
		o.text += "\n" + plain
	}
	o.digits = regexp.MustCompile(`[^0-9\n ]`).ReplaceAllString(o.text, "")
	return o
}

// texts writes all texts and numbers of a JSON value.
func texts(v any, b *strings.Builder) {
	switch v := v.(type) {
	case string:
		b.WriteString(v + "\n")
	case float64:
		fmt.Fprintf(b, "%v\n", v)
	case []any:
		for _, e := range v {
			texts(e, b)
		}
	case map[string]any:
		for _, e := range v {
			texts(e, b)
		}
	}
}

var tags = regexp.MustCompile(`<[^>]*>`)

// normal is text without markup, references and case.
func normal(text string) string {
	for range 2 {
		text = strings.NewReplacer("&amp;", "&", "&quot;", `"`, "&lt;", "<", "&gt;", ">", "&#39;", "'", "&nbsp;", " ", "\u00a0", " ").Replace(text)
	}
	text = strings.NewReplacer("%3A", ":", "%2F", "/").Replace(text)
	return strings.Join(strings.Fields(strings.ToLower(tags.ReplaceAllString(text, " "))), " ")
}

// has reports whether the output has a value, in its own form where it has one.
func (o output) has(v value) bool {
	for i, name := range v.names {
		whole, told := o.ignored[strings.ToLower(name)]
		if told && (whole || i == len(v.names)-1) {
			return true
		}
	}
	text := normal(v.text)
	switch text {
	case "true", "false", "yes", "no", "1", "0", "in stock", "in_stock", "available", "out of stock", "new", "rur", "byr": // have a field of their own form
		return true
	}
	if strings.Contains(o.text, text) || !slices.ContainsFunc(strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == ',' }), func(word string) bool { return !strings.Contains(o.text, word) }) {
		return true
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", time.RFC3339, "2006-01-02", time.RFC1123, "20060102T15:04:05"} {
		if at, err := time.Parse(layout, strings.TrimSpace(v.text)); err == nil && strings.Contains(o.text, at.UTC().Format("2006-01-02t15:04:05")) {
			return true
		}
	}
	if from, to, ok := strings.Cut(v.text, "/"); ok && len(from) > 10 && strings.Contains(o.text, from[:4]) && strings.Contains(o.text, to[:4]) {
		return true // an interval
	}
	digits := regexp.MustCompile(`[^0-9]`).ReplaceAllString(text, "")
	switch name := v.names[len(v.names)-1]; name {
	case "price", "oldprice", "g:price", "g:sale_price", "discount-price": // the currency is another field
		return strings.Contains(o.digits, digits)
	}
	return false
}

// catalogues are the files to test: the public ones if they are there, and our own, which
// hold everything that the formats have.
func catalogues(t *testing.T) (paths []string) {
	t.Helper()
	shared := os.Getenv("COURANT_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	for _, pattern := range []string{"testdata/everything.*", shared + "/samples/yml/*.xml", shared + "/samples/google/*.xml", shared + "/samples/derived/*.xml",
		shared + "/samples/sitemap/*.xml", shared + "/suites/bugcases/catalog/Y0[12]*.xml", shared + "/suites/bugcases/sitemap/*.xml",
		shared + "/suites/bugcases/k/K0[145]*/in.xml", shared + "/suites/bugcases/k/K[12]*/catalog.xml", shared + "/suites/feedvalidator/testcases/gbase/rss?/*.xml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	return paths
}

func TestEachValueOfACatalogueIsKeptOrNamed(t *testing.T) {
	paths := catalogues(t)
	if len(paths) <= 3 {
		t.Log("the public catalogues are not beside the checkout")
	}
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			body, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := read.Read(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }, read.Options{URL: map[bool]string{true: "https://shop.example/x"}[!strings.Contains(path, "sitemap")]})
			for _, w := range r.Warnings {
				if w.Code == "duplicate-id" {
					t.Skip("a whole offer is left out and named")
				}
			}
			if err != nil || !r.Catalog() && !strings.Contains(r.Format, "sitemap") {
				t.Skip("it is no catalogue: ", r.Format)
			}
			out := outputOf(t, &r)
			for _, v := range valuesOf(t, body) {
				if !out.has(v) {
					t.Errorf("%s: %q is lost", strings.Join(v.names, "/"), v.text)
				}
			}
		})
	}
}

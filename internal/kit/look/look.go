// Package look holds the style sheets of all pages: a small one for every page, others
// for controls and products and for the search. They are inlined into the pages; the
// Content-Security-Policy allows them by their hashes.
package look

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
)

//go:embed look.css
var css string

//go:embed more.css
var more string

//go:embed find.css
var find string

// Style returns the style element of every page.
func Style() template.HTML { return template.HTML("<style>" + css + "</style>") }

// More returns the style element of pages with controls or products.
func More() template.HTML { return template.HTML("<style>" + more + "</style>") }

// Find returns the style element of the search.
func Find() template.HTML { return template.HTML("<style>" + find + "</style>") }

// StyleSource returns the source expressions of all sheets for a Content-Security-Policy.
func StyleSource() string { return source(css) + " " + source(more) + " " + source(find) }

func source(sheet string) string {
	sum := sha256.Sum256([]byte(sheet))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

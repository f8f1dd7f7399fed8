// Package look is how everything that Courant shows looks: one small style
// sheet, others for controls and products and for the search, written into the pages and named
// in their policy by their hashes.
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

// Style is the style element with the sheet in it.
func Style() template.HTML { return template.HTML("<style>" + css + "</style>") }

// More is the style element of pages that have controls or sell something.
func More() template.HTML { return template.HTML("<style>" + more + "</style>") }

// Find is the style element of the search.
func Find() template.HTML { return template.HTML("<style>" + find + "</style>") }

// StyleSource is the sheets' source expressions for a Content-Security-Policy.
func StyleSource() string { return source(css) + " " + source(more) + " " + source(find) }

func source(sheet string) string {
	sum := sha256.Sum256([]byte(sheet))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

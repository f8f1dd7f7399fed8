// Package look is how everything that Courant shows looks: one small style
// sheet, written into each page and named in its policy by its hash.
package look

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
)

//go:embed look.css
var css string

// Style is the style element with the sheet in it.
func Style() template.HTML { return template.HTML("<style>" + css + "</style>") }

// StyleSource is the sheet's source expression for a Content-Security-Policy.
func StyleSource() string {
	sum := sha256.Sum256([]byte(css))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

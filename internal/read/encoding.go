package read

import (
	"bytes"
	"mime"
	"regexp"
	"strings"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/charset"
)

// xmlEncoding finds the encoding in an XML declaration.
var xmlEncoding = regexp.MustCompile(`^\s*<\?xml\s[^>]*\bencoding\s*=\s*["']?([^"'\s?>]+)`)

// unknownEncoding returns the name of the encoding that a document declares if no
// standard knows it, else "". head is the beginning of the document.
func unknownEncoding(head []byte, contentType string) string {
	names := []string{""}
	if _, params, err := mime.ParseMediaType(contentType); err == nil {
		names[0] = params["charset"]
	}
	const window = 1024
	head = bytes.TrimPrefix(head[:min(len(head), window)], []byte("\xef\xbb\xbf"))
	if m := xmlEncoding.FindSubmatch(head); m != nil {
		names = append(names, string(m[1]))
	}
	for _, name := range names {
		if name != "" && !isEncoding(name) {
			return strings.ToValidUTF8(name[:min(len(name), 40)], "")
		}
	}
	return ""
}

// isEncoding reports whether charset knows the name of an encoding: it believes a known
// charset of the Content-Type, and else the declaration in the text.
func isEncoding(name string) bool {
	for _, other := range [...]string{"koi8-r", "windows-1253"} {
		_, used, _ := charset.Decode([]byte(`<?xml version="1.0" encoding="`+other+`"?>`), "text/xml; charset="+name)
		if used != other {
			return true
		}
	}
	return false
}

// encodingWarning puts a warning of an encoding that nobody knows before the others.
func encodingWarning(r *courant.Reading, name string) {
	if name == "" {
		return
	}
	r.WellFormed = false
	r.Warnings = append([]courant.Warning{{Code: "encoding", Line: 1, Column: 1, Text: "the declared encoding " + name +
		" is not known, so the text was read as " + r.Encoding + "; declare the real encoding, preferably UTF-8"}}, r.Warnings...)
}

package link

import (
	"regexp"
	"strings"
)

// secretPair is a secret among the parameters of an address, or in a list of key=value
// pairs, where it may be in quotes.
var secretPair = regexp.MustCompile(`(?i)\b((?:ssl)?password|pass|passwd|token|secret|api_?key)(\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s&;#']+)`)

// Redact returns an address, or a list of them, that is safe to show: it replaces user name
// and password, and secrets in parameters, by xxxxx.
func Redact(address string) string {
	var out strings.Builder
	for {
		i := strings.Index(address, "://")
		if i < 0 {
			out.WriteString(address)
			break
		}
		start := i + 3
		end := len(address)
		if j := strings.IndexAny(address[start:], `/?#\`); j >= 0 {
			end = start + j
		}
		out.WriteString(address[:start])
		if at := strings.LastIndexByte(address[start:end], '@'); at >= 0 {
			out.WriteString("xxxxx")
			start += at
		}
		if strings.HasPrefix(address[end:], "//") && end > start && address[end-1] == ':' {
			end-- // the scheme of the next address of a list
		}
		out.WriteString(address[start:end])
		address = address[end:]
	}
	return secretPair.ReplaceAllString(out.String(), "${1}${2}xxxxx")
}

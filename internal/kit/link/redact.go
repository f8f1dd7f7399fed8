package link

import "strings"

// Redact returns an address that is safe to show: it replaces user name and password
// by xxxxx.
func Redact(address string) string {
	i := strings.Index(address, "://")
	if i < 0 {
		return address
	}
	start := i + 3
	end := len(address)
	if j := strings.IndexAny(address[start:], `/?#\`); j >= 0 {
		end = start + j
	}
	at := strings.LastIndexByte(address[start:end], '@')
	if at < 0 {
		return address
	}
	return address[:start] + "xxxxx" + address[start+at:]
}

package client

import (
	"bytes"
	"io"
	"net/http"
	"strings"
)

// wallMost is how many bytes of a refusal are read to recognise its product.
const wallMost = 16 << 10

// walls are the products that answer robots instead of a host, recognised by the
// headers and the text of their pages.
var walls = []struct {
	name          string
	header, value string // a header that contains the value, in lower case; any value if that is ""
	words         string
}{
	{name: "Cloudflare", header: "Cf-Mitigated"},
	{name: "Cloudflare", words: "<title>just a moment...</title>"},
	{name: "Cloudflare", words: "<title>attention required! | cloudflare</title>"},
	{name: "DataDome", header: "X-Datadome"},
	{name: "DataDome", words: "captcha-delivery.com"},
	{name: "AWS WAF", header: "X-Amzn-Waf-Action"},
	{name: "HUMAN", words: "px-captcha"},
	{name: "Imperva", words: "incapsula incident id"},
	{name: "Akamai", header: "Server", value: "akamaighost", words: "<title>access denied</title>"},
	{name: "Sucuri", words: "sucuri website firewall - access denied"},
	{name: "DDoS-Guard", words: "<title>ddos-guard</title>"},
}

// wall names the bot wall that refused a request, "" if none did.
func wall(resp *http.Response) string {
	switch resp.StatusCode {
	case http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusUnauthorized,
		http.StatusAccepted, http.StatusMethodNotAllowed: // AWS challenges have the last two
	default:
		return ""
	}
	var page []byte
	if body, err := decoded(resp.Header.Get("Content-Encoding"), resp.Body); err == nil {
		page, _ = io.ReadAll(io.LimitReader(body, wallMost)) // as much as arrives
		body.Close()
		page = bytes.ToLower(page)
	}
	for _, w := range walls {
		value := resp.Header.Get(w.header)
		if w.header != "" && (value == "" || !strings.Contains(strings.ToLower(value), w.value)) {
			continue
		}
		if w.words == "" || bytes.Contains(page, []byte(w.words)) {
			return w.name
		}
	}
	return ""
}

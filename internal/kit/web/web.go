// Package web has what every HTTP handler of ours does alike: errors as
// problem details, checks of the Host header, of tokens and of encodings.
package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/courant-platform/courant"
)

// Status is the HTTP status of an error's kind.
func Status(err error) int {
	switch {
	case errors.Is(err, courant.Invalid):
		return http.StatusBadRequest
	case errors.Is(err, courant.NotFound):
		return http.StatusNotFound
	case errors.Is(err, courant.Conflict):
		return http.StatusConflict
	case errors.Is(err, courant.Forbidden):
		return http.StatusForbidden
	case errors.Is(err, courant.Busy):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// Problem is an error as RFC 9457 writes it.
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}

// Fail answers with the error: its text if it has a kind, else a bare 500 and a
// line in the log.
func Fail(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error) {
	status := Status(err)
	detail := err.Error()
	if status == http.StatusInternalServerError {
		detail = ""
		log.Error("request failed", "path", r.URL.Path, "error", err)
	}
	FailWith(w, status, detail)
}

// FailWith answers with a status and a sentence.
func FailWith(w http.ResponseWriter, status int, detail string) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(Problem{Title: http.StatusText(status), Status: status, Detail: detail}) // the client may have gone
}

// JSON answers with v, and panics if v is none of JSON's.
func JSON(w http.ResponseWriter, status int, v any) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
	w.WriteHeader(status)
	w.Write(text.Bytes()) // the client may have gone
}

// Hosts answers 421 to requests for hosts that we are not: a page elsewhere
// could otherwise reach us under a name of its own. Probes of balancers, which name
// an address or nothing, are answered: /healthz and /readyz say nothing of anybody.
func Hosts(allowed []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if probe := r.URL.Path == "/healthz" || r.URL.Path == "/readyz"; !probe && !ours(r.Host, allowed) {
			FailWith(w, http.StatusMisdirectedRequest, "this server does not answer for the host "+strings.ToValidUTF8(r.Host, "?")+"; use the address in http.public_url")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func ours(host string, allowed []string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if name == "localhost" {
		return true
	}
	if ip := net.ParseIP(name); ip != nil && ip.IsLoopback() {
		return true
	}
	for _, a := range allowed {
		if strings.EqualFold(a, name) || strings.EqualFold(a, host) {
			return true
		}
	}
	return false
}

// Query reads the parameters of a request. A semicolon is a part of a value, as in
// Color:red;Size:2: net/url drops such parameters without a word. What is no query
// string is an error.
func Query(r *http.Request) (url.Values, error) {
	v, err := url.ParseQuery(strings.ReplaceAll(r.URL.RawQuery, ";", "%3B"))
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "cannot parse the query string: %w", err)
	}
	return v, nil
}

// Param is one parameter of a request, as Query reads them; "" if there is none.
func Param(r *http.Request, name string) string {
	v, err := Query(r)
	if err != nil {
		return ""
	}
	return v.Get(name)
}

// TakesGzip says whether the client unpacks gzip.
func TakesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		coding, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		zero := strings.Trim(strings.ReplaceAll(params, " ", ""), "0.") == "q="
		if (coding == "gzip" || coding == "*") && !zero {
			return true
		}
	}
	return false
}

// Prefers says whether the client names a media type in Accept that it takes no
// less than another one (RFC 9110 section 12.5.1). Ranges such as */* name none.
func Prefers(r *http.Request, kind, other string) bool {
	best := map[string]float64{}
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		name, params, _ := strings.Cut(part, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		best[name] = max(best[name], quality(params))
	}
	return best[kind] > 0 && best[kind] >= best[other]
}

// quality is the weight among parameters: 1 unless one says less; what is no weight
// is none.
func quality(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		name, value, ok := strings.Cut(p, "=")
		if !ok || !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(q >= 0 && q <= 1) {
			return 0
		}
		return q
	}
	return 1
}

// Matches says whether If-None-Match names the tag.
func Matches(r *http.Request, tag string) bool {
	for part := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		part = strings.TrimSpace(part)
		if part == "*" || strings.TrimPrefix(part, "W/") == tag {
			return true
		}
	}
	return false
}

// Package web has what our HTTP handlers share: errors as problem details, JSON
// answers, checks of the Host header, and parsing of queries and headers.
package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/courant-platform/courant"
)

// Refusal is an error that tells a client to try again later.
type Refusal struct {
	Status int // 429 or 503
	Text   string
	After  time.Duration // at least a second
	Close  bool          // the connection too
}

func (r *Refusal) Error() string { return r.Text }

// Unwrap returns courant.Busy.
func (r *Refusal) Unwrap() error { return courant.Busy }

// usualAfter is when a client may try again if an error does not say it.
const usualAfter = 5 * time.Second

// ClientGone is the status, in metrics and logs, of requests whose client did not wait for the
// answer, as other servers have it.
const ClientGone = 499

// Status returns the HTTP status for the kind of an error, 500 if it has none.
func Status(err error) int {
	var r *Refusal
	switch {
	case errors.As(err, &r):
		return r.Status
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

// Problem is an error in the format of RFC 9457.
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}

// Fail answers with the text of an error that has a kind. For other errors it answers
// with a bare 500 and logs the error, unless the client has disconnected.
func Fail(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error) {
	status := Failed(w, r, log, err)
	detail := err.Error()
	if status == http.StatusInternalServerError {
		detail = ""
	}
	FailWith(w, status, detail)
}

// Failed returns the status for an error, logs it if it has no kind, and sets Retry-After
// if the request may succeed later.
func Failed(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error) int {
	if r.Context().Err() != nil {
		return ClientGone
	}
	status := Status(err)
	switch status {
	case http.StatusInternalServerError:
		log.Error("request failed", "path", r.URL.Path, "error", err)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		after := usualAfter
		var refusal *Refusal
		if errors.As(err, &refusal) {
			after = refusal.After
			closeIf(w, refusal)
		}
		w.Header().Set("Retry-After", seconds(after))
	}
	return status
}

// Refuse answers that a request may succeed later.
func Refuse(w http.ResponseWriter, r *Refusal) {
	closeIf(w, r)
	w.Header().Set("Retry-After", seconds(r.After))
	FailWith(w, r.Status, r.Text)
}

func closeIf(w http.ResponseWriter, r *Refusal) {
	if r.Close {
		w.Header().Set("Connection", "close")
	}
}

func seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }

// FailWith answers with a status and a sentence.
func FailWith(w http.ResponseWriter, status int, detail string) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(Problem{Title: http.StatusText(status), Status: status, Detail: detail}) // the client may have gone
}

// JSON answers with v as JSON, and panics if v cannot be encoded.
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

// Hosts answers 421 to requests with an unknown Host header: otherwise a foreign page
// could reach this server under its own name (DNS rebinding). /healthz and /readyz are
// exempt, because load balancers send an IP address or no host, and they reveal nothing.
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

// Query parses the query string of a request. A semicolon is part of a value, as in
// Color:red;Size:2, for which net/url would return an error. Errors are of kind
// courant.Invalid.
func Query(r *http.Request) (url.Values, error) {
	v, err := url.ParseQuery(strings.ReplaceAll(r.URL.RawQuery, ";", "%3B"))
	if err != nil {
		return nil, courant.Errorf(courant.Invalid, "cannot parse the query string: %w", err)
	}
	return v, nil
}

// Param returns one parameter of a request as Query parses it, or "".
func Param(r *http.Request, name string) string {
	v, err := Query(r)
	if err != nil {
		return ""
	}
	return v.Get(name)
}

// TakesGzip reports whether the client accepts gzip.
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

// Prefers reports whether Accept names the media type kind with at least the weight of
// other (RFC 9110 section 12.5.1). It ignores ranges such as */*.
func Prefers(r *http.Request, kind, other string) bool {
	best := map[string]float64{}
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		name, params, _ := strings.Cut(part, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		best[name] = max(best[name], quality(params))
	}
	return best[kind] > 0 && best[kind] >= best[other]
}

// quality returns the weight (q) among parameters: 1 without one, 0 for an invalid one.
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

// Matches reports whether If-None-Match contains the tag.
func Matches(r *http.Request, tag string) bool {
	for part := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		part = strings.TrimSpace(part)
		if part == "*" || strings.TrimPrefix(part, "W/") == tag {
			return true
		}
	}
	return false
}

// Package api answers developers and the command line: pages as JSON, sources,
// a document's story. Public reads need nothing; all else needs a token.
package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/bell"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/store"
)

// API is the front.
type API struct {
	Store *store.Store
	Blobs blob.Bucket
	Log   *slog.Logger
	// Session is a token that is valid as long as this process runs.
	Session string
	// Password is the administrator's, for Basic authentication; "" for none.
	Password string
	// CrawlDelay is the time between two requests that a robots.txt asks us for; nil
	// for none.
	CrawlDelay func(robotsTxt []byte) time.Duration

	changed bell.Bell // rings when pages change
	fetched bell.Bell // and when something was downloaded
	waiting atomic.Int32
}

// Register adds the front's addresses.
func (a *API) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v1/page", a.handle(a.page))
	mux.HandleFunc("GET /api/v1/pages", a.handle(a.pages))
	mux.HandleFunc("GET /api/v1/changes", a.handle(a.changes))
	mux.HandleFunc("GET /api/v1/story", a.admin(a.story))
	mux.HandleFunc("POST /api/v1/imports", a.admin(a.importFile))
	mux.HandleFunc("GET /api/v1/sources", a.admin(a.sources))
	mux.HandleFunc("POST /api/v1/sources", a.admin(a.addSources))
	mux.HandleFunc("GET /api/v1/sources/{name}", a.admin(a.source))
	mux.HandleFunc("GET /api/v1/sources/{name}/progress", a.admin(a.progress))
	mux.HandleFunc("DELETE /api/v1/sources/{name}", a.admin(a.removeSource))
	mux.HandleFunc("POST /api/v1/sources/{name}/ask", a.admin(a.askSource))
	a.registerSubscriptions(mux)
	mux.HandleFunc("GET /api/v1/hosts", a.admin(a.hosts))
	mux.HandleFunc("GET /api/v1/host", a.admin(a.host))
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		web.FailWith(w, http.StatusNotFound, "there is nothing at "+r.Method+" "+r.URL.Path)
	})
}

// answer is what a handler gives: a status and a value, or an error.
type answer func(w http.ResponseWriter, r *http.Request) (status int, v any, err error)

func (a *API) handle(f answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status, v, err := f(w, r)
		switch {
		case err != nil:
			web.Fail(w, r, a.Log, err)
		case status == 0: // f has answered itself
		case v == nil:
			w.WriteHeader(status)
		default:
			web.JSON(w, status, v)
		}
	}
}

// admin asks for a token first.
func (a *API) admin(f answer) http.HandlerFunc { return a.Guard(a.handle(f)) }

// crossOrigin knows requests that a page elsewhere has a browser make, which sends the
// password along by itself.
var crossOrigin = http.NewCrossOriginProtection()

// Guard lets requests through that carry a valid token or the administrator's
// password, and do not come from a page elsewhere.
func (a *API) Guard(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := crossOrigin.Check(r); err != nil {
			web.FailWith(w, http.StatusForbidden, "a page of another origin may not ask for this")
			return
		}
		ok, err := a.permits(r)
		if err != nil {
			web.Fail(w, r, a.Log, err)
			return
		}
		if !ok {
			w.Header().Set("WWW-Authenticate", `Bearer realm="courant"`)
			web.FailWith(w, http.StatusUnauthorized, a.refusal(r))
			return
		}
		next.ServeHTTP(w, r)
	}
}

// refusal says what is wrong with what a request carries that is not let through.
func (a *API) refusal(r *http.Request) string {
	const needed = "a token is needed: Authorization: Bearer …"
	switch _, _, basic := r.BasicAuth(); {
	case basic && a.Password == "":
		return "there is no password, for http.admin_password is not set; " + needed
	case basic:
		return "the password is wrong"
	case token(r) == "":
		return needed
	}
	return "the token is wrong; the one that the first start showed is good, and what a running courant has left in its data folder"
}

func (a *API) permits(r *http.Request) (bool, error) {
	if _, password, ok := r.BasicAuth(); ok && a.Password != "" {
		given, want := sha256.Sum256([]byte(password)), sha256.Sum256([]byte(a.Password))
		return subtle.ConstantTimeCompare(given[:], want[:]) == 1, nil
	}
	return a.Knows(r.Context(), token(r))
}

func token(r *http.Request) string {
	scheme, t, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") { // RFC 9110 section 11.1: case makes no difference
		return ""
	}
	return strings.TrimSpace(t)
}

// Knows says whether a token is valid.
func (a *API) Knows(ctx context.Context, token string) (bool, error) {
	if token == "" {
		return false, nil
	}
	if a.Session != "" && subtle.ConstantTimeCompare([]byte(token), []byte(a.Session)) == 1 {
		return true, nil
	}
	sum := sha256.Sum256([]byte(token))
	var one int
	err := a.Store.Read(ctx, func(r store.Reader) error { return r.Row(readToken, sum[:]).Scan(&one) })
	if store.NoRow(err) {
		return false, nil
	}
	return err == nil, err
}

// FirstToken makes the first token of a store that has none, and returns it to
// be shown once; "" if there is one.
func (a *API) FirstToken(ctx context.Context) (string, error) {
	token := "courant_" + rand.Text()
	sum := sha256.Sum256([]byte(token))
	err := a.Store.Write(ctx, func(tx *store.Tx) error {
		var n int
		if err := tx.Row(countTokens).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			token = ""
			return nil
		}
		_, err := tx.Exec(putToken, sum[:], "first", tx.Now().UnixMilli())
		return err
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

var errGone = courant.Errorf(courant.NotFound, "the page was withdrawn by its source")

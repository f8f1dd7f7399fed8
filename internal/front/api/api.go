// Package api is the JSON API for programs and the command line: pages, the change
// feed, sources, a document's story. Reading pages is public; all else needs a token.
package api

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/desk"
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
	// Admit lets requests through whose visitor may see and change everything.
	Admit web.Admit
	Desk  *desk.Desk
	// CrawlDelay reads the Crawl-delay for our robot from a robots.txt. If it is nil,
	// there is none.
	CrawlDelay func(robotsTxt []byte) time.Duration

	changed bell.Bell // notifies when pages change
	fetched bell.Bell // notifies when something was downloaded
}

// Register adds the front's addresses.
func (a *API) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v1/page", a.handle(a.page))
	mux.HandleFunc("GET /api/v1/pages", a.handle(a.pages))
	mux.HandleFunc("GET /api/v1/changes", a.handle(a.changes))
	mux.HandleFunc("GET /api/v1/story", a.admin(a.story))
	mux.HandleFunc("POST /api/v1/imports", a.act(a.importFile))
	mux.HandleFunc("GET /api/v1/sources", a.admin(a.sources))
	mux.HandleFunc("POST /api/v1/sources", a.act(a.addSources))
	mux.HandleFunc("GET /api/v1/sources/{name}", a.admin(a.source))
	mux.HandleFunc("GET /api/v1/sources/{name}/progress", a.admin(a.progress))
	mux.HandleFunc("PATCH /api/v1/sources/{name}", a.act(a.setSource))
	mux.HandleFunc("DELETE /api/v1/sources/{name}", a.act(a.removeSource))
	mux.HandleFunc("POST /api/v1/sources/{name}/ask", a.act(a.askSource))
	mux.HandleFunc("GET /api/v1/audit", a.admin(a.audit))
	mux.HandleFunc("POST /api/v1/check", a.admin(a.check))
	a.registerSubscriptions(mux)
	mux.HandleFunc("GET /api/v1/hosts", a.admin(a.hosts))
	mux.HandleFunc("GET /api/v1/host", a.admin(a.host))
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		web.FailWith(w, http.StatusNotFound, "there is nothing at "+r.Method+" "+r.URL.Path)
	})
}

// answer is a handler that returns a status and a value, or an error. Status 0 means
// that it has written the response itself.
type answer func(w http.ResponseWriter, r *http.Request) (status int, v any, err error)

func (a *API) handle(f answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status, v, err := f(w, r)
		switch {
		case err != nil:
			web.Fail(w, r, a.Log, err)
		case status == 0: // f has written the response
		case v == nil:
			w.WriteHeader(status)
		default:
			web.JSON(w, status, v)
		}
	}
}

// action is an answer that depends on the visitor, such as one that changes things.
type action func(w http.ResponseWriter, r *http.Request, who courant.Visitor) (status int, v any, err error)

// act admits visitors and tells f who they are.
func (a *API) act(f action) http.HandlerFunc {
	return a.Admit(func(w http.ResponseWriter, r *http.Request, who courant.Visitor) {
		a.handle(func(w http.ResponseWriter, r *http.Request) (int, any, error) { return f(w, r, who) })(w, r)
	})
}

// admin admits visitors before f.
func (a *API) admin(f answer) http.HandlerFunc {
	return a.act(func(w http.ResponseWriter, r *http.Request, _ courant.Visitor) (int, any, error) { return f(w, r) })
}

var errGone = courant.Errorf(courant.NotFound, "the page was withdrawn by its source")

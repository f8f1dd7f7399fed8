// Package serve answers readers: light pages, their pictures, and the list of the
// newest pages. It reads the store and the blobs; no answer waits for a stage.
package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/look"
	"github.com/courant-platform/courant/internal/kit/obs"
	"github.com/courant-platform/courant/internal/kit/setting"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/store"
)

// Config is the front's section.
type Config struct {
	MaxAge int          `toml:"max_age" comment:"how many seconds caches may keep a page"`
	Copies setting.Size `toml:"copies" comment:"memory for copies of the pages that were served last, which are served while the store does not answer"`
}

// Defaults is the configuration without a file.
func Defaults() Config { return Config{MaxAge: 30, Copies: 64 << 20} }

// Serve is the front.
type Serve struct {
	Store   *store.Store
	Blobs   blob.Bucket
	Config  Config
	Metrics *obs.Set
	Log     *slog.Logger

	intact  intact
	shown   shownPages
	changed atomic.Bool // pages changed since Run looked
	wanted  recently    // pages that the stage pages was asked to render
	zips    sync.Pool   // of *gzip.Writer, whose buffers are large
}

// Register adds the front's addresses.
func (s *Serve) Register(mux *http.ServeMux) {
	s.shown.most = int64(s.Config.Copies)
	mux.HandleFunc("GET /{$}", s.newest)
	mux.HandleFunc("GET /page", s.page)
	mux.HandleFunc("GET /media/{content}/{file}", s.media)
}

// policy is the Content-Security-Policy of a page: its own style and our pictures,
// nothing else.
func policy() string {
	return "default-src 'none'; style-src " + look.StyleSource() + "; img-src 'self'; media-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"sandbox allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"
}

func htmlHeaders(h http.Header) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy())
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
}

// page serves the light page of an address. One that is not rendered yet is rendered
// now.
func (s *Serve) page(w http.ResponseWriter, r *http.Request) {
	key, err := link.Canonical(web.Param(r, "url"))
	if err != nil {
		s.missing(w, r, err)
		return
	}
	var p found
	if err = s.asked(r.Context(), key, func(ctx context.Context) error {
		p, err = s.find(ctx, key)
		if err == nil && len(p.html) == 0 {
			p.now = true
			p.html, err = s.renderNow(ctx, p.id, key)
		}
		return err
	}); err != nil {
		s.failed(w, r, key, err)
		return
	}
	s.shown.put(&shownPage{key: key, html: p.html, at: s.Store.Now()})
	tag := fmt.Sprintf(`"%x-%d"`, p.id, p.revision)
	keep := fmt.Sprintf("public, max-age=%d", s.Config.MaxAge)
	if p.now {
		tag = fmt.Sprintf(`"%x-%d-%x"`, p.id, p.revision, sha256.Sum256(p.html))
		keep = "no-cache" // its pictures may follow soon
	}
	h := w.Header()
	htmlHeaders(h)
	h.Set("Etag", tag)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", keep)
	if link.Host(p.address) != courant.ImportHost {
		h.Set("Link", "<"+p.address+`>; rel="canonical"`)
	}
	if web.Matches(r, tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if web.TakesGzip(r) {
		h.Set("Content-Encoding", "gzip")
		w.Write(p.html) // an error means that the client has disconnected
		return
	}
	z, err := gzip.NewReader(bytes.NewReader(p.html))
	if err != nil {
		web.Fail(w, r, s.Log, err)
		return
	}
	io.Copy(w, z) // an error means that the client has disconnected
}

// found is a page with its HTML, compressed with gzip.
type found struct {
	id       int64
	revision int
	address  string
	html     []byte
	now      bool // it was not rendered before
}

var errGone = courant.Errorf(courant.NotFound, "the page was withdrawn by its source")

func (s *Serve) find(ctx context.Context, address string) (p found, err error) {
	key := link.Digest(address)
	var withdrawn bool
	err = s.Store.Read(ctx, func(r store.Reader) error {
		if err := r.Row(readPage, key[:]).Scan(&p.id, &p.revision, &p.address, &withdrawn); err != nil || withdrawn {
			return err
		}
		return r.Row(readBody, p.id).Scan(&p.html)
	})
	if withdrawn {
		return p, errGone
	}
	if store.NoRow(err) {
		err = courant.Errorf(courant.NotFound, "there is no page for %s", address)
	}
	return p, err
}

// missing answers with an HTML page that shows the error to a person.
func (s *Serve) missing(w http.ResponseWriter, r *http.Request, err error) {
	status, text := web.Failed(w, r, s.Log, err), err.Error()
	switch {
	case errors.Is(err, errGone):
		status = http.StatusGone
	case status == http.StatusInternalServerError:
		text = "Something went wrong; the error has been logged."
	}
	if web.Param(r, "url") == "" {
		text = "Add the address of an article: /page?url=https://…"
	}
	htmlHeaders(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	s.show(w, r, missingView{look.Style(), http.StatusText(status), text})
}

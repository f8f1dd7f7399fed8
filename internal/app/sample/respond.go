package sample

import (
	"bytes"
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"
	"text/template"
	"time"
)

// channel is a site with its articles, the data of the templates.
type channel struct {
	Title, About, Origin, Self, Language string
	Articles                             []article
	Page                                 *article // the article to show, nil for the list
}

// Updated is the date of the newest article.
func (c channel) Updated() (t time.Time) {
	for _, a := range c.Articles {
		if a.At.After(t) {
			t = a.At
		}
	}
	return t
}

// render fills one of the templates.
func render(name string, c channel) []byte {
	t := template.Must(template.New("").Funcs(template.FuncMap{
		"x": func(s string) (string, error) {
			var b strings.Builder
			err := xml.EscapeText(&b, []byte(s))
			return b.String(), err
		},
		"rfc822":  func(t time.Time) string { return t.Format(time.RFC1123Z) },
		"rfc3339": func(t time.Time) string { return t.Format(time.RFC3339) },
		"width":   func() int { return sceneWidth },
		"height":  func() int { return sceneHeight },
	}).ParseFS(texts, "text/*.tmpl"))
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, name+".tmpl", c); err != nil {
		panic(err) // templates and texts are part of the program
	}
	return b.Bytes()
}

// respond answers with validators, and with 304 if the client has the body.
func (w *Web) respond(rw http.ResponseWriter, r *http.Request, kind string, body []byte) {
	sum := sha256.Sum256(body)
	rw.Header().Set("Content-Type", kind)
	rw.Header().Set("Etag", fmt.Sprintf(`"%x"`, sum[:8]))
	rw.Header().Set("Cache-Control", "no-cache")
	// The modification time is rounded; the ETag, which takes precedence, tells every
	// change.
	http.ServeContent(rw, r, "", w.Now().Truncate(dispatchEvery), bytes.NewReader(body))
}

// common returns what all sites serve: robots.txt and pictures.
func (w *Web) common() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /robots.txt", func(rw http.ResponseWriter, r *http.Request) {
		w.respond(rw, r, "text/plain", []byte("User-agent: *\nDisallow: /private/\n"))
	})
	mux.HandleFunc("GET /pictures/{name}", func(rw http.ResponseWriter, r *http.Request) {
		body := w.album.picture(r.PathValue("name"))
		if body == nil {
			http.NotFound(rw, r)
			return
		}
		w.respond(rw, r, http.DetectContentType(body), body)
	})
	return mux
}

// pages adds the list and a page for each article.
func (w *Web) pages(mux *http.ServeMux, title, origin, feed string, list func() []article) {
	c := channel{Title: title, Origin: origin, Self: origin + feed, Language: "en"}
	mux.HandleFunc("GET /{$}", func(rw http.ResponseWriter, r *http.Request) {
		c := c
		c.Articles = list()
		w.respond(rw, r, "text/html; charset=utf-8", render("page", c))
	})
	mux.HandleFunc("GET /{page}", func(rw http.ResponseWriter, r *http.Request) {
		for _, a := range list() {
			if a.Link == origin+r.URL.Path {
				c := c
				c.Page = &a
				w.respond(rw, r, "text/html; charset=utf-8", render("page", c))
				return
			}
		}
		http.NotFound(rw, r)
	})
}

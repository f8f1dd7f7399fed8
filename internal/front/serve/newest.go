package serve

import (
	"bytes"
	"context"
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/courant-platform/courant/internal/kit/look"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/store"
)

//go:embed newest.html
var newestText string

//go:embed missing.html
var missingText string

var (
	newestTemplate  = template.Must(template.New("newest").Parse(newestText))
	missingTemplate = template.Must(template.New("missing").Parse(missingText))
)

type missingView struct {
	Style        template.HTML
	Status, Text string
}

// newestView is the front page.
type newestView struct {
	Style   template.HTML
	Pages   []newestPage
	Sources int
	Waiting int // documents that are not live yet
}

// mostCounted is the greatest number that the front page shows exactly.
const mostCounted = 1000

// Many is a count in words.
func (v newestView) Many(n int, what string) string {
	switch {
	case n > mostCounted:
		return "more than 1,000 " + what + "s"
	case n == 1:
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

type newestPage struct {
	Href, Title, Host, Picture string
	When                       string
	Date                       string
}

const newestMost = 60

// newestKey is the key of the front page among the copies; no address is like it.
const newestKey = "/"

// newest lists the newest pages.
func (s *Serve) newest(w http.ResponseWriter, r *http.Request) {
	v := newestView{Style: look.Style()}
	var page bytes.Buffer // whole, so that a slow client holds up nobody
	err := s.asked(r.Context(), newestKey, func(ctx context.Context) error { return s.readNewest(ctx, &v) })
	if err == nil {
		err = newestTemplate.Execute(&page, v)
	}
	if err != nil {
		s.failed(w, r, newestKey, err)
		return
	}
	s.shown.put(&shownPage{key: newestKey, html: page.Bytes(), plain: true, at: s.Store.Now()})
	htmlHeaders(w.Header())
	w.Header().Set("Cache-Control", "no-cache")
	w.Write(page.Bytes()) // an error means that the client has disconnected
}

func (s *Serve) readNewest(ctx context.Context, v *newestView) error {
	return s.Store.Read(ctx, func(q store.Reader) error {
		v.Pages = nil
		if err := q.Row(countSources, mostCounted+1).Scan(&v.Sources); err != nil {
			return err
		}
		if err := q.Row(countWaiting, mostCounted+1).Scan(&v.Waiting); err != nil {
			return err
		}
		return q.Rows(func(rows store.Rows) error {
			var p newestPage
			var address string
			var published, stored int64
			err := rows.Scan(&address, &p.Title, &p.Host, &p.Picture, &published, &stored)
			p.Href = "/page?url=" + url.QueryEscape(address)
			if published == 0 {
				published = stored
			}
			p.Date = store.Time(published).Format(time.RFC3339)
			p.When = ago(s.Store.Now().Sub(store.Time(published)), store.Time(published))
			v.Pages = append(v.Pages, p)
			return err
		}, newestPages, newestMost)
	})
}

func (s *Serve) show(w http.ResponseWriter, r *http.Request, v missingView) {
	if err := missingTemplate.Execute(w, v); err != nil {
		web.Fail(w, r, s.Log, err)
	}
}

// ago says in words how long ago something was; after a day, its date.
func ago(d time.Duration, t time.Time) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return plural(int(d/time.Minute), "minute")
	case d < 24*time.Hour:
		return plural(int(d/time.Hour), "hour")
	}
	return t.Format("2 January 2006")
}

func plural(n int, unit string) string {
	if n == 1 {
		return "1 " + unit + " ago"
	}
	return strconv.Itoa(n) + " " + unit + "s ago"
}

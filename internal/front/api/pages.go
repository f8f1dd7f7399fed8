package api

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/port/store"
)

// Listed is a page in a listing.
type Listed struct {
	ID          int64        `json:"id,string"`
	URL         string       `json:"url"`
	Source      string       `json:"source"`
	Title       string       `json:"title"`
	Language    string       `json:"language"`
	PublishedAt courant.Time `json:"published_at"`
	StoredAt    courant.Time `json:"stored_at"`
	Revision    int          `json:"revision"`
}

// Listing is one batch of pages, newest first. Next is the cursor of the next batch, ""
// at the end. A batch may have fewer pages than asked for, even none, before the end.
type Listing struct {
	Pages []Listed `json:"pages"`
	Next  string   `json:"next"`
}

// mostWalked is how many rows of an index one request reads in search of pages that pass
// the filters that the index does not have.
const mostWalked = 500

// pageQuery is which pages are listed. In the order of ids, before.stored is 0.
type pageQuery struct {
	source, host, language string
	since                  int64
	limit                  int
	before                 place
}

// place is a page's place in a list.
type place struct{ stored, id int64 }

// String returns the place as a cursor.
func (p place) String() string {
	if p.stored == 0 {
		return strconv.FormatInt(p.id, 10)
	}
	return fmt.Sprint(p.stored, "-", p.id)
}

// byStored reports whether the list is in the order in which the pages' contents went
// live, not in that of their ids.
func (q *pageQuery) byStored() bool { return q.since > 0 && q.source == "" && q.host == "" }

func pageQueryOf(v url.Values) (q pageQuery, err error) {
	q = pageQuery{source: v.Get("source"), host: v.Get("host"), language: v.Get("language"), before: place{id: math.MaxInt64}}
	if q.limit, _, err = bounds(v.Get("limit"), ""); err != nil {
		return q, err
	}
	if s := v.Get("since"); s != "" {
		since, err := time.Parse(time.RFC3339, s)
		if err != nil {
			return q, courant.Errorf(courant.Invalid, "since must be an RFC 3339 time, such as 2026-01-02T15:04:05Z, not %q", s)
		}
		q.since = max(since.UnixMilli(), 0)
	}
	if q.byStored() {
		q.before.stored = math.MaxInt64
	}
	return q, q.readCursor(v.Get("cursor"))
}

// readCursor sets the place after which the list continues.
func (q *pageQuery) readCursor(cursor string) (err error) {
	if cursor == "" {
		return nil
	}
	stored, id, both := strings.Cut(cursor, "-")
	if !both {
		id = stored
	}
	if q.before.id, err = strconv.ParseInt(id, 10, 64); err == nil && both {
		q.before.stored, err = strconv.ParseInt(stored, 10, 64)
	}
	if err != nil || both != q.byStored() {
		return courant.Errorf(courant.Invalid, "cursor must be the value of next in an earlier answer to the same query, not %q", cursor)
	}
	return nil
}

// pages lists pages, newest first.
func (a *API) pages(w http.ResponseWriter, r *http.Request) (int, any, error) {
	q, err := pageQueryOf(r.URL.Query())
	if err != nil {
		return 0, nil, err
	}
	next, limit := "", q.limit
	return sendList(w, r, "pages", limit, func(n int) ([]Listed, error) {
		q.limit = n
		out, err := a.list(r.Context(), q)
		if next = out.Next; next != "" && err == nil {
			err = q.readCursor(next)
		}
		return out.Pages, err
	}, func() any { return next })
}

func (a *API) list(ctx context.Context, q pageQuery) (out Listing, err error) {
	out.Pages = []Listed{}
	switch {
	case q.since > 0 || q.source != "" || q.host != "":
		err = a.Store.Read(ctx, func(r store.Reader) error {
			out.Pages, out.Next = out.Pages[:0], ""
			floor, err := q.floor(r)
			if err != nil {
				return err
			}
			if floor != (place{}) {
				out.Next = floor.String()
			}
			query, args := q.filtered(floor)
			return r.Rows(out.scan, query, args...)
		})
	case q.language != "":
		err = a.Store.Rows(ctx, out.scan, listByLanguage, q.language, q.before.id, q.limit)
	default:
		err = a.Store.Rows(ctx, out.scan, listAll, q.before.id, q.limit)
	}
	if n := len(out.Pages); n == q.limit {
		last := place{id: out.Pages[n-1].ID}
		if q.byStored() {
			last.stored = store.Millis(out.Pages[n-1].StoredAt.Time)
		}
		out.Next = last.String()
	}
	return out, err
}

func (l *Listing) scan(rows store.Rows) error {
	var p Listed
	var published, stored int64
	err := rows.Scan(&p.ID, &p.URL, &p.Source, &p.Title, &p.Language, &published, &stored, &p.Revision)
	p.PublishedAt.Time, p.StoredAt.Time = store.Time(published), store.Time(stored)
	l.Pages = append(l.Pages, p)
	return err
}

// indexed reports whether the index that the list reads has all of its filters.
func (q *pageQuery) indexed() bool {
	timeless := q.since == 0 || q.byStored()
	return timeless && q.language == "" && (q.source == "" || q.host == "")
}

// floor is the last place that this request reads; zero if it reads to the end, or if
// each row of the index is a page of the list.
func (q *pageQuery) floor(r store.Reader) (p place, err error) {
	switch {
	case q.indexed():
		return p, nil
	case q.source != "":
		err = r.Row(floorOfSource, q.source, q.before.id, mostWalked).Scan(&p.id)
	case q.host != "":
		err = r.Row(floorOfHost, q.host, q.before.id, mostWalked).Scan(&p.id)
	default:
		err = r.Row(floorOfStored, q.before.stored, q.before.id, q.since, mostWalked).Scan(&p.stored, &p.id)
	}
	if store.NoRow(err) {
		err = nil
	}
	return p, err
}

// filtered is the statement down to a floor.
func (q *pageQuery) filtered(floor place) (query string, args []any) {
	switch {
	case q.source != "":
		return listBySource, []any{q.source, q.before.id, floor.id, q.since, q.language, q.host, q.limit}
	case q.host != "":
		return listByHost, []any{q.host, q.before.id, floor.id, q.since, q.language, "", q.limit}
	}
	return listByStored, []any{q.before.stored, q.before.id, max(floor.stored, q.since), floor.id, q.language, q.limit}
}

func bounds(limit, cursor string) (n int, before int64, err error) {
	n, before = 50, 1<<63-1
	if limit != "" {
		if n, err = strconv.Atoi(limit); err != nil || n < 1 || n > 1000 {
			return 0, 0, courant.Errorf(courant.Invalid, "limit must be from 1 to 1000, not %q", limit)
		}
	}
	if cursor != "" {
		if before, err = strconv.ParseInt(cursor, 10, 64); err != nil {
			return 0, 0, courant.Errorf(courant.Invalid, "cursor must be the value of next in an earlier answer, not %q", cursor)
		}
	}
	return n, before, nil
}

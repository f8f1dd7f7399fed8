package api_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/courant-platform/courant/internal/front/api"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

// onePage is a row of pages with what lists filter by; the source is the first letter
// of host.
type onePage struct {
	id, stored     int64
	host, language string
	withdrawn      bool
}

// manyPages are more than a request walks. Few of them are in German, and those of the
// host c are the oldest. Several have the same time.
func manyPages() (all []onePage) {
	for i := range int64(4500) {
		p := onePage{id: i + 1, stored: 1_000_000 + i*7919%4500/3*1000, host: "a.example", language: "en", withdrawn: i%10 == 3}
		switch {
		case i < 5:
			p.host = "c.example"
		case i%2 == 0:
			p.host = "b.example"
		}
		if i%900 == 7 {
			p.language = "de"
		}
		all = append(all, p)
	}
	return all
}

func putPages(t *testing.T, s *store.Store, all []onePage) {
	t.Helper()
	var args [][]any
	for _, p := range all {
		key := link.Digest(fmt.Sprint(p.id))
		args = append(args, []any{p.id, key[:], fmt.Sprint("http://", p.host, "/", p.id), p.host, int64(p.host[0]), p.withdrawn, p.language, p.stored})
	}
	if err := s.Write(t.Context(), func(tx *store.Tx) error {
		for _, name := range []string{"a", "b", "c"} {
			if _, err := tx.Exec(`INSERT INTO sources (id, name, kind, url, host, title, trusted, added) VALUES ($1, $2, 'feed', $2, $2, '', FALSE, 1)`, int64(name[0]), name); err != nil {
				return err
			}
		}
		_, err := tx.ExecAll(`INSERT INTO pages (id, url, address, host, source, rank, as_of, withdrawn, hash, revision, title, language, picture, published, updated, fetched, stored, rendered_at)
			VALUES ($1, $2, $3, $4, $5, 0, 1, $6, $2, 1, '', $7, '', 0, 0, 0, $8, 0)`, args)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// listedBy is what a query must list, in order.
func listedBy(all []onePage, q url.Values, since int64) (ids []int64) {
	byStored := since > 0 && q.Get("source") == "" && q.Get("host") == ""
	all = slices.DeleteFunc(slices.Clone(all), func(p onePage) bool {
		return p.withdrawn || p.stored < since || q.Get("host") != "" && p.host != q.Get("host") ||
			q.Get("source") != "" && p.host[:1] != q.Get("source") || q.Get("language") != "" && p.language != q.Get("language")
	})
	slices.SortFunc(all, func(p, o onePage) int {
		if byStored && p.stored != o.stored {
			return cmp.Compare(o.stored, p.stored)
		}
		return cmp.Compare(o.id, p.id)
	})
	for _, p := range all {
		ids = append(ids, p.id)
	}
	return ids
}

func TestEveryListGivesEachOfItsPagesOnce(t *testing.T) {
	all := manyPages()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := serving(t, s)
		putPages(t, s, all)
		for _, text := range []string{"", "language=de", "language=en", "language=fr", "source=a", "source=x", "host=c.example", "host=x",
			"source=a&host=a.example", "source=a&host=b.example", "source=b&language=de", "host=a.example&language=fr"} {
			for _, since := range []string{"", "1970-01-01T00:00:00Z", "1970-01-01T00:36:40Z", "1970-01-01T00:55:00Z"} {
				for _, limit := range []int{200, 1000} {
					q, err := url.ParseQuery(text)
					if err != nil {
						t.Fatal(err)
					}
					q.Set("limit", strconv.Itoa(limit))
					q.Set("since", since)
					w.walk(q, listedBy(all, q, millis(t, since)))
				}
			}
		}
	})
}

// walk reads a list to its end.
func (w *world) walk(q url.Values, want []int64) {
	w.t.Helper()
	var got []int64
	for parts := 0; ; parts++ {
		var l api.Listing
		r := w.as("", http.MethodGet, "/api/v1/pages?"+q.Encode(), "", &l)
		for _, p := range l.Pages {
			got = append(got, p.ID)
		}
		if q.Set("cursor", l.Next); l.Next == "" {
			break
		}
		if r.StatusCode != http.StatusOK || parts > 7000 {
			w.t.Fatalf("%v: status %d, part %d", q, r.StatusCode, parts)
		}
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("%v: %d pages %v…, want %d pages %v…", q, len(got), got[:min(len(got), 10)], len(want), want[:min(len(want), 10)])
	}
}

func TestACursorBelongsToItsQuery(t *testing.T) {
	w := open(t)
	for _, query := range []string{"cursor=5-6", "since=2026-01-02T03:04:05Z&cursor=5", "cursor=5-", "cursor=-5", "since=2026-01-02T03:04:05Z&cursor=x-6",
		"cursor=9223372036854775808"} {
		if r := w.as("", http.MethodGet, "/api/v1/pages?"+query, "", nil); r.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d", query, r.StatusCode)
		}
	}
}

// millis is an RFC 3339 time in milliseconds, 0 for none.
func millis(t *testing.T, text string) int64 {
	t.Helper()
	if text == "" {
		return 0
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMilli()
}

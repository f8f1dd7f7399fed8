package bench

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/api"
	"github.com/courant-platform/courant/internal/front/serve"
	"github.com/courant-platform/courant/internal/kit/admission"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/sqlite"
)

var listed = flag.Int("pages", 200_000, "pages in the database whose lists are measured")

// lists are requests for which an index has no filter, or not all, or rows that are rare.
var lists = []string{
	"/", "/api/v1/pages", "/api/v1/pages?limit=1000", "/api/v1/pages?cursor=1000", "/api/v1/pages?language=en", "/api/v1/pages?language=is",
	"/api/v1/pages?language=xx", "/api/v1/pages?since=2020-01-01T00:00:00Z", "/api/v1/pages?since=2030-01-01T00:00:00Z",
	"/api/v1/pages?since=2020-01-01T00:00:00Z&language=xx", "/api/v1/pages?source=shop", "/api/v1/pages?source=shop&language=xx",
	"/api/v1/pages?source=shop&host=x", "/api/v1/pages?source=shop&since=2030-01-01T00:00:00Z", "/api/v1/pages?host=shop.example&language=xx",
	"/api/v1/pages?host=x", "/api/v1/changes?after=0", "/api/v1/sources", "/api/v1/sources/shop", "/api/v1/sources/shop/progress", "/api/v1/hosts",
	"/api/v1/host?host=h7.example",
}

// BenchmarkLists measures each list of a database with many pages.
func BenchmarkLists(b *testing.B) {
	fronts := listing(b)
	for _, path := range lists {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				get(b.Context(), b, fronts, path)
			}
		})
	}
}

// BenchmarkNewest measures the newest 50 pages, alone and beside clients that read lists
// with filters one after the other.
func BenchmarkNewest(b *testing.B) {
	fronts := listing(b)
	for _, hostile := range []int{0, 6} {
		b.Run(fmt.Sprintf("beside %d lists", hostile), func(b *testing.B) {
			ctx, cancel := context.WithCancel(b.Context())
			var all sync.WaitGroup
			for i := range hostile {
				all.Go(func() {
					for ctx.Err() == nil {
						getAs(ctx, b, fronts, fmt.Sprintf("192.0.2.%d:1", i+1), []string{"/api/v1/pages?language=xx", "/api/v1/pages?since=2020-01-01T00:00:00Z&language=xx"}[i%2])
					}
				})
			}
			for b.Loop() {
				get(b.Context(), b, fronts, "/api/v1/pages?limit=50")
			}
			cancel()
			all.Wait()
		})
	}
}

func get(ctx context.Context, b *testing.B, h http.Handler, path string) {
	getAs(ctx, b, h, "198.51.100.1:1", path)
}

func getAs(ctx context.Context, b *testing.B, h http.Handler, from, path string) {
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	r.RemoteAddr = from
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK && ctx.Err() == nil {
		b.Errorf("%s: %d %s", path, w.Code, w.Body)
	}
}

// listing returns the API and the front page over a new database with many pages.
func listing(b *testing.B) http.Handler {
	b.Helper()
	d, err := sqlite.Open(b.Context(), sqlite.Config{Path: filepath.Join(b.TempDir(), "courant.db"), NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	s, err := store.Open(b.Context(), d, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	fillSources(b, s)
	for first := 0; first < *listed; first += 10_000 {
		fillPages(b, s, first)
	}
	admit := func(next web.Handler) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { next(w, r, courant.Visitor{Role: courant.RoleOperator}) }
	}
	mux := http.NewServeMux()
	(&api.API{Store: s, Log: slog.New(slog.DiscardHandler), Admit: admit}).Register(mux)
	(&serve.Serve{Store: s, Log: slog.New(slog.DiscardHandler)}).Register(mux)
	return &admission.Door{Gate: &admission.Gate{Slots: 2}, Next: mux,
		Client: func(r *http.Request) admission.Client { return admission.ClientOf(r, nil) },
		Rule: func(r *http.Request) admission.Rule {
			_, pattern := mux.Handler(r)
			return admission.Rule{Kind: pattern}
		}}
}

// fillSources puts 10,000 sources, of which the first, shop, has half of all pages.
func fillSources(b *testing.B, s *store.Store) {
	b.Helper()
	sets := [4][][]any{}
	for i := range 10_000 {
		name, host := fmt.Sprint("source ", i), fmt.Sprintf("h%d.example", i)
		if i == 0 {
			name, host = "shop", "shop.example"
		}
		sets[0] = append(sets[0], []any{i + 1, name, "http://" + host + "/feed", host})
		sets[1] = append(sets[1], []any{i + 1, "http://" + host + "/feed", "http://" + host, i % 256})
		sets[2], sets[3] = append(sets[2], []any{i + 1}), append(sets[3], []any{"http://" + host, i % 256})
	}
	put(b, s, `INSERT INTO sources (id, name, kind, url, host, title, trusted, added) VALUES ($1, $2, 'feed', $3, $4, '', FALSE, 1)`, sets[0])
	put(b, s, `INSERT INTO answers (source, url, origin, partition) VALUES ($1, $2, $3, $4)`, sets[1])
	put(b, s, `INSERT INTO readings (source) VALUES ($1)`, sets[2])
	put(b, s, `INSERT INTO polls (source, due) VALUES ($1, 0)`, sets[2])
	put(b, s, `INSERT INTO hosts (origin, partition) VALUES ($1, $2)`, sets[3])
}

// fillPages puts 10,000 pages, and a document that waits for every tenth.
func fillPages(b *testing.B, s *store.Store, first int) {
	b.Helper()
	var pages, documents [][]any
	for i := first; i < first+10_000; i++ {
		source, host, language := 1, "shop.example", "en"
		if i%2 == 0 {
			source = i/2%9_999 + 2
			host = fmt.Sprintf("h%d.example", source-1)
		}
		switch {
		case i%50_000 == 7:
			language = "is"
		case i%10 == 3:
			language = "de"
		}
		key := make([]byte, 16)
		binary.BigEndian.PutUint64(key, uint64(i)*0x9e3779b97f4a7c15) // in no order, as digests are
		address := fmt.Sprintf("http://%s/a/page/with/a/long/address/%d", host, i)
		pages = append(pages, []any{i + 1, key, address, host, source, i%100 == 99, "A title of a usual length, for page " + fmt.Sprint(i),
			language, 1_700_000_000_000 + int64(i)*1000})
		if i%10 == 0 {
			documents = append(documents, []any{key, source, address})
		}
	}
	put(b, s, `INSERT INTO pages (id, url, address, host, source, rank, as_of, withdrawn, hash, revision, title, language, picture, published, updated, fetched,
		stored, rendered_at, change) VALUES ($1, $2, $3, $4, $5, 0, 1, $6, $2, 1, $7, $8, '', $9, 0, $9, $9, $9, $1)`, pages)
	put(b, s, `INSERT INTO documents (url, source, address, rank, as_of, state, due, fetched, content, trace)
		VALUES ($1, $2, $3, 0, 1, 1, 1, 1, '', '')`, documents)
}

func put(b *testing.B, s *store.Store, query string, sets [][]any) {
	b.Helper()
	if err := s.Write(b.Context(), func(tx *store.Tx) error {
		_, err := tx.ExecAll(query, sets)
		return err
	}); err != nil {
		b.Fatal(err)
	}
}

package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/desk"
	"github.com/courant-platform/courant/internal/front/api"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/pack"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

const (
	address = "http://a.example/1"
	token   = "session token"
)

// world is the API over a store, behind a server.
type world struct {
	t        *testing.T
	store    *store.Store
	api      *api.API
	server   *httptest.Server
	complain bytes.Buffer // what the server says against our handlers
}

func open(t *testing.T) *world {
	t.Helper()
	return serving(t, storetest.Memory(t))
}

// serving is the API over a store.
func serving(t *testing.T, s *store.Store) *world {
	t.Helper()
	w := &world{t: t, store: s}
	w.api = &api.API{Store: w.store, Log: slog.New(slog.DiscardHandler), Admit: admit, CrawlDelay: crawlDelay,
		Desk: &desk.Desk{Store: w.store}}
	mux := http.NewServeMux()
	w.api.Register(mux)
	w.server = httptest.NewUnstartedServer(mux)
	w.server.Config.ErrorLog = log.New(&w.complain, "", 0)
	w.server.Start()
	t.Cleanup(func() {
		w.server.Close()
		if w.complain.Len() > 0 {
			t.Errorf("the server complains: %s", w.complain.String())
		}
	})
	return w
}

// admit admits requests with the token.
func admit(next web.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			web.FailWith(w, http.StatusUnauthorized, "")
			return
		}
		next(w, r, courant.Visitor{Account: "local", Role: courant.RoleOperator})
	}
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	if err := w.store.Write(w.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
}

// page puts a page into the store, without a body if it is withdrawn.
func (w *world) page(id int64, address string, item courant.Item) {
	w.t.Helper()
	key := link.Digest(address)
	content, err := pack.Encode(courant.Document{URL: address, Source: 1, Item: item})
	if err != nil {
		w.t.Fatal(err)
	}
	w.exec(`INSERT INTO pages (url, id, address, host, source, rank, as_of, withdrawn, hash, revision, title, language, picture, published, updated, fetched, stored, rendered_at, change)
		VALUES ($1, $2, $3, $4, 1, 3, 1, $5, $1, 7, $6, $7, '', 1767323045000, 0, 5000, $8, 1, $2)`, key[:], id, address, link.Host(address), item.Withdrawn, item.Title, item.Language, 1000*id)
	if !item.Withdrawn {
		w.exec(`INSERT INTO bodies (page, document, html) VALUES ($1, $2, $3)`, id, content, []byte{})
	}
}

// do asks with a token; out, if it is not nil, gets the answer.
func (w *world) do(method, path, body string, out any) *http.Response {
	w.t.Helper()
	return w.as("Bearer "+token, method, path, body, out)
}

func (w *world) as(who, method, path, body string, out any) *http.Response {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.server.URL+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if who != "" {
		r.Header.Set("Authorization", who)
	}
	resp, err := w.server.Client().Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	if out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			w.t.Fatalf("%s %s answered %s: %s", method, path, resp.Status, text)
		}
	}
	return resp
}

func pagePath(address string) string { return "/api/v1/page?url=" + url.QueryEscape(address) }

func TestAPageIsGivenToEveryone(t *testing.T) {
	w := open(t)
	w.exec(`INSERT INTO sources (id, name, kind, url, host, title, trusted, added) VALUES (1, 'a', 'feed', 'http://a.example/feed', 'a.example', '', FALSE, 1)`)
	w.page(1<<61, address, courant.Item{Title: "One <b>", Language: "en", Content: "<p>First</p><p>Second &amp; <img src=\"http://a.example/p.png\" alt=\"A picture\"></p>",
		Authors: []courant.Person{{Name: "Ann"}}, Images: []string{"http://a.example/p.png", "http://a.example/missing.png"}})
	key, picture := link.Digest(address), link.Digest("http://a.example/p.png")
	w.exec(`INSERT INTO items (source, key, url, hash, as_of, withdrawn) VALUES (1, $1, $1, $1, 1, FALSE)`, key[:])
	content := strings.Repeat("0a", 32)
	w.exec(`INSERT INTO media (hash, url, state, content, type, size, width, height, variants) VALUES ($1, '', 1, $2, 'image/png', 10, 640, 480, $3)`,
		picture[:], content, `[{"file":"`+content+`/320.png","type":"image/png","width":320}]`)
	var p map[string]any
	r := w.as("", http.MethodGet, pagePath(address), "", &p)
	if r.StatusCode != http.StatusOK || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") || r.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s %v", r.Status, r.Header)
	}
	for name, want := range map[string]any{
		"id": "2305843009213693952", "url": address, "source": "a", "title": "One <b>", "text": "First\n\nSecond &", "language": "en", "revision": 7.0,
		"published_at": "2026-01-02T03:04:05Z", "updated_at": "", "fetched_at": "1970-01-01T00:00:05Z", "content_hash": fmt.Sprintf("%x", key),
	} {
		if p[name] != want {
			t.Errorf("%s is %#v, want %#v", name, p[name], want)
		}
	}
	images, ok := p["images"].([]any)
	if !ok || len(images) != 1 {
		t.Fatalf("images are %v", p["images"])
	}
	image := fmt.Sprint(images[0])
	for _, want := range []string{"url:/media/" + content + "/640.png", "alt:A picture", "source_url:http://a.example/p.png", "/320.png", "width:640"} {
		if !strings.Contains(image, want) {
			t.Errorf("the picture %s lacks %s", image, want)
		}
	}
	if fmt.Sprint(p["sources"]) != "[a]" || fmt.Sprint(p["videos"]) != "[]" {
		t.Errorf("sources %v, videos %v", p["sources"], p["videos"])
	}
}

func TestErrorsAreProblems(t *testing.T) {
	w := open(t)
	w.page(1, address, courant.Item{Withdrawn: true})
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", pagePath(address), "", 410, "withdrawn"},
		{"GET", pagePath("http://a.example/none"), "", 404, "there is no page for http://a.example/none"},
		{"GET", pagePath("nonsense"), "", 400, ""},
		{"GET", "/api/v1/page", "", 400, ""},
		{"GET", "/api/v1/nothing", "", 404, "there is nothing at GET /api/v1/nothing"},
		{"GET", "/api/v1/pages?limit=0", "", 400, "limit"},
		{"GET", "/api/v1/pages?limit=x", "", 400, "limit"},
		{"GET", "/api/v1/pages?cursor=x", "", 400, "cursor"},
		{"GET", "/api/v1/pages?since=yesterday", "", 400, "since"},
		{"GET", "/api/v1/story?url=" + url.QueryEscape("http://a.example/none"), "", 404, "nothing is known about"},
		{"GET", "/api/v1/sources/none", "", 404, "there is no source"},
		{"DELETE", "/api/v1/sources/none", "", 404, "there is no source"},
		{"POST", "/api/v1/sources", "{", 400, "the source"},
		{"POST", "/api/v1/sources", "[{]", 400, "the array of sources"},
		{"POST", "/api/v1/sources", `{"url":"ftp://a.example/"}`, 400, "ftp://a.example/"},
		{"POST", "/api/v1/sources", `{}`, 400, ""},
		{"POST", "/api/v1/sources", `{"url":"http://a.example/","kind":"gopher"}`, 400, "gopher"},
	} {
		var p struct {
			Title, Detail string
			Status        int
		}
		r := w.do(c.method, c.path, c.body, &p)
		if r.StatusCode != c.status || p.Status != c.status || p.Title == "" || !strings.Contains(p.Detail, c.says) || r.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: %s %+v", c.method, c.path, r.Status, p)
		}
	}
}

func TestChangesAndStateNeedAToken(t *testing.T) {
	w := open(t)
	for _, path := range []string{"GET /api/v1/sources", "POST /api/v1/sources", "GET /api/v1/sources/a", "GET /api/v1/sources/a/progress", "DELETE /api/v1/sources/a",
		"POST /api/v1/sources/a/ask", "PATCH /api/v1/sources/a", "GET /api/v1/story?url=x", "POST /api/v1/imports", "GET /api/v1/audit", "GET /api/v1/hosts", "GET /api/v1/host?host=a", "GET /api/v1/subscriptions",
		"PUT /api/v1/subscriptions/a", "DELETE /api/v1/subscriptions/a", "GET /api/v1/subscriptions/a/downloads", "POST /api/v1/subscriptions/a/ack", "GET /api/v1/downloads/1/body"} {
		method, path, _ := strings.Cut(path, " ")
		for who, let := range map[string]bool{"": false, "Bearer " + token: true} {
			if r := w.as(who, method, path, "", nil); (r.StatusCode != http.StatusUnauthorized) != let {
				t.Errorf("%q: %s %s: %s", who, method, path, r.Status)
			}
		}
	}
}

func TestSourcesAreAddedOnceAndRemoved(t *testing.T) {
	w := open(t)
	var added desk.Added
	if r := w.do("POST", "/api/v1/sources", `{"url":"HTTP://A.Example:80/feed.xml","title":"\u0000A\n","evry":"5m"}`, &added); r.StatusCode != http.StatusCreated || added.Source == nil ||
		added.Source.URL != "http://a.example/feed.xml" || added.Source.Name != "a.example-feed" || added.Source.Kind != courant.KindFeed ||
		!slices.Equal(added.Ignored, []string{"evry"}) {
		t.Fatalf("%s %+v", r.Status, added)
	}
	var again desk.Added
	if r := w.do("POST", "/api/v1/sources", `{"url":"http://a.example/feed.xml"}`, &again); r.StatusCode != http.StatusOK || !again.Known || again.Source.ID != added.Source.ID {
		t.Errorf("%s %+v", r.Status, again)
	}
	var all []api.SourceState
	if w.do("GET", "/api/v1/sources", "", &all); len(all) != 1 || all[0].Title != "A" || all[0].Due.IsZero() {
		t.Errorf("listed %+v", all)
	}
	for _, name := range []string{"a.example-feed", url.PathEscape("http://a.example/feed.xml")} {
		var one api.SourceState
		if r := w.do("GET", "/api/v1/sources/"+name, "", &one); r.StatusCode != http.StatusOK || one.ID != added.Source.ID {
			t.Errorf("%s: %s %+v", name, r.Status, one)
		}
	}
	w.page(1, address, courant.Item{Title: "One"})
	w.do("DELETE", "/api/v1/sources/a.example-feed", "", nil)
	if w.do("GET", "/api/v1/sources", "", &all); len(all) != 0 {
		t.Errorf("after the removal: %+v", all)
	}
	if r := w.do("GET", pagePath(address), "", nil); r.StatusCode != http.StatusOK {
		t.Errorf("its page: %s", r.Status)
	}
}

func TestASourceTellsOfItsHub(t *testing.T) {
	w := open(t)
	var added desk.Added
	w.do("POST", "/api/v1/sources", `{"url":"http://a.example/feed.xml"}`, &added)
	show := func() *api.HubState {
		var s api.SourceState
		w.do("GET", "/api/v1/sources/a.example-feed", "", &s)
		return s.Hub
	}
	if h := show(); h != nil {
		t.Errorf("without a hub: %+v", h)
	}
	now := w.store.Now().UnixMilli()
	w.exec(`INSERT INTO websub (id, source, hub, topic, secret, state, until, due, problem) VALUES ('id', $1, 'http://hub.example/', 'http://a.example/feed.xml',
		'key', 'active', $2, 0, 'slow')`, added.Source.ID, now+1000_000)
	if h := show(); h == nil || h.URL != "http://hub.example/" || h.State != "active" || h.Until.IsZero() || !h.Pinged.IsZero() || h.Announces || h.Problem != "slow" {
		t.Errorf("before a ping: %+v", h)
	}
	w.exec(`UPDATE websub SET pinged = $1`, now)
	if h := show(); h.Pinged.IsZero() || !h.Announces {
		t.Errorf("after a ping: %+v", h)
	}
	w.exec(`UPDATE readings SET changed = $1`, now+(16*time.Minute).Milliseconds())
	if h := show(); h.Announces {
		t.Errorf("when polling found what the hub did not tell: %+v", h)
	}
}

func TestEachOfManySourcesGetsItsResult(t *testing.T) {
	w := open(t)
	sources := []desk.NewSource{{URL: "http://a.example/feed"}, {URL: "a.example/feed2"}, {URL: "nonsense"}, {URL: "http://a.example/feed"},
		{URL: "http://b.example/", Name: "taken"}, {URL: "http://c.example/", Name: "taken"}}
	for i := range 500 {
		sources = append(sources, desk.NewSource{URL: fmt.Sprintf("http://many.example/%d", i), Title: "many"})
	}
	body, err := json.Marshal(sources)
	if err != nil {
		t.Fatal(err)
	}
	var added []desk.Added
	w.do("POST", "/api/v1/sources", string(body), &added)
	if len(added) != len(sources) {
		t.Fatalf("%d of %d are told", len(added), len(sources))
	}
	var fates []string
	for _, a := range added[:6] {
		fates = append(fates, fmt.Sprint(a.Source != nil, a.Known, a.Error != ""))
	}
	want := []string{"true false false", "true false false", "false false true", "true true false", "true false false", "false false true"}
	if !slices.Equal(fates, want) {
		t.Errorf("got %q, want %q", fates, want)
	}
	names := map[string]bool{}
	for _, a := range added[6:] {
		if a.Source == nil || names[a.Source.Name] {
			t.Fatalf("got %+v", a)
		}
		names[a.Source.Name] = true
	}
}

func TestANameOfASourceIsShortPlainAndNoAddress(t *testing.T) {
	w := open(t)
	for name, says := range map[string]string{
		strings.Repeat("я", 101): "more than 100 characters", "a\x1b[2Jb": "unprintable", "a\nb": "unprintable", "a\u202eb": "unprintable", "\u00a0": "unprintable",
		"http://a.example/feed": "looks like an address", " a": "space", "..": "is not a valid name",
	} {
		text, err := json.Marshal(desk.NewSource{URL: "http://b.example/feed", Name: name})
		if err != nil {
			t.Fatal(err)
		}
		var p struct{ Detail string }
		if r := w.do("POST", "/api/v1/sources", string(text), &p); r.StatusCode != http.StatusBadRequest || !strings.Contains(p.Detail, says) || len(p.Detail) > 600 {
			t.Errorf("%q: %s %s", name, r.Status, p.Detail)
		}
		var many []desk.Added
		if w.do("POST", "/api/v1/sources", "["+string(text)+"]", &many); len(many) != 1 || !strings.Contains(many[0].Error, says) {
			t.Errorf("%q, imported: %+v", name, many)
		}
	}
	for i, name := range []string{strings.Repeat("я", 100), "Новости 24/7", "产品", "a & b"} {
		text, err := json.Marshal(desk.NewSource{URL: fmt.Sprint("http://b.example/", i), Name: name})
		if err != nil {
			t.Fatal(err)
		}
		if r := w.do("POST", "/api/v1/sources", string(text), nil); r.StatusCode != http.StatusCreated {
			t.Errorf("%q: %s", name, r.Status)
		}
		var s api.SourceState
		if w.do("GET", "/api/v1/sources/"+url.PathEscape(name), "", &s); s.Name != name {
			t.Errorf("%q is found as %q", name, s.Name)
		}
	}
}

func TestAnAddressMeansItsOwnSourceHoweverAnotherIsNamed(t *testing.T) {
	w := open(t)
	w.do("POST", "/api/v1/sources", `{"url":"http://a.example/feed","name":"a"}`, nil)
	w.do("POST", "/api/v1/sources", `{"url":"http://b.example/feed","name":"b"}`, nil)
	w.exec(`UPDATE sources SET name = 'http://a.example/feed' WHERE name = 'b'`) // names were not checked once
	path := "/api/v1/sources/" + url.PathEscape("http://a.example/feed")
	var s api.SourceState
	for _, ask := range [][2]string{{"GET", path}, {"POST", path + "/ask"}, {"DELETE", path}} {
		if w.do(ask[0], ask[1], "", &s); s.URL != "http://a.example/feed" {
			t.Errorf("%s: got %s", ask[0], s.URL)
		}
	}
	if w.do("DELETE", path, "", &s); s.URL != "http://b.example/feed" {
		t.Errorf("then the name counts: got %s", s.URL)
	}
}

func TestPagesAreListedNewestFirstWithACursor(t *testing.T) {
	w := open(t)
	w.exec(`INSERT INTO sources (id, name, kind, url, host, title, trusted, added) VALUES (1, 'a', 'feed', 'http://a.example/feed', 'a.example', '', FALSE, 1)`)
	for i := range int64(25) {
		w.page(i+1, fmt.Sprintf("http://%c.example/%d", 'a'+i%2, i), courant.Item{Title: fmt.Sprint(i), Language: []string{"en", "de"}[i%2], Withdrawn: i == 24})
	}
	var got []int64
	next := ""
	for range 10 {
		var l api.Listing
		w.as("", "GET", "/api/v1/pages?limit=10&cursor="+next, "", &l)
		for _, p := range l.Pages {
			got = append(got, p.ID)
		}
		if next = l.Next; next == "" {
			break
		}
	}
	if len(got) != 24 || got[0] != 24 || !slices.IsSortedFunc(got, func(a, b int64) int { return int(b - a) }) {
		t.Errorf("listed %v", got)
	}
	for query, n := range map[string]int{"host=a.example": 12, "host=c.example": 0, "language=de": 12, "source=a": 24, "source=b": 0,
		"source=a&language=en": 12, "since=1970-01-01T00:00:20Z": 5} {
		var l api.Listing
		if w.as("", "GET", "/api/v1/pages?"+query, "", &l); len(l.Pages) != n {
			t.Errorf("%s: %d pages, want %d", query, len(l.Pages), n)
		}
	}
}

func TestAStoryIsToldInOrder(t *testing.T) {
	w := open(t)
	w.page(1, address, courant.Item{Title: "One"})
	w.exec(`INSERT INTO events (page, as_of, at, trace) VALUES (1, 1, 2, $1)`,
		`{"at":"2026-01-02T03:04:06Z","step":"parsed"}`+"\n"+`{"at":"2026-01-02T03:04:05Z","step":"fetched"}`+"\n"+`{"at":"2026-01-02T03:04:07Z","step":"printed","note":"revision 1"}`+"\n")
	var s api.Story
	w.do("GET", "/api/v1/story?url="+url.QueryEscape(address), "", &s)
	if s.State != "live" || len(s.Steps) != 3 || s.Steps[0].Step != "fetched" || s.Steps[2].Step != "printed" {
		t.Errorf("told %+v", s)
	}
	key := link.Digest(address)
	w.exec(`INSERT INTO documents (url, source, address, rank, as_of, state, missing, due, fetched, content, trace) VALUES ($1, 1, '', 3, 2, 1, 4, 1, 1, $1, $2)`, key[:],
		`{"at":"2026-01-02T04:00:00Z","step":"waiting"}`+"\n")
	if w.do("GET", "/api/v1/story?url="+url.QueryEscape(address), "", &s); s.State != "waiting" || s.Missing != 4 || len(s.Steps) != 4 {
		t.Errorf("told %+v", s)
	}
}

func TestTheStoryOfWhatCameInABatchBeginsWithItsID(t *testing.T) {
	w := open(t)
	w.page(int64(time.Hour/time.Millisecond)<<22, address, courant.Item{Title: "One"})
	w.exec(`INSERT INTO events (page, as_of, at, trace) SELECT id, 1, 2, $1 FROM pages`, `{"at":"2026-01-02T03:04:06Z","step":"printed","note":"revision 2"}`+"\n")
	var s api.Story
	w.do("GET", "/api/v1/story?url="+url.QueryEscape(address), "", &s)
	if len(s.Steps) != 2 || s.Steps[0].Step != "kept" || s.Steps[0].At.Format(time.RFC3339) != "2020-01-01T01:00:00Z" {
		t.Errorf("told %+v", s)
	}
}

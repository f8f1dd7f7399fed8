package serve_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/courant-platform/courant/internal/front/serve"
	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/blob/memory"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/faultstore"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

const (
	address = "http://a.example/1"
	body    = "<!DOCTYPE html><p>Hello</p>"
)

// world is the front over a store in memory.
type world struct {
	t      *testing.T
	store  *store.Store
	faults *faultstore.Driver
	blobs  blob.Bucket
	serve  *serve.Serve
	http   http.Handler
}

func open(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, blobs: blob.Bucket{Driver: &memory.Memory{}}}
	w.store, w.faults = storetest.Faulty(t)
	mux := http.NewServeMux()
	w.serve = &serve.Serve{Store: w.store, Blobs: w.blobs, Config: serve.Defaults(), Log: slog.New(slog.DiscardHandler)}
	w.serve.Register(mux)
	w.http = web.Hosts([]string{"news.example.org"}, mux)
	return w
}

// page puts a page into the store, without a body if it is withdrawn.
func (w *world) page(id int64, address, title string, withdrawn bool) {
	w.t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, body)
	z.Close()
	key := link.Digest(address)
	if err := w.store.Write(w.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO pages (url, id, address, host, source, rank, as_of, withdrawn, hash, revision, title, language, picture, published, updated, fetched, stored, rendered_at)
			VALUES ($1, $2, $3, $4, 1, 3, 1, $5, $1, 7, $6, '', '', 0, 0, 0, $7, 1)`, key[:], id, address, link.Host(address), withdrawn, title, tx.Now().UnixMilli())
		if err == nil && !withdrawn {
			_, err = tx.Exec(`INSERT INTO bodies (page, document, html) VALUES ($1, $2, $3)`, id, []byte{}, packed.Bytes())
		}
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
}

// get asks; header is names and values in turn.
func (w *world) get(path string, header ...string) *http.Response {
	w.t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080/", nil)
	u, err := url.ParseRequestURI(path)
	if err != nil {
		w.t.Fatal(err)
	}
	r.URL = u
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	out := httptest.NewRecorder()
	w.http.ServeHTTP(out, r)
	return out.Result()
}

func read(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func pagePath(address string) string { return "/page?url=" + url.QueryEscape(address) }

func TestAPageIsServedAsItLiesInTheStore(t *testing.T) {
	w := open(t)
	w.page(1, address, "One", false)
	for _, c := range []struct {
		accept string
		packed bool
	}{{"", false}, {"gzip", true}, {"br, gzip;q=0.5", true}, {"*", true}, {"gzip;q=0", false}, {"identity", false}, {"gzip; q=0.0", false}} {
		r := w.get(pagePath(address), "Accept-Encoding", c.accept)
		text := read(t, r)
		if packed := r.Header.Get("Content-Encoding") == "gzip"; packed != c.packed {
			t.Errorf("%q: packed is %v", c.accept, packed)
		} else if packed {
			z, err := gzip.NewReader(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		if r.StatusCode != http.StatusOK || text != body || r.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: %s %v %q", c.accept, r.Status, r.Header, text)
		}
	}
}

func TestAPageMayDoNothingInTheBrowser(t *testing.T) {
	w := open(t)
	w.page(1, address, "One", false)
	for _, path := range []string{pagePath(address), pagePath("http://a.example/none"), "/"} {
		h := w.get(path).Header
		policy := map[string]string{}
		for directive := range strings.SplitSeq(h.Get("Content-Security-Policy"), ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(directive), " ")
			policy[name] = value
		}
		if policy["default-src"] != "'none'" || policy["base-uri"] != "'none'" || policy["form-action"] != "'none'" || policy["frame-ancestors"] != "'none'" {
			t.Errorf("%s: the policy is %v", path, policy)
		}
		sandbox, ok := policy["sandbox"]
		if !ok || strings.Contains(sandbox, "allow-same-origin") || strings.Contains(sandbox, "allow-scripts") {
			t.Errorf("%s: the sandbox is %q", path, sandbox)
		}
		if _, ok := policy["script-src"]; ok || strings.Contains(policy["style-src"], "unsafe") {
			t.Errorf("%s: the policy is %v", path, policy)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" || !strings.HasPrefix(h.Get("Content-Type"), "text/html; charset=utf-8") {
			t.Errorf("%s: %v", path, h)
		}
	}
}

func TestAnUnchangedPageIsNotSentAgain(t *testing.T) {
	w := open(t)
	w.page(1, address, "One", false)
	tag := w.get(pagePath(address)).Header.Get("Etag")
	if tag == "" {
		t.Fatal("no ETag")
	}
	for given, status := range map[string]int{tag: 304, "W/" + tag: 304, `"other", ` + tag: 304, "*": 304, `"other"`: 200, "": 200} {
		r := w.get(pagePath(address), "If-None-Match", given)
		if r.StatusCode != status || status == 304 && (read(t, r) != "" || r.Header.Get("Etag") != tag) {
			t.Errorf("If-None-Match %s: %s", given, r.Status)
		}
	}
}

func TestEverySpellingOfAnAddressFindsItsPage(t *testing.T) {
	w := open(t)
	w.page(1, "http://a.example/b/1?x=1", "One", false)
	for _, spelling := range []string{"http://a.example/b/1?x=1", "HTTP://A.EXAMPLE:80/b/1?x=1", "http://a.example/b/../b/1?x=1#part", "http://a.example/b/1?x=1&utm_source=rss"} {
		if r := w.get(pagePath(spelling)); r.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", spelling, r.Status)
		}
	}
}

func TestAMissingPageIsExplained(t *testing.T) {
	w := open(t)
	w.page(1, address, "One", true)
	for path, c := range map[string]struct {
		status int
		says   string
	}{
		pagePath(address):                 {http.StatusGone, "withdrawn by its source"},
		pagePath("http://a.example/none"): {http.StatusNotFound, "there is no page for http://a.example/none"},
		pagePath("nonsense"):              {http.StatusBadRequest, ""},
		pagePath("javascript:alert(1)"):   {http.StatusBadRequest, ""},
		"/page":                           {http.StatusBadRequest, "Add the address of an article"},
	} {
		r := w.get(path)
		if text := read(t, r); r.StatusCode != c.status || !strings.Contains(text, c.says) || r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %s %q", path, r.Status, text)
		}
	}
}

func TestAnUnknownHostIsMisdirected(t *testing.T) {
	w := open(t)
	w.page(1, address, "One", false)
	for host, status := range map[string]int{
		"127.0.0.1:8080": 200, "localhost": 200, "LOCALHOST:8080": 200, "[::1]:8080": 200, "news.example.org": 200, "News.Example.Org:443": 200,
		"evil.example": 421, "127.0.0.1.evil.example": 421, "localhost.evil.example": 421, "": 421, "10.0.0.1": 421, "news.example.org.": 421,
	} {
		r := w.get(pagePath(address), "Host", host)
		if r.StatusCode != status {
			t.Errorf("%q: %s", host, r.Status)
		}
		if status == 421 && r.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%q: %v", host, r.Header)
		}
	}
}

func TestNothingFromASourceIsExecutedInAListing(t *testing.T) {
	w := open(t)
	evil := []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</title></style><svg onload=alert(1)>`, `{{.}}`, `<a href="javascript:alert(1)">x</a>`}
	for i, title := range evil {
		w.page(int64(i+1), fmt.Sprintf("http://a.example/?q=%d\"><script>", i), title, false)
	}
	text := read(t, w.get("/"))
	for _, title := range evil {
		if !strings.Contains(html.UnescapeString(text), title) {
			t.Errorf("%s is not shown", title)
		}
	}
	inert(t, text)
	inert(t, read(t, w.get(pagePath(`http://a.example/"><script>alert(1)</script>`))))
	inert(t, read(t, w.get(pagePath(`<script>alert(1)</script>`))))
}

// inert parses a text as a browser does and checks that nothing in it is active.
func inert(t *testing.T, text string) {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(text))
	for z.Next() != html.ErrorToken {
		token := z.Token()
		if token.Type != html.StartTagToken && token.Type != html.SelfClosingTagToken {
			continue
		}
		switch token.Data {
		case "script", "svg", "iframe", "object", "embed", "base", "form":
			t.Errorf("a %s element in %s", token.Data, text)
		}
		for _, a := range token.Attr {
			if strings.HasPrefix(a.Key, "on") || strings.Contains(strings.ToLower(a.Val), "javascript:") && a.Key == "href" {
				t.Errorf("attribute %s=%q in %s", a.Key, a.Val, text)
			}
		}
	}
}

func TestTheNewestPagesAreListedWithoutTheWithdrawn(t *testing.T) {
	w := open(t)
	if text := read(t, w.get("/")); !strings.Contains(text, "There are no sources yet") {
		t.Errorf("an empty Courant says %s", text)
	}
	w.page(1, "http://a.example/1", "First", false)
	w.page(2, "http://a.example/2", "Second", false)
	w.page(3, "http://a.example/3", "Third", true)
	text := read(t, w.get("/"))
	first, second := strings.Index(text, "First"), strings.Index(text, "Second")
	if first < 0 || second < 0 || second > first || strings.Contains(text, "Third") {
		t.Errorf("listed as %s", text)
	}
	if !strings.Contains(text, "/page?url=http%3A%2F%2Fa.example%2F1") {
		t.Errorf("the page is not linked: %s", text)
	}
}

func TestTheAddressOfAFileIsNotShown(t *testing.T) {
	w := open(t)
	if err := w.store.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO sources (id, name, kind, url, host, title, trusted, added) VALUES (1, 'shop-one', 'file', 'http://import.invalid/shop-one', 'import.invalid', '', TRUE, 1)`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	w.page(1, "http://import.invalid/shop-one?offer=1", "Cup", false)
	if text := read(t, w.get("/")); !strings.Contains(text, "<small>shop-one · ") || strings.Contains(text, "<small>import") {
		t.Errorf("listed as %s", text)
	}
	if r := w.get("/page?url=http://import.invalid/shop-one?offer=1"); r.StatusCode != 200 || r.Header.Get("Link") != "" {
		t.Errorf("%d, %v", r.StatusCode, r.Header)
	}
}

func TestAPictureIsServedForEver(t *testing.T) {
	w := open(t)
	file := w.picture("picture")
	r := w.get("/media/" + file)
	h := r.Header
	if read(t, r) != "picture" || h.Get("Content-Type") != "image/png" || !strings.Contains(h.Get("Cache-Control"), "immutable") ||
		h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%s %v", r.Status, h)
	}
	if r := w.get("/media/"+file, "If-None-Match", h.Get("Etag")); r.StatusCode != http.StatusNotModified {
		t.Errorf("again: %s", r.Status)
	}
	if r := w.get("/media/"+file, "Range", "bytes=1-3"); r.StatusCode != http.StatusPartialContent || read(t, r) != "ict" {
		t.Errorf("a part: %s", r.Status)
	}
}

func TestNoPathLeadsOutOfTheMedia(t *testing.T) {
	w := open(t)
	content := strings.Repeat("0a", 32)
	for _, key := range []string{"body/20260102t0304/1-1000", "media/0a/" + content + "/640.svg", "media/0a/" + content + "/640.html"} {
		if err := w.blobs.Put(t.Context(), key, []byte("secret")); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		"/media/../body/20260102t0304/1-1000", "/media/..%2fbody%2f20260102t0304/1-1000", "/media/%2e%2e/body", "/media/..%2f..%2fcourant.db/640.png",
		"/media/" + content + "/..%2f..%2f..%2fbody%2f20260102t0304%2f1-1000", "/media/" + content + "/640.svg", "/media/" + content + "/640.html",
		"/media/" + content + "/640.png%00.svg", "/media/" + content + "/640.png/", "/media/" + strings.ToUpper(content) + "/640.png",
		"/media/" + content + "/123456.png", "/media/" + content + "/640.png%0a", "/media//", "/media/a/b", "/media/" + content[1:] + "/640.png", "/media/" + content + "/640.png",
	} {
		r := w.get(path)
		if text := read(t, r); r.StatusCode == http.StatusOK || strings.Contains(text, "secret") {
			t.Errorf("%s: %s %q", path, r.Status, text)
		}
	}
}

func TestOnlyGETIsAllowed(t *testing.T) {
	w := open(t)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		out := httptest.NewRecorder()
		w.http.ServeHTTP(out, httptest.NewRequest(method, "http://localhost"+pagePath(address), nil))
		if out.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, out.Code)
		}
	}
}

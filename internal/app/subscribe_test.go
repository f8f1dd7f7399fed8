package app_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/desk"
	"github.com/courant-platform/courant/internal/front/api"
	"github.com/courant-platform/courant/internal/front/gate"
	"github.com/courant-platform/courant/internal/port/blob"
	"github.com/courant-platform/courant/internal/port/blob/memory"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
	"github.com/courant-platform/courant/internal/table"
	"github.com/courant-platform/courant/subscribe"
)

// downloads is an API over a store into which downloads are put.
type downloads struct {
	t      *testing.T
	store  *store.Store
	blobs  blob.Bucket
	server *httptest.Server
}

func openDownloads(t *testing.T, s *store.Store) *downloads {
	t.Helper()
	d := &downloads{t: t, store: s, blobs: blob.Bucket{Driver: &memory.Memory{}}}
	g := &gate.Gate{Store: s, Log: slog.New(slog.DiscardHandler), Session: "token"}
	a := &api.API{Store: s, Blobs: d.blobs, Log: g.Log, Admit: g.Admit, Desk: &desk.Desk{Store: s, Blobs: d.blobs}}
	mux := http.NewServeMux()
	a.Register(mux)
	d.server = httptest.NewServer(mux)
	t.Cleanup(d.server.Close)
	return d
}

func (d *downloads) client(name string, kinds ...string) *subscribe.Client {
	return &subscribe.Client{Server: d.server.URL, Token: "token", Name: name, Kinds: kinds, Failed: func(err error) { d.t.Log(err) }}
}

// put has something downloaded, as robot does.
func (d *downloads) put(kind, body string) (key string) {
	key, err := d.blobs.PutCached(d.t.Context(), "body/20260102t0304/"+kind, []byte(body))
	if err == nil {
		err = d.store.Write(d.t.Context(), func(tx *store.Tx) error {
			return table.Log(tx, table.Download{Kind: kind, URL: "http://a.example/" + body, Type: "text/xml", Blob: key})
		})
	}
	if err != nil && d.t.Context().Err() == nil {
		d.t.Error(err)
	}
	return key
}

var errEnough = errors.New("enough")

// read runs a subscriber until it has n downloads, and returns their bodies.
func (d *downloads) read(c *subscribe.Client, n int) (bodies []string) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), 30*time.Second)
	defer cancel()
	last := int64(0)
	err := c.Run(ctx, func(ctx context.Context, got subscribe.Download) error {
		if got.Number <= last {
			d.t.Errorf("number %d after %d", got.Number, last)
		}
		last = got.Number
		f, err := got.Body(ctx)
		if err != nil {
			return err
		}
		defer f.Close()
		text, err := io.ReadAll(f)
		if bodies = append(bodies, string(text)); len(bodies) == n {
			return errEnough
		}
		return err
	})
	if !errors.Is(err, errEnough) {
		d.t.Errorf("%d of %d downloads: %v", len(bodies), n, err)
	}
	return bodies
}

func TestASubscriberMissesNoDownloadOfManyWriters(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		d := openDownloads(t, s)
		d.put("feed", "nobody subscribes yet")
		first, second := d.client("first"), d.client("second", "feed", "picture")
		for _, c := range []*subscribe.Client{first, second} {
			if status := d.do("PUT", "/api/v1/subscriptions/"+c.Name, `{"kinds":["feed","picture"]}`, nil); status != 200 {
				t.Fatal(status)
			}
		}
		const writers, each = 4, 20
		var want []string
		var all sync.WaitGroup
		for w := range writers {
			for i := range each {
				want = append(want, fmt.Sprint(w, "-", i))
			}
			all.Go(func() {
				for i := range each {
					d.put([]string{"feed", "picture"}[i%2], fmt.Sprint(w, "-", i))
				}
			})
		}
		slices.Sort(want)
		got := d.read(second, writers*each)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("got %v", got)
		}
		all.Wait()
		if half := d.read(first, writers*each/2); slices.ContainsFunc(half, func(b string) bool { return strings.Contains(b, "nobody") }) {
			t.Errorf("got %v", half) // it has feeds only, since Run says so
		}
	})
}

func TestASubscriptionWithoutKindsIsToFeeds(t *testing.T) {
	d := openDownloads(t, storetest.Memory(t))
	for name, body := range map[string]string{"a": ``, "b": `{}`, "c": `{"kinds":null}`, "d": `{"kinds":["feed","feed"]}`} {
		var text string
		if status := d.do("PUT", "/api/v1/subscriptions/"+name, body, &text); status != 200 || !strings.Contains(text, `"kinds":["feed"]`) {
			t.Errorf("%q: %d %s", body, status, text)
		}
	}
}

func TestASubscriptionBeginsAtTheEndHoweverMuchIsNotNumbered(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		d := openDownloads(t, s)
		d.do("PUT", "/api/v1/subscriptions/first", ``, nil)
		const many = 2345
		if err := s.Write(t.Context(), func(tx *store.Tx) (err error) {
			for i := range many {
				err = errors.Join(err, table.Log(tx, table.Download{Kind: "feed", URL: "http://a.example/", Blob: fmt.Sprintf("body/pack-20260102t0304/%04d", i)}))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		var second, first, next string
		d.do("PUT", "/api/v1/subscriptions/second", ``, &second)
		if !strings.Contains(second, fmt.Sprintf(`"after":%d,`, many)) || !strings.Contains(second, `"lag":0,`) {
			t.Errorf("the new one begins at %s", second)
		}
		d.do("GET", "/api/v1/subscriptions", ``, &first)
		if !strings.Contains(first, fmt.Sprintf(`"lag":%d,`, many)) {
			t.Errorf("the old one has %s", first)
		}
		d.do("GET", "/api/v1/subscriptions/first/downloads?limit=1000", ``, &next)
		if n := strings.Count(next, `"number":`); n != 1000 || !strings.Contains(next, `"number":1000,`) {
			t.Errorf("%d downloads come next", n)
		}
	})
}

func TestWhatWasNotAcknowledgedComesAgainAfterARestart(t *testing.T) {
	d := openDownloads(t, storetest.Memory(t))
	d.do("PUT", "/api/v1/subscriptions/me", `{}`, nil)
	for i := range 5 {
		d.put("feed", fmt.Sprint(i))
	}
	first, again := d.read(d.client("me"), 3), d.read(d.client("me"), 3)
	all := append(first, again...)
	if slices.Sort(all); len(slices.Compact(all)) != 5 || first[2] != again[0] {
		t.Errorf("%v, then %v", first, again)
	}
}

func TestALateSubscriberIsToldWhatIsLost(t *testing.T) {
	d := openDownloads(t, storetest.Memory(t))
	d.do("PUT", "/api/v1/subscriptions/feeds", `{}`, nil)
	d.do("PUT", "/api/v1/subscriptions/pictures", `{"kinds":["picture"]}`, nil)
	gone := []string{d.put("feed", "a"), d.put("feed", "b")}
	d.put("feed", "c")
	d.put("picture", "p")
	if err := d.store.Write(t.Context(), func(tx *store.Tx) error {
		_, err := table.NumberDownloads(tx)
		for _, key := range gone {
			err = errors.Join(err, table.DropDownloads(tx, key))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	c := d.client("feeds")
	lost := int64(0)
	c.Lost = func(n int64) { lost = n }
	if got := d.read(c, 1); got[0] != "c" || lost != 2 {
		t.Errorf("got %v, %d lost", got, lost)
	}
	p := d.client("pictures", "picture")
	p.Lost = func(n int64) { t.Errorf("%d pictures are lost", n) }
	if got := d.read(p, 1); got[0] != "p" {
		t.Errorf("got %v", got)
	}
}

func TestMistakesWithSubscriptionsAreReported(t *testing.T) {
	d := openDownloads(t, storetest.Memory(t))
	d.do("PUT", "/api/v1/subscriptions/me", `{}`, nil)
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"PUT", "/api/v1/subscriptions/Me", `{}`, 400, "lower-case letters"},
		{"PUT", "/api/v1/subscriptions/you", `{"kinds":["video"]}`, 400, `kinds must be among feed, catalog, picture, not`},
		{"PUT", "/api/v1/subscriptions/you", `[`, 400, "send"},
		{"PUT", "/api/v1/subscriptions/you", `{"kinds":[]}`, 400, "kinds must not be empty"},
		{"PUT", "/api/v1/subscriptions/you", `{"kind":["feed"]}`, 400, `unknown key \"kind\"`},
		{"PUT", "/api/v1/subscriptions/you", `{"kinds":"feed"}`, 400, "kinds: unexpected JSON string"},
		{"PUT", "/api/v1/subscriptions/you", `{} {}`, 400, "must be one JSON object"},
		{"PUT", "/api/v1/subscriptions/you", `null`, 400, "must be one JSON object"},
		{"GET", "/api/v1/subscriptions", "", 200, `"name":"me"`},
		{"GET", "/api/v1/subscriptions/you/downloads", "", 404, "create it with PUT /api/v1/subscriptions/you"},
		{"GET", "/api/v1/subscriptions/me/downloads?wait=1h", "", 400, "wait"},
		{"POST", "/api/v1/subscriptions/me/ack", `{"number":1}`, 400, "the newest is 0"},
		{"POST", "/api/v1/subscriptions/me/ack", `x`, 400, "send"},
		{"POST", "/api/v1/subscriptions/me/ack", `{}`, 400, "number is missing"},
		{"POST", "/api/v1/subscriptions/me/ack", ``, 400, "the body is empty"},
		{"POST", "/api/v1/subscriptions/me/ack", `{"number":-1}`, 400, "number must be at least 0, not -1"},
		{"POST", "/api/v1/subscriptions/me/ack", `{"number":0,"lost":-5}`, 400, "lost must be at least 0, not -5"},
		{"POST", "/api/v1/subscriptions/me/ack", `{"number":0,"lost":-9223372036854775808}`, 400, "lost must be at least 0"},
		{"POST", "/api/v1/subscriptions/me/ack", `{"number":9223372036854775808}`, 400, "unexpected JSON number"},
		{"POST", "/api/v1/subscriptions/me/ack", `{"number":0,"up_to":5}`, 400, `unknown key \"up_to\"`},
		{"POST", "/api/v1/subscriptions/me/ack", `{"number":0,"lost":3}`, 200, `"lost":0`},
		{"GET", "/api/v1/downloads/1/body", "", 404, "no longer kept"},
		{"GET", "/api/v1/downloads/x/body", "", 400, "must be a positive whole number"},
		{"DELETE", "/api/v1/subscriptions/you", "", 404, "no subscription"},
		{"DELETE", "/api/v1/subscriptions/me", "", 200, ""},
	} {
		var text string
		if status := d.do(c.method, c.path, c.body, &text); status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, text)
		}
	}
}

func TestErrorsThatARetryCannotFixEndTheClient(t *testing.T) {
	d := openDownloads(t, storetest.Memory(t))
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	defer elsewhere.Close()
	for says, c := range map[string]struct {
		change func(*subscribe.Client)
		kind   error
	}{
		"the token is wrong":   {func(c *subscribe.Client) { c.Token = "another" }, courant.Forbidden},
		"a token is needed":    {func(c *subscribe.Client) { c.Token = "" }, courant.Forbidden},
		"lower-case letters":   {func(c *subscribe.Client) { c.Name = "A/B" }, courant.Invalid},
		"kinds must be among":  {func(c *subscribe.Client) { c.Kinds = []string{"video"} }, courant.Invalid},
		"404":                  {func(c *subscribe.Client) { c.Server = elsewhere.URL }, courant.NotFound},
		"Server must be a URL": {func(c *subscribe.Client) { c.Server = "127.0.0.1:8080" }, courant.Invalid},
	} {
		client := d.client("me")
		client.Failed = func(err error) { t.Errorf("%s: it was to end, and asks again after: %v", says, err) }
		c.change(client)
		if err := client.Run(t.Context(), nil); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func TestStoppingTheClientIsNotAFailure(t *testing.T) {
	d := openDownloads(t, storetest.Memory(t))
	ctx, stop := context.WithCancel(t.Context())
	client := d.client("me")
	client.Failed = func(err error) { t.Errorf("failed: %v", err) }
	d.do("PUT", "/api/v1/subscriptions/me", ``, nil)
	d.put("feed", "a")
	if err := client.Run(ctx, func(context.Context, subscribe.Download) error {
		stop()
		return nil
	}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := client.Run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestASubscriptionThatSomebodyEndsIsMadeAgain(t *testing.T) {
	d := openDownloads(t, storetest.Memory(t))
	d.do("PUT", "/api/v1/subscriptions/me", ``, nil)
	d.put("feed", "a")
	client := d.client("me")
	failed := 0
	client.Failed = func(err error) {
		if failed++; !errors.Is(err, courant.NotFound) {
			t.Error(err)
		}
		d.do("PUT", "/api/v1/subscriptions/me", ``, nil)
		d.put("feed", "b")
	}
	err := client.Run(t.Context(), func(_ context.Context, got subscribe.Download) error {
		if strings.HasSuffix(got.URL, "/b") {
			return errEnough
		}
		d.do("DELETE", "/api/v1/subscriptions/me", ``, nil)
		return nil
	})
	if !errors.Is(err, errEnough) || failed != 1 {
		t.Errorf("%v after %d failures", err, failed)
	}
}

func (d *downloads) do(method, path, body string, text *string) (status int) {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), method, d.server.URL+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer token")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Error(err)
	}
	if text != nil {
		*text = string(all)
	}
	return resp.StatusCode
}

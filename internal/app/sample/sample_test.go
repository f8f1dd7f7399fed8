package sample_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/app/sample"
	"github.com/courant-platform/courant/internal/read/feed"
)

// world is a sample web that runs, with a clock that the test moves.
type world struct {
	t       *testing.T
	seconds atomic.Int64
	feeds   []string
}

func start(t *testing.T) *world {
	w := &world{t: t}
	w.seconds.Store(time.Date(2026, 3, 4, 10, 0, 3, 0, time.UTC).Unix())
	web := &sample.Web{Now: func() time.Time { return time.Unix(w.seconds.Load(), 0) }}
	if err := web.Open(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- web.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for _, s := range web.Sources() {
		w.feeds = append(w.feeds, s.URL)
	}
	return w
}

func (w *world) get(url, etag string) (*http.Response, []byte) {
	w.t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if etag != "" {
		r.Header.Set("If-None-Match", etag)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp, body
}

func (w *world) read(i int) *courant.Reading {
	w.t.Helper()
	resp, body := w.get(w.feeds[i], "")
	r, err := feed.Read(body, feed.Options{URL: w.feeds[i], ContentType: resp.Header.Get("Content-Type")})
	if err != nil {
		w.t.Fatalf("%s: %v", w.feeds[i], err)
	}
	r.Warnings = slices.DeleteFunc(r.Warnings, func(w courant.Warning) bool { return w.Level == courant.LevelInfo })
	return r
}

func TestTheNewspaperHasTwentyArticlesInFullWithPicturesAndPages(t *testing.T) {
	w := start(t)
	r := w.read(0)
	if !r.WellFormed || len(r.Warnings) > 0 || r.Format != "rss20" || len(r.Items) != 20 {
		t.Fatalf("%s with %d items, well-formed %v, %v", r.Format, len(r.Items), r.WellFormed, r.Warnings)
	}
	enclosures := 0
	for i, item := range r.Items {
		if item.Title == "" || item.Published.IsZero() || len(item.Authors) == 0 || len(item.Images) == 0 || len(item.Content) < 300 {
			t.Errorf("%s lacks something: %+v", item.Link, item)
			continue
		}
		if resp, page := w.get(item.Link, ""); resp.StatusCode != 200 || !strings.Contains(string(page), "<h1>") {
			t.Errorf("%s answers %d", item.Link, resp.StatusCode)
		}
		if i > 4 {
			continue // pictures take time
		}
		resp, body := w.get(item.Images[0], "")
		c, kind, err := image.DecodeConfig(bytes.NewReader(body))
		if err != nil || c.Width != 1200 || c.Height != 750 || resp.Header.Get("Content-Type") != "image/"+kind {
			t.Errorf("%s: %d × %d, %v", item.Images[0], c.Width, c.Height, err)
		}
		for _, e := range item.Enclosures {
			enclosures++
			if e.Length != int64(len(body)) || e.URL != item.Images[0] {
				t.Errorf("%s: the enclosure is %+v", item.Link, e)
			}
		}
	}
	if enclosures == 0 {
		t.Error("there is no enclosure")
	}
}

func TestSomethingIsPublishedEveryFifteenSecondsAndSomethingIsEditedEveryMinute(t *testing.T) {
	w := start(t)
	before := w.read(0)
	for range 8 {
		w.seconds.Add(15)
	}
	after := w.read(0)
	if n := len(after.Items) - len(before.Items); n != 8 {
		t.Errorf("%d new articles in two minutes", n)
	}
	titles, hashes := map[string]bool{}, map[string]string{}
	for _, item := range after.Items {
		if titles[item.Title] || strings.Contains(item.Title, "%") {
			t.Errorf("the title %q", item.Title)
		}
		titles[item.Title], hashes[item.Link] = true, item.Hash
	}
	var edited []string
	for _, item := range before.Items {
		if hashes[item.Link] != item.Hash {
			edited = append(edited, item.Link)
		}
	}
	if len(edited) != 1 || !strings.HasSuffix(edited[0], "/harbour-diary") {
		t.Errorf("edited: %v", edited)
	}
	w.seconds.Add(3600)
	if n := len(w.read(0).Items); n != 32 {
		t.Errorf("after an hour the feed has %d items", n)
	}
}

func TestWhatHasNotChangedIsNotSentAgain(t *testing.T) {
	w := start(t)
	for _, url := range append(w.feeds, strings.Replace(w.feeds[0], "/feed.xml", "/pictures/sails-dusk-7.jpg", 1)) {
		first, _ := w.get(url, "")
		if first.Header.Get("Etag") == "" || first.Header.Get("Last-Modified") == "" {
			t.Errorf("%s has no validators", url)
		}
		if second, body := w.get(url, first.Header.Get("Etag")); second.StatusCode != http.StatusNotModified || len(body) > 0 {
			t.Errorf("%s answers %d", url, second.StatusCode)
		}
	}
}

func TestEverySiteHasRulesForRobots(t *testing.T) {
	w := start(t)
	for _, url := range w.feeds {
		origin := url[:strings.LastIndexByte(url, '/')]
		if resp, body := w.get(origin+"/robots.txt", ""); resp.StatusCode != 200 || !strings.HasPrefix(string(body), "User-agent: *") {
			t.Errorf("%s: %d %q", origin, resp.StatusCode, body)
		}
	}
}

func TestTheTownHallHasOneArticleOfTheNewspaperInOtherWordsAndFiveOfItsOwn(t *testing.T) {
	w := start(t)
	news, town := w.read(0), w.read(1)
	if town.Format != "atom10" || !town.WellFormed || len(town.Items) != 6 {
		t.Fatalf("%s with %d items, %v", town.Format, len(town.Items), town.Warnings)
	}
	if shared := common(news, town); len(shared) != 1 {
		t.Errorf("shared addresses: %v", shared)
	}
}

func TestAnotherFeedClaimsAnArticleOfTheNewspaperAndHasItemsOfItsOwn(t *testing.T) {
	w := start(t)
	news, gull := w.read(0), w.read(3)
	if len(gull.Items) != 4 || len(common(news, gull)) != 1 {
		t.Errorf("%d items, shared: %v", len(gull.Items), common(news, gull))
	}
}

func TestOneFeedIsTurboWithBlocks(t *testing.T) {
	w := start(t)
	r := w.read(3)
	if r.Format != "turbo" || !r.WellFormed || len(r.Warnings) > 0 || len(r.Feed.Analytics) != 1 || len(r.Feed.Ads) != 1 {
		t.Fatalf("%s, %+v, %v", r.Format, r.Feed, r.Warnings)
	}
	item := r.Items[1]
	for _, block := range []string{"gallery", "accordion", "histogram", "rating", "ad", "comments", "button", "share"} {
		if !strings.Contains(item.Content, `data-widget="`+block+`"`) {
			t.Errorf("no %s in %s", block, item.Content)
		}
	}
	if item.Title == "" || len(item.Related) != 2 || len(item.Images) != 4 {
		t.Errorf("%+v", item)
	}
	for _, url := range append([]string{item.Related[0].URL}, item.Images...) {
		if resp, _ := w.get(url, ""); resp.StatusCode != 200 {
			t.Errorf("%s answers %d", url, resp.StatusCode)
		}
	}
}

// common are the addresses that two feeds share, with different words.
func common(a, b *courant.Reading) (out []string) {
	for _, x := range a.Items {
		if slices.ContainsFunc(b.Items, func(y courant.Item) bool { return x.Link == y.Link && x.Content != y.Content && x.Title != y.Title }) {
			out = append(out, x.Link)
		}
	}
	return out
}

func TestOfTheBrokenFeedTheReadableItemsShow(t *testing.T) {
	w := start(t)
	r := w.read(2)
	if r.WellFormed || r.Encoding != "windows-1251" || len(r.Warnings) < 3 {
		t.Errorf("well-formed %v, %s, %v", r.WellFormed, r.Encoding, r.Warnings)
	}
	if len(r.Items) < 4 {
		t.Fatalf("%d items", len(r.Items))
	}
	for i, word := range []string{"сигнал", "Антенну", "приёмник", "чайки"} {
		item := r.Items[i]
		if !strings.Contains(item.Title, word) || item.Published.IsZero() || len(item.Summary)+len(item.Content) < 80 {
			t.Errorf("item %d: %q, %v, %q", i, item.Title, item.Published, item.Summary)
		}
	}
}

func TestSitesHaveAddressesOfTheirOwnAndTheSameOnesAgain(t *testing.T) {
	var last string
	for range 2 {
		web := &sample.Web{Port: 18971}
		if err := web.Open(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := web.Run(ctx); err != nil {
			t.Fatal(err)
		}
		hosts := map[string]bool{}
		for _, a := range web.Addresses() {
			hosts[a] = true
		}
		if len(hosts) != len(sample.Names()) {
			t.Errorf("the addresses are %v", web.Addresses())
		}
		now := fmt.Sprint(web.Sources())
		if last != "" && last != now {
			t.Errorf("the sources were %s, and are %s", last, now)
		}
		last = now
	}
}
